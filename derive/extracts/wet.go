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
	sum, _ := w.sha.Sums(page.Text, nil)
	w.fields = append(w.fields[:0], []warc.Field{
		{Name: "WARC-Type", Value: "conversion"}, {Name: "WARC-Target-URI", Value: string(rec.TargetURI)},
		{Name: "WARC-Date", Value: date(rec)}, {Name: "WARC-Record-ID", Value: w.identity(rec)},
		{Name: "WARC-Refers-To", Value: rec.Get("WARC-Record-ID")},
		{Name: "WARC-Block-Digest", Value: digest(sum)}, {Name: "Content-Type", Value: "text/plain"},
		{Name: "Content-Length"},
	}...)
	// Readers by position do not expect it before Content-Length.
	if languages := rec.Languages(); languages != "" {
		w.fields = append(w.fields, warc.Field{Name: "WARC-Identified-Content-Language", Value: languages})
	}
	return w.records.write(w.fields, page.Text)
}
