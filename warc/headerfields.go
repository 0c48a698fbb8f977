package warc

import (
	"bytes"
	"strings"

	"orbweaver/warc/header"
)

// Limits of a header besides HeaderMax bytes.
const (
	fieldsMax   = 4096 // more fields are ErrTooLarge
	badLinesMax = 16   // number of lines without a field that are reported separately
)

// headerFields adds header lines to a record. It collects the values, with continuation lines, so that they are copied
// once, into one string.
type headerFields struct {
	values      []byte
	ends        []int // of the value of each field in values
	continuable bool  // the previous line belongs to a field
}

// fieldsUsual is for how many fields a record has room from the start.
const fieldsUsual = 16

// reset prepares for the header of another record.
func (h *headerFields) reset() { h.values, h.ends, h.continuable = h.values[:0], h.ends[:0], false }

// add adds a header line. A line that starts with a space continues the previous field. It returns false for a line
// that is neither a field nor a continuation. The values of fields are set by end.
func (h *headerFields) add(rec *RecordRead, text []byte) bool {
	if text[0] == ' ' || text[0] == '\t' {
		if !h.continuable {
			return false
		}
		h.values = append(append(h.values, ' '), bytes.TrimSpace(text)...)
		h.ends[len(h.ends)-1] = len(h.values)
		return true
	}
	h.continuable = false
	name, value, ok := bytes.Cut(text, []byte(":"))
	if name = bytes.TrimSpace(name); !ok || len(name) == 0 {
		return false
	}
	if rec.Fields == nil {
		rec.Fields = make([]Field, 0, fieldsUsual)
	}
	rec.Fields = append(rec.Fields, Field{Name: header.FieldName(name)})
	h.values = append(h.values, bytes.TrimSpace(value)...)
	h.ends = append(h.ends, len(h.values))
	h.continuable = true
	return true
}

// end sets the values of the fields.
func (h *headerFields) end(rec *RecordRead) {
	all, from := string(h.values), 0
	for i, end := range h.ends {
		rec.Fields[i].Value = strings.TrimSpace(all[from:end])
		from = end
	}
	h.reset()
}
