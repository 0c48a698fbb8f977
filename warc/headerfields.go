package warc

import "bytes"

// What a header may hold, beside HeaderMax bytes.
const (
	fieldsMax   = 4096 // fields: more are ErrTooLarge
	badLinesMax = 16   // lines without a field that are reported one by one
)

// folding collects the value of a field that more lines continue, so that it is copied once.
type folding struct {
	value  []byte
	behind bool // the line before belongs to a field
}

// addField takes one header line into the record; a line that begins with a space continues the one before it. It returns false for a line
// that is no field, or continues none.
func (z *Reader) addField(rec *RecordRead, text []byte) bool {
	if text[0] == ' ' || text[0] == '\t' {
		if !z.fold.behind {
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
	z.fold.behind = true
	return true
}

// endField gives the last field its value, if lines continued it. No line continues it from now on.
func (z *Reader) endField(rec *RecordRead) {
	if len(z.fold.value) > 0 {
		rec.Fields[len(rec.Fields)-1].Value = string(bytes.TrimSpace(z.fold.value))
	}
	z.fold.value, z.fold.behind = z.fold.value[:0], false
}
