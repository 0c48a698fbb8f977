package extracts

import (
	"orbweaver/derive"
	"orbweaver/warc"
)

// addText writes the text of a page.
func (w *writer) addText(rec *derive.Record) error {
	page := rec.TextPage()
	if page == nil {
		return nil
	}
	var more []warc.Field
	// Behind Content-Length: readers by position do not expect it before.
	if languages := rec.Get("WARC-Identified-Content-Language"); languages != "" {
		more = append(more, warc.Field{Name: "WARC-Identified-Content-Language", Value: languages})
	}
	return w.record(page.Text, []warc.Field{
		{Name: "WARC-Type", Value: "conversion"}, {Name: "WARC-Target-URI", Value: string(rec.TargetURI)},
		{Name: "WARC-Date", Value: date(rec)}, {Name: "WARC-Record-ID", Value: w.identity(rec)},
		{Name: "WARC-Refers-To", Value: rec.Get("WARC-Record-ID")},
		{Name: "WARC-Block-Digest", Value: digest(page.Text)}, {Name: "Content-Type", Value: "text/plain"},
	}, more...)
}
