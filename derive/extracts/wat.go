package extracts

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"orbweaver/derive"
	"orbweaver/engine/parse"
	"orbweaver/warc"
	"orbweaver/warc/block"
)

// object is a JSON object whose members keep their order. The first of several members with one name counts.
type object []member

type member struct {
	name  string
	value any
}

// MarshalJSON writes the members in order.
func (o object) MarshalJSON() ([]byte, error) {
	b := []byte{'{'}
	seen := make(map[string]bool, len(o))
	for _, m := range o {
		if seen[m.name] {
			continue
		}
		seen[m.name] = true
		name, err := json.Marshal(m.name)
		if err != nil {
			return nil, err
		}
		value, err := json.Marshal(m.value)
		if err != nil {
			return nil, err
		}
		if len(b) > 1 {
			b = append(b, ',')
		}
		b = append(append(append(b, name...), ':'), value...)
	}
	return append(b, '}'), nil
}

// addMetadata writes what is known of a record.
func (w *writer) addMetadata(rec *derive.Record) error {
	text, err := json.Marshal(object{{"Container", w.container(rec)}, {"Envelope", envelope(rec)}})
	if err != nil {
		return fmt.Errorf("extracts: %w", err)
	}
	fields := []warc.Field{{Name: "WARC-Type", Value: "metadata"}}
	if len(rec.TargetURI) > 0 { // a warcinfo record has none
		fields = append(fields, warc.Field{Name: "WARC-Target-URI", Value: string(rec.TargetURI)})
	}
	return w.record(text, append(fields, []warc.Field{
		{Name: "WARC-Date", Value: w.o.Now.UTC().Format(time.RFC3339)},
		{Name: "WARC-Record-ID", Value: w.identity(rec)},
		{Name: "WARC-Refers-To", Value: rec.Get("WARC-Record-ID")},
		{Name: "Content-Type", Value: "application/json"},
	}...))
}

func number(n int64) string { return strconv.FormatInt(n, 10) }

// container says where the record is.
func (w *writer) container(rec *derive.Record) object {
	isCompressed := !strings.HasSuffix(w.source.File, ".warc")
	o := object{
		{"Filename", w.source.File}, {"Compressed", isCompressed}, {"Offset", number(rec.Offset)},
	}
	if isCompressed && rec.Length > 0 {
		o = append(o, member{"Gzip-Metadata", object{{"Deflate-Length", number(rec.Length)}}})
	}
	return o
}

func envelope(rec *derive.Record) object {
	header := object{}
	length := len("WARC/" + rec.Version + "\r\n\r\n")
	for _, f := range rec.Fields {
		header = append(header, member{f.Name, f.Value})
		length += len(f.Name) + len(f.Value) + len(": \r\n")
	}
	return object{
		{"Format", "WARC"}, {"WARC-Header-Length", number(int64(length))}, {"WARC-Header-Metadata", header},
		{"Payload-Metadata", payload(rec)},
	}
}

// payload describes the block.
func payload(rec *derive.Record) object {
	o := object{
		{"Actual-Content-Type", rec.Get("Content-Type")}, {"Actual-Content-Length", number(rec.ContentLength)},
		{"Trailing-Slop-Length", "4"},
	}
	if rec.IsWhole {
		o = append(o, member{"Block-Digest", digest(rec.Block)})
	}
	switch {
	case rec.Type == warc.Request && rec.Head != nil:
		o = append(o, member{"HTTP-Request-Metadata", request(rec.Head)})
	case rec.Head != nil:
		o = append(o, member{"HTTP-Response-Metadata", response(rec)})
	case rec.Type == warc.Warcinfo:
		fields := object{}
		for _, f := range fieldsOf(rec.Block) {
			fields = append(fields, member{f.Name, f.Value})
		}
		o = append(o, member{"WARC-Info-Metadata", fields})
	case rec.Type == warc.Metadata:
		records := []object{}
		for _, f := range fieldsOf(rec.Block) {
			records = append(records, object{{"Name", f.Name}, {"Value", f.Value}})
		}
		o = append(o, member{"WARC-Metadata-Metadata", object{{"Metadata-Records", records}}})
	}
	return o
}

// fieldsOf reads a block of fields.
func fieldsOf(block []byte) (fields []warc.Field) {
	for line := range strings.Lines(string(block)) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), ":"); ok {
			fields = append(fields, warc.Field{Name: name, Value: strings.TrimSpace(value)})
		}
	}
	return fields
}

func headers(head *block.Head) object {
	o := object{}
	for _, f := range head.Fields {
		o = append(o, member{f.Name, f.Value})
	}
	return o
}

func request(head *block.Head) object {
	parts := append(strings.SplitN(head.First, " ", 3), "", "")
	return object{
		{"Request-Message", object{{"Method", parts[0]}, {"Path", parts[1]}, {"Version", parts[2]}}},
		{"Headers", headers(head)}, {"Headers-Length", number(int64(len(head.Raw)))},
	}
}

func response(rec *derive.Record) object {
	parts := append(strings.SplitN(rec.Head.First, " ", 3), "", "")
	entity := rec.Block[len(rec.Head.Raw):]
	o := object{
		{"Response-Message", object{{"Status", parts[1]}, {"Version", parts[0]}, {"Reason", parts[2]}}},
		{"Headers", headers(rec.Head)}, {"Headers-Length", number(int64(len(rec.Head.Raw)))},
		{"Entity-Length", number(rec.ContentLength - int64(len(rec.Head.Raw)))},
		{"Entity-Trailing-Slop-Length", "0"},
	}
	if rec.IsWhole {
		o = append(o, member{"Entity-Digest", digest(entity)})
	}
	if rec.Type != warc.Response {
		return o
	}
	if page := rec.Page(); page.Format == parse.HTML || page.Format == parse.XML {
		o = append(o, member{"HTML-Metadata", html(page)})
	}
	return o
}

// html describes a page: what is in its head, and its links.
func html(page *parse.Result) object {
	var linkTags, scripts, links []object
	for _, l := range page.Links {
		o := object{{"path", pathOf(l.Kind)}, {"url", string(l.Ref)}}
		if l.NoFollow {
			o = append(o, member{"rel", "nofollow"})
		}
		switch l.Kind {
		case parse.LinkRel, parse.Resource:
			linkTags = append(linkTags, o)
		case parse.Script:
			scripts = append(scripts, o)
		default:
			links = append(links, o)
		}
	}
	head := object{}
	if len(page.Title) > 0 {
		head = append(head, member{"Title", string(page.Title)})
	}
	if len(page.Base) > 0 {
		head = append(head, member{"Base", string(page.Base)})
	}
	if len(linkTags) > 0 {
		head = append(head, member{"Link", linkTags})
	}
	if len(scripts) > 0 {
		head = append(head, member{"Scripts", scripts})
	}
	o := object{{"Head", head}}
	if len(links) > 0 {
		o = append(o, member{"Links", links})
	}
	return o
}

// pathOf returns where a link stands, as "A@/href".
func pathOf(k parse.Kind) string {
	element, attribute, ok := strings.Cut(k.Context(), "/@")
	if !ok {
		element, attribute = k.String(), "url"
	}
	return strings.ToUpper(element) + "@/" + attribute
}
