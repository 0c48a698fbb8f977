package warctool

import (
	"fmt"
	"io"
	"math"
	"path"

	"orbweaver/warc"
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

// Cat writes the selected records of a file to Out unchanged, or their payload. The bytes may contain control sequences
// for a terminal. It returns ErrNotFound if there is none.
func (t *Tool) Cat(name string, o CatOptions) error {
	o = o.WithDefaults()
	if o.URI == "" && o.Offset >= 0 {
		return t.catAt(name, o)
	}
	found := false
	faulty, err := t.each(name, warc.ReaderOptions{}, func(rec *warc.RecordRead) error {
		if o.URI != "" && string(rec.TargetURI) != o.URI || o.Type != warc.Unknown && rec.Type != o.Type {
			return nil
		}
		found = true
		return t.catRecord(rec, o)
	})
	switch {
	case err != nil:
		return err
	case !found:
		return fmt.Errorf("%w: %s in %s", ErrNotFound, o.URI, path.Base(name))
	case faulty:
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
	return t.catRecord(rec, o)
}

func (t *Tool) catRecord(rec *warc.RecordRead, o CatOptions) error {
	if !o.Payload {
		if _, err := io.WriteString(t.Out, "WARC/"+rec.Version+"\r\n"); err != nil {
			return err
		}
		for _, f := range rec.Fields {
			if _, err := io.WriteString(t.Out, f.Name+": "+f.Value+"\r\n"); err != nil {
				return err
			}
		}
		if _, err := io.WriteString(t.Out, "\r\n"); err != nil {
			return err
		}
		if _, err := io.Copy(t.Out, rec); err != nil {
			return err
		}
		_, err := io.WriteString(t.Out, "\r\n\r\n")
		return err
	}
	body := io.Reader(rec)
	if rec.IsHTTP() {
		head, payload, err := rec.HTTP(true)
		if err != nil {
			return err
		}
		body = payload
		if o.Decode {
			var done func()
			if body, done, err = decode(payload, head.Get("Content-Encoding")); err != nil {
				return fmt.Errorf("warc: record at %d: %w", rec.Offset, err)
			}
			defer done()
		}
	}
	n, err := io.Copy(t.Out, io.LimitReader(body, o.SizeMax))
	if err == nil && n == o.SizeMax {
		if m, _ := io.ReadFull(body, make([]byte, 1)); m > 0 {
			err = fmt.Errorf("warc: record at %d: payload is larger than %d bytes", rec.Offset, o.SizeMax)
		}
	}
	return err
}
