package extracts

import (
	"bytes"
	"strconv"
	"strings"

	"orbweaver/derive"
	"orbweaver/engine/page/parse"
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
		{Name: "WARC-Record-ID", Value: derive.ConversionID(w.name, rec)},
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
		addNumber(o, "Inflated-Length", headerLength(rec)+rec.ContentLength+int64(len("\r\n\r\n")))
		addNumber(o, "Footer-Length", gzipFooter)
		o.Close('}')
	}
	o.Close('}')
}

// gzipFooter is the length of the end of a gzip member, in bytes.
const gzipFooter = 8

// headerLength returns the length of the header of a record, whose values have no more than a space around them.
func headerLength(rec *derive.Record) int64 {
	length := len("WARC/") + len(rec.Version) + len("\r\n\r\n")
	for i := range rec.Fields {
		length += len(rec.Fields[i].Name) + len(rec.Fields[i].Value) + len(": \r\n")
	}
	return int64(length)
}

func (w *writer) envelope(rec *derive.Record) {
	o := &w.json
	o.Name("Envelope")
	o.Open('{')
	o.String("Format", "WARC/"+rec.Version)
	addNumber(o, "WARC-Header-Length", headerLength(rec))
	addFields(w, "WARC-Header-Metadata", rec.Fields)
	w.payload(rec)
	o.Close('}')
}

// addFields adds fields as the members of an object. The values of several with one name are an array.
func addFields[F warc.Field | block.Field](w *writer, name string, fields []F) {
	o := &w.json
	o.Name(name)
	o.Open('{')
	w.repeated.read(len(fields), func(i int) string { return warc.Field(fields[i]).Name })
	for i := range fields {
		f := warc.Field(fields[i])
		switch next := w.repeated.next[i]; next {
		case isListed:
		case isLast:
			o.String(f.Name, f.Value)
		default:
			o.Name(f.Name)
			o.Open('[')
			o.Value(f.Value)
			for next != isLast {
				o.Value(warc.Field(fields[next]).Value)
				next, w.repeated.next[next] = w.repeated.next[next], isListed
			}
			o.Close(']')
		}
	}
	o.Close('}')
}

// repeated says which fields have the same name.
type repeated struct {
	last map[string]int // the last field so far of each name
	next []int          // of each field: the next field of its name, or isLast; isListed after it was written
}

const (
	isLast   = -1
	isListed = -2
)

// namesKept is for how many names memory is kept.
const namesKept = 256

// read reads the names of n fields.
func (r *repeated) read(n int, name func(i int) string) {
	if r.last == nil || len(r.last) > namesKept {
		r.last = map[string]int{}
	}
	clear(r.last)
	r.next = r.next[:0]
	for i := range n {
		r.next = append(r.next, isLast)
		if before, ok := r.last[name(i)]; ok {
			r.next[before] = i
		}
		r.last[name(i)] = i
	}
}

// payload describes the block.
func (w *writer) payload(rec *derive.Record) {
	o := &w.json
	o.Name("Payload-Metadata")
	o.Open('{')
	o.String("Actual-Content-Type", contentType(rec))
	addNumber(o, "Actual-Content-Length", rec.ContentLength)
	o.String("Trailing-Slop-Length", "4")
	var e entity
	if rec.Head != nil {
		e = entityOf(rec)
	}
	if rec.IsWhole {
		block, entitySum := w.sha.Sums(rec.Block, e.stored)
		addDigest(o, "Block-Digest", &block)
		e.digest = &entitySum
	}
	switch {
	case rec.Head != nil && rec.Type == warc.Request:
		w.request(rec.Head, &e)
	case rec.Head != nil:
		w.response(rec, &e)
	case rec.Type == warc.Warcinfo:
		addFields(w, "WARC-Info-Metadata", fieldsOf(rec.Block))
	case rec.Type == warc.Metadata:
		w.metadata(fieldsOf(rec.Block))
	case rec.IsDNS():
		w.dns(rec.Block)
	}
	o.Close('}')
}

// contentType returns the type of a block in Common Crawl's spelling.
func contentType(rec *derive.Record) string {
	switch {
	case rec.Head != nil && rec.Type == warc.Request:
		return "application/http; msgtype=request"
	case rec.Head != nil:
		return "application/http; msgtype=response"
	case rec.Type == warc.Metadata:
		return "application/metadata-fields"
	}
	return rec.Get("Content-Type")
}

// entity is the body of an HTTP message as it is stored: as long as its Content-Length says, and what follows.
type entity struct {
	stored       []byte // as far as it was read
	length, slop int64
	digest       *[20]byte // nil if it was not read whole
}

func entityOf(rec *derive.Record) (e entity) {
	e.stored, e.length = rec.Block[len(rec.Head.Raw):], rec.ContentLength-int64(len(rec.Head.Raw))
	said, err := strconv.ParseInt(strings.TrimSpace(rec.Head.Get("Content-Length")), 10, 64)
	if err == nil && said >= 0 && said < e.length {
		e.stored, e.slop = e.stored[:min(int64(len(e.stored)), said)], e.length-said
		e.length = said
	}
	return e
}

// addEntity describes the body of an HTTP message.
func addEntity(o *jsontext.Object, e *entity) {
	addNumber(o, "Entity-Length", e.length)
	addNumber(o, "Entity-Trailing-Slop-Length", e.slop)
	if e.digest != nil {
		addDigest(o, "Entity-Digest", e.digest)
	}
}

// dns describes the answer of a name server: its time, and a line for each record.
func (w *writer) dns(block []byte) {
	o := &w.json
	date, lines, _ := bytes.Cut(block, []byte("\n"))
	o.Name("DNS-Metadata")
	o.Open('{')
	o.Bytes("Date", bytes.TrimSpace(date))
	o.Name("Entries")
	o.Open('[')
	for line := range bytes.Lines(lines) {
		words := bytes.Fields(line)
		if len(words) < 5 {
			continue
		}
		o.Open('{')
		for i, name := range []string{"Name", "TTL", "Net-Class", "Type"} {
			o.Bytes(name, words[i])
		}
		o.Bytes("Value", bytes.Join(words[4:], []byte(" ")))
		o.Close('}')
	}
	o.Close(']')
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

func (w *writer) request(head *block.Head, e *entity) {
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
	addEntity(o, e)
	o.Close('}')
}

func (w *writer) response(rec *derive.Record, e *entity) {
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
	addEntity(o, e)
	if rec.Type == warc.Response && !rec.IsWall() {
		if page := rec.Page(); page.Format == parse.HTML || page.Format == parse.XML {
			w.page.describe(o, page)
		}
	}
	o.Close('}')
}
