package warc

import "bytes"

// Limits of a header besides HeaderMax bytes.
const (
	fieldsMax   = 4096 // more fields are ErrTooLarge
	badLinesMax = 16   // number of lines without a field that are reported separately
)

// folding collects the value of a field with continuation lines, so that it is copied once.
type folding struct {
	value       []byte
	continuable bool // the previous line belongs to a field
}

// addField adds a header line to the record. A line that starts with a space continues the previous field. It returns
// false for a line that is neither a field nor a continuation.
func (z *Reader) addField(rec *RecordRead, text []byte) bool {
	if text[0] == ' ' || text[0] == '\t' {
		if !z.fold.continuable {
			return false
		}
		if len(z.fold.value) == 0 {
			z.fold.value = append(z.fold.value, rec.Fields[len(rec.Fields)-1].Value...)
		}
		z.fold.value = append(append(z.fold.value, ' '), bytes.TrimSpace(text)...)
		return true
	}
	z.endField(rec)
	name, value, ok := bytes.Cut(text, []byte(":"))
	if name = bytes.TrimSpace(name); !ok || len(name) == 0 {
		return false
	}
	rec.Fields = append(rec.Fields, Field{Name: string(name), Value: string(bytes.TrimSpace(value))})
	z.fold.continuable = true
	return true
}

// endField sets the value of the last field if it had continuation lines. No line can continue it afterwards.
func (z *Reader) endField(rec *RecordRead) {
	if len(z.fold.value) > 0 {
		rec.Fields[len(rec.Fields)-1].Value = string(bytes.TrimSpace(z.fold.value))
	}
	z.fold.value, z.fold.continuable = z.fold.value[:0], false
}
