package warc

import "bytes"

// Limits of a header besides HeaderMax bytes.
const (
	fieldsMax   = 4096 // more fields are ErrTooLarge
	badLinesMax = 16   // number of lines without a field that are reported separately
)

// headerFields adds header lines to a record. It collects the value of a field with continuation lines, so that it is
// copied once.
type headerFields struct {
	value       []byte
	continuable bool // the previous line belongs to a field
}

// reset prepares for the header of another record.
func (h *headerFields) reset() { h.value, h.continuable = h.value[:0], false }

// add adds a header line. A line that starts with a space continues the previous field. It returns false for a line
// that is neither a field nor a continuation.
func (h *headerFields) add(rec *RecordRead, text []byte) bool {
	if text[0] == ' ' || text[0] == '\t' {
		if !h.continuable {
			return false
		}
		if len(h.value) == 0 {
			h.value = append(h.value, rec.Fields[len(rec.Fields)-1].Value...)
		}
		h.value = append(append(h.value, ' '), bytes.TrimSpace(text)...)
		return true
	}
	h.end(rec)
	name, value, ok := bytes.Cut(text, []byte(":"))
	if name = bytes.TrimSpace(name); !ok || len(name) == 0 {
		return false
	}
	rec.Fields = append(rec.Fields, Field{Name: string(name), Value: string(bytes.TrimSpace(value))})
	h.continuable = true
	return true
}

// end sets the value of the last field if it had continuation lines. No line can continue it afterwards.
func (h *headerFields) end(rec *RecordRead) {
	if len(h.value) > 0 {
		rec.Fields[len(rec.Fields)-1].Value = string(bytes.TrimSpace(h.value))
	}
	h.reset()
}
