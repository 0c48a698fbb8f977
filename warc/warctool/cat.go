package warctool

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"io"
	"math"
	"path"
	"unicode/utf8"

	"orbweaver/internal/textfile"
	"orbweaver/warc"
	"orbweaver/warc/lookup"
	"orbweaver/warc/member"
)

// CatOptions select records and the parts that are written.
type CatOptions struct {
	// Offset of the record in the file, in bytes; used when URI is empty. Negative: all records.
	Offset int64
	// URI chooses all records with that target. Default: by Offset.
	URI string
	// Type, if not Unknown, selects records of this type.
	Type warc.Type
	// Payload selects the body of the HTTP message without head and chunking, or the block of other records. Default:
	// the whole record.
	Payload bool
	// Decode removes content encodings (gzip, deflate, br, zstd) from the payload. It implies Payload.
	Decode bool
	// Titles writes a line before each payload, which names the record.
	Titles bool
	// SizeMax is the most bytes of a payload that are written, so that a decompression bomb ends. Default 1 GiB.
	SizeMax int64
}

// WithDefaults returns a copy of o whose zero fields have their defaults.
func (o CatOptions) WithDefaults() CatOptions {
	if o.SizeMax == 0 {
		o.SizeMax = 1 << 30
	}
	o.Payload = o.Payload || o.Decode
	return o
}

// Cat writes the selected records of files to Out unchanged, or their payload, or JSON. Bytes that are not in JSON may
// contain control sequences for a terminal. It returns ErrNotFound if there is none.
func (t *Tool) Cat(o CatOptions, files ...string) error {
	o = o.WithDefaults()
	found, faults := false, false
	for _, name := range files {
		if o.URI == "" && o.Offset >= 0 {
			return t.catAt(name, o)
		}
		faulty, err := t.each(name, warc.ReaderOptions{}, func(rec *warc.RecordRead) error {
			if o.URI != "" && string(rec.TargetURI) != o.URI || o.Type != warc.Unknown && rec.Type != o.Type {
				return nil
			}
			found = true
			return t.catRecord(name, rec, o)
		})
		if err != nil {
			return err
		}
		faults = faults || faulty
	}
	switch {
	case !found && len(files) == 1:
		return fmt.Errorf("%w: %s in %s", ErrNotFound, o.URI, path.Base(files[0]))
	case !found:
		return fmt.Errorf("%w: %s in %d files", ErrNotFound, o.URI, len(files))
	case faults:
		return ErrFaults
	}
	return nil
}

// catAt reads the record at an offset.
func (t *Tool) catAt(name string, o CatOptions) error {
	f, err := t.open(name)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // opened for reading
	dictionary, _, fault := member.ReadDictionary(f)
	if fault != nil {
		return fault
	}
	z := warc.NewReader(io.NewSectionReader(f, o.Offset, math.MaxInt64-o.Offset),
		warc.ReaderOptions{Name: path.Base(name), Base: o.Offset, Dictionary: dictionary})
	defer z.Close()
	rec, err := z.Next()
	if err == io.EOF {
		return fmt.Errorf("%w: offset %d: the file ends before it", ErrNotFound, o.Offset)
	}
	if err != nil {
		return fmt.Errorf("%w: offset %d: %w", ErrNotFound, o.Offset, err)
	}
	return t.catRecord(name, rec, o)
}

func (t *Tool) catRecord(name string, rec *warc.RecordRead, o CatOptions) error {
	switch {
	case t.JSON:
		return t.catJSON(name, rec, o)
	case !o.Payload:
		return copyRecord(t.Out, rec)
	case o.Titles:
		_, err := fmt.Fprintf(t.Out, "==> %s %s (%s, offset %d) <==\n", rec.Type, textfile.Plain(string(rec.TargetURI)),
			path.Base(name), rec.Offset)
		if err != nil {
			return err
		}
		if err := copyPayload(t.Out, rec, o); err != nil {
			return err
		}
		_, err = io.WriteString(t.Out, "\n")
		return err
	default:
		return copyPayload(t.Out, rec, o)
	}
}

// copyRecord writes a record unchanged.
func copyRecord(out io.Writer, rec *warc.RecordRead) error {
	if _, err := io.WriteString(out, "WARC/"+rec.Version+"\r\n"); err != nil {
		return err
	}
	for _, f := range rec.Fields {
		if _, err := io.WriteString(out, f.Name+": "+f.Value+"\r\n"); err != nil {
			return err
		}
	}
	if _, err := io.WriteString(out, "\r\n"); err != nil {
		return err
	}
	if _, err := io.Copy(out, rec); err != nil {
		return err
	}
	_, err := io.WriteString(out, "\r\n\r\n")
	return err
}

// copyPayload writes the payload of a record, up to the limit.
func copyPayload(out io.Writer, rec *warc.RecordRead, o CatOptions) error {
	body := io.Reader(rec)
	if rec.IsHTTP() {
		head, payload, err := rec.HTTP(true)
		if err != nil {
			return err
		}
		body = payload
		if o.Decode {
			var done func()
			if body, done, err = lookup.DecodePayload(payload, head.List("Content-Encoding")); err != nil {
				return fmt.Errorf("warc: record at %d: %w", rec.Offset, err)
			}
			defer done()
			if head.List("Content-Encoding") != "" {
				body = rec.Bounded(body)
			}
		}
	}
	return copyLimited(out, body, rec, o.SizeMax)
}

// copyLimited writes at most so many bytes of a record. More of them are an error.
func copyLimited(out io.Writer, body io.Reader, rec *warc.RecordRead, most int64) error {
	n, err := io.Copy(out, io.LimitReader(body, most))
	if err == nil && n == most {
		if m, _ := io.ReadFull(body, make([]byte, 1)); m > 0 {
			err = fmt.Errorf("warc: record at %d: payload is larger than %d bytes", rec.Offset, most)
		}
	}
	return err
}

// jsonMax is the most bytes of a block in JSON, which is built in memory.
const jsonMax = 64 << 20

// catRow is a record in JSON.
type catRow struct {
	File     string              `json:"file"`
	Offset   int64               `json:"offset"`
	Type     string              `json:"type"`
	URI      string              `json:"uri,omitempty"`
	Fields   []map[string]string `json:"fields"`   // of the WARC record, in their order; one name each
	Encoding string              `json:"encoding"` // of block and payload: utf-8 or base64
	Block    string              `json:"block,omitempty"`
	Payload  string              `json:"payload,omitempty"`
}

// catJSON writes a record as an object in JSON.
func (t *Tool) catJSON(name string, rec *warc.RecordRead, o CatOptions) error {
	row := catRow{
		File: path.Base(name), Offset: rec.Offset, Type: rec.Type.String(), URI: string(rec.TargetURI), Encoding: "utf-8",
	}
	for _, f := range rec.Fields {
		row.Fields = append(row.Fields, map[string]string{f.Name: f.Value})
	}
	var b bytes.Buffer
	into, err := &row.Block, error(nil)
	if o.SizeMax = min(o.SizeMax, jsonMax); o.Payload {
		into, err = &row.Payload, copyPayload(&b, rec, o)
	} else {
		err = copyLimited(&b, rec, rec, o.SizeMax)
	}
	if err != nil {
		return err
	}
	if *into = b.String(); !utf8.Valid(b.Bytes()) {
		row.Encoding, *into = "base64", base64.StdEncoding.EncodeToString(b.Bytes())
	}
	return t.emit(row)
}
