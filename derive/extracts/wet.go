package extracts

import (
	"orbweaver/derive"
	"orbweaver/derive/conversion"
)

// addText writes the text of a page.
func (w *writer) addText(rec *derive.Record) error {
	page := rec.TextPage()
	if page == nil {
		return nil
	}
	sum, _ := w.sha.Sums(page.Text, nil)
	w.fields = conversion.AppendFields(w.fields[:0], rec, w.name, sum)
	return w.records.write(w.fields, page.Text)
}
