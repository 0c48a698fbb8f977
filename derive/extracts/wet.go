package extracts

import (
	"orbweaver/derive"
)

// addText writes the text of a page.
func (w *writer) addText(rec *derive.Record) error {
	page := rec.TextPage()
	if page == nil {
		return nil
	}
	sum, _ := w.sha.Sums(page.Text, nil)
	w.fields = derive.AppendConversionFields(w.fields[:0], rec, w.name, sum)
	return w.records.write(w.fields, page.Text)
}
