package extracts

import (
	"bytes"
	"strconv"
	"strings"

	"orbweaver/derive"
	"orbweaver/derive/conversion"
	"orbweaver/engine/parse"
	"orbweaver/internal/jsontext"
	"orbweaver/warc"
	"orbweaver/warc/block"
	"orbweaver/warc/header"
)

// addMetadata writes what is known of a record.
func (w *writer) addMetadata(rec *derive.Record) error {
	o := &w.json
	o.Reset()
	o.Open('{')
	w.container(rec)
	w.envelope(rec)
	o.Close('}')
	w.fields = append(w.fields[:0], warc.Field{Name: "WARC-Type", Value: "metadata"})
	if len(rec.TargetURI) > 0 { // a warcinfo record has none
		w.fields = append(w.fields, warc.Field{Name: "WARC-Target-URI", Value: string(rec.TargetURI)})
	}
	w.fields = append(w.fields, []warc.Field{
		{Name: "WARC-Date", Value: w.now},
		{Name: "WARC-Record-ID", Value: conversion.Identity(w.name, rec)},
		{Name: "WARC-Refers-To", Value: rec.Get("WARC-Record-ID")},
		{Name: "Content-Type", Value: "application/json"}, {Name: "Content-Length"},
	}...)
	return w.records.write(w.fields, o.Text)
}

// addNumber adds a number as a string, as the readers of these files expect.
func addNumber(o *jsontext.Object, name string, n int64) {
	o.Name(name)
	o.Text = append(strconv.AppendInt(append(o.Text, '"'), n, 10), '"')
}

// addDigest adds the value of a digest field.
func addDigest(o *jsontext.Object, name string, sum *[20]byte) {
	o.Name(name)
	o.Text = append(header.AppendDigest(append(o.Text, '"'), sum), '"')
}

// container says where the record is.
func (w *writer) container(rec *derive.Record) {
	o := &w.json
	o.Name("Container")
	o.Open('{')
	o.String("Filename", w.source.File)
	isCompressed := !strings.HasSuffix(w.source.File, ".warc")
	o.Name("Compressed")
	o.Text = strconv.AppendBool(o.Text, isCompressed)
	addNumber(o, "Offset", rec.Offset)
	if isCompressed && rec.Length > 0 {
		o.Name("Gzip-Metadata")
		o.Open('{')
		addNumber(o, "Deflate-Length", rec.Length)
		o.Close('}')
	}
	o.Close('}')
}

func (w *writer) envelope(rec *derive.Record) {
	o := &w.json
	o.Name("Envelope")
	o.Open('{')
	o.String("Format", "WARC")
	length := len("WARC/") + len(rec.Version) + len("\r\n\r\n")
	for i := range rec.Fields {
		length += len(rec.Fields[i].Name) + len(rec.Fields[i].Value) + len(": \r\n")
	}
	addNumber(o, "WARC-Header-Length", int64(length))
	addFields(w, "WARC-Header-Metadata", rec.Fields)
	w.payload(rec)
	o.Close('}')
}

// addFields adds fields as the members of an object. The first of several with one name counts.
func addFields[F warc.Field | block.Field](w *writer, name string, fields []F) {
	o := &w.json
	o.Name(name)
	o.Open('{')
	w.seen.reset()
	for i := range fields {
		f := warc.Field(fields[i])
		if w.seen.add(f.Name) {
			o.String(f.Name, f.Value)
		}
	}
	o.Close('}')
}

// namesListed is the number of names that are compared one by one.
const namesListed = 32

// names are the names of the members of an object.
type names struct {
	list []string
	more map[string]bool
}

// reset forgets all names.
func (n *names) reset() {
	clear(n.list)
	n.list = n.list[:0]
	clear(n.more)
}

// add adds a name; false if it is there already.
func (n *names) add(name string) bool {
	for _, other := range n.list {
		if other == name {
			return false
		}
	}
	if len(n.list) < namesListed {
		n.list = append(n.list, name)
		return true
	}
	if n.more == nil {
		n.more = map[string]bool{}
	}
	isNew := !n.more[name]
	n.more[name] = true
	return isNew
}

// payload describes the block.
func (w *writer) payload(rec *derive.Record) {
	o := &w.json
	o.Name("Payload-Metadata")
	o.Open('{')
	o.String("Actual-Content-Type", rec.Get("Content-Type"))
	addNumber(o, "Actual-Content-Length", rec.ContentLength)
	o.String("Trailing-Slop-Length", "4")
	isResponse := rec.Head != nil && rec.Type != warc.Request
	var entity []byte
	if isResponse {
		entity = rec.Block[len(rec.Head.Raw):]
	}
	var digests [2][20]byte
	if rec.IsWhole {
		digests[0], digests[1] = w.sha.Sums(rec.Block, entity)
		addDigest(o, "Block-Digest", &digests[0])
	}
	switch {
	case isResponse:
		w.response(rec, digests[1])
	case rec.Head != nil:
		w.request(rec.Head)
	case rec.Type == warc.Warcinfo:
		addFields(w, "WARC-Info-Metadata", fieldsOf(rec.Block))
	case rec.Type == warc.Metadata:
		w.metadata(fieldsOf(rec.Block))
	}
	o.Close('}')
}

// metadata describes the block of a metadata record.
func (w *writer) metadata(fields []warc.Field) {
	o := &w.json
	o.Name("WARC-Metadata-Metadata")
	o.Open('{')
	o.Name("Metadata-Records")
	o.Open('[')
	for _, f := range fields {
		o.Open('{')
		o.String("Name", f.Name)
		o.String("Value", f.Value)
		o.Close('}')
	}
	o.Close(']')
	o.Close('}')
}

// fieldsOf reads a block of fields.
func fieldsOf(block []byte) (fields []warc.Field) {
	for line := range bytes.Lines(block) {
		if name, value, ok := bytes.Cut(bytes.TrimSpace(line), []byte(":")); ok {
			fields = append(fields, warc.Field{Name: string(name), Value: string(bytes.TrimSpace(value))})
		}
	}
	return fields
}

// firstLine returns the parts of a status line or request line.
func firstLine(head *block.Head) (first, second, third string) {
	first, rest, _ := strings.Cut(head.First, " ")
	second, third, _ = strings.Cut(rest, " ")
	return first, second, third
}

func (w *writer) request(head *block.Head) {
	o := &w.json
	method, path, protocol := firstLine(head)
	o.Name("HTTP-Request-Metadata")
	o.Open('{')
	o.Name("Request-Message")
	o.Open('{')
	o.String("Method", method)
	o.String("Path", path)
	o.String("Version", protocol)
	o.Close('}')
	addFields(w, "Headers", head.Fields)
	addNumber(o, "Headers-Length", int64(len(head.Raw)))
	o.Close('}')
}

// response describes an HTTP response; entity is the digest of its body as it is stored.
func (w *writer) response(rec *derive.Record, entity [20]byte) {
	o := &w.json
	protocol, status, reason := firstLine(rec.Head)
	o.Name("HTTP-Response-Metadata")
	o.Open('{')
	o.Name("Response-Message")
	o.Open('{')
	o.String("Status", status)
	o.String("Version", protocol)
	o.String("Reason", reason)
	o.Close('}')
	addFields(w, "Headers", rec.Head.Fields)
	addNumber(o, "Headers-Length", int64(len(rec.Head.Raw)))
	addNumber(o, "Entity-Length", rec.ContentLength-int64(len(rec.Head.Raw)))
	o.String("Entity-Trailing-Slop-Length", "0")
	if rec.IsWhole {
		addDigest(o, "Entity-Digest", &entity)
	}
	if rec.Type == warc.Response && !rec.IsWall() {
		if page := rec.Page(); page.Format == parse.HTML || page.Format == parse.XML {
			html(o, page)
		}
	}
	o.Close('}')
}

// html describes a page: what is in its head, and its links.
func html(o *jsontext.Object, page *parse.Result) {
	o.Name("HTML-Metadata")
	o.Open('{')
	o.Name("Head")
	o.Open('{')
	if len(page.Title) > 0 {
		o.Bytes("Title", page.Title)
	}
	if len(page.Base) > 0 {
		o.Bytes("Base", page.Base)
	}
	metas(o, page.Metas)
	links(o, "Link", page, linkTag)
	links(o, "Scripts", page, scriptTag)
	o.Close('}')
	links(o, "Links", page, otherTag)
	o.Close('}')
}

// metas adds the meta elements, if there are any.
func metas(o *jsontext.Object, all []parse.Meta) {
	if len(all) == 0 {
		return
	}
	o.Name("Metas")
	o.Open('[')
	for i := range all {
		o.Open('{')
		addIfAny(o, "name", all[i].Name)
		addIfAny(o, "property", all[i].Property)
		addIfAny(o, "http-equiv", all[i].HTTPEquiv)
		o.Bytes("content", all[i].Content)
		o.Close('}')
	}
	o.Close(']')
}

func addIfAny(o *jsontext.Object, name string, value []byte) {
	if len(value) > 0 {
		o.Bytes(name, value)
	}
}

// place is where links are listed.
type place uint8

const (
	otherTag place = iota
	linkTag
	scriptTag
)

func placeOf(k parse.Kind) place {
	switch k {
	case parse.LinkRel, parse.Resource:
		return linkTag
	case parse.Script:
		return scriptTag
	}
	return otherTag
}

// links adds the links of a place, if there are any.
func links(o *jsontext.Object, name string, page *parse.Result, where place) {
	isBegun, texts := false, page.LinkTexts
	for i := range page.Links {
		l := &page.Links[i]
		if placeOf(l.Kind) != where {
			continue
		}
		for len(texts) > 0 && texts[0].Link < i {
			texts = texts[1:]
		}
		if !isBegun {
			isBegun = true
			o.Name(name)
			o.Open('[')
		}
		o.Open('{')
		o.Name("path")
		o.Text = append(appendPath(append(o.Text, '"'), l.Kind), '"')
		o.Bytes("url", l.Ref)
		if l.NoFollow {
			o.String("rel", "nofollow")
		}
		if len(texts) > 0 && texts[0].Link == i {
			text := texts[0].Text
			if bytes.IndexByte(text, '\n') >= 0 {
				text = bytes.ReplaceAll(text, []byte("\n"), []byte(" "))
			}
			o.Bytes("text", text)
		}
		o.Close('}')
	}
	if isBegun {
		o.Close(']')
	}
}

// appendPath appends where a link stands, as "A@/href".
func appendPath(dst []byte, k parse.Kind) []byte {
	element, attribute, ok := strings.Cut(k.Context(), "/@")
	if !ok {
		element, attribute = k.String(), "url"
	}
	return append(append(append(dst, strings.ToUpper(element)...), "@/"...), attribute...)
}
