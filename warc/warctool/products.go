package warctool

import (
	"bytes"
	"errors"
	"io"
	"path"
	"strings"

	"orbweaver/internal/vfs"
	"orbweaver/warc"
	"orbweaver/warc/member"
)

// Index writes the sorted CDXJ index of each file to Out. If beside is true, it writes it to a file next to the WARC
// instead (X.cdxj for X.warc.gz). Faults are written to Err, and the index has all other records.
func (t *Tool) Index(beside bool, files ...string) error {
	faulty := false
	onDamage := func(f *warc.Fault) error {
		faulty = true
		t.complain(f)
		return nil
	}
	for _, name := range files {
		write := func(w io.Writer) error {
			f, err := t.open(name)
			if err != nil {
				return err
			}
			defer func() { _ = f.Close() }() // opened for reading
			base := path.Base(name)
			z := warc.NewReader(f, warc.ReaderOptions{Name: base})
			defer z.Close()
			return warc.WriteIndex(w, z, strings.TrimSuffix(base, ".open"), onDamage)
		}
		if !beside {
			if err := write(t.Out); err != nil {
				return err
			}
			continue
		}
		if err := vfs.WriteAtomic(t.FS, warc.IndexName(name), write); err != nil {
			return err
		}
	}
	if faulty {
		return ErrFaults
	}
	return nil
}

// The parts of an archive from which a dictionary is made.
const (
	sampleBytes  = 64 << 10 // of one record: later parts are seldom similar to the start of another record
	samplesBytes = 32 << 20
)

// Train makes a dictionary of at most size bytes for records like those in the files, and writes it to the file out.
func (t *Tool) Train(out string, size int, files ...string) error {
	var samples [][]byte
	left := samplesBytes
	enough := errors.New("enough")
	for _, name := range files {
		_, err := t.each(name, warc.ReaderOptions{}, func(rec *warc.RecordRead) error {
			text, err := sampleOf(rec)
			if err != nil {
				return err
			}
			samples = append(samples, text)
			if left -= len(text); left <= 0 {
				return enough
			}
			return nil
		})
		if errors.Is(err, enough) {
			break
		}
		if err != nil {
			return err
		}
	}
	dictionary, err := member.TrainDictionary(samples, size)
	if err != nil {
		return err
	}
	return vfs.WriteAtomic(t.FS, out, func(w io.Writer) error {
		_, err := w.Write(dictionary)
		return err
	})
}

// sampleOf returns the first part of a record.
func sampleOf(rec *warc.RecordRead) ([]byte, error) {
	var b bytes.Buffer
	b.WriteString("WARC/" + rec.Version + "\r\n")
	for _, f := range rec.Fields {
		b.WriteString(f.Name + ": " + f.Value + "\r\n")
	}
	b.WriteString("\r\n")
	_, err := io.Copy(&b, io.LimitReader(rec, sampleBytes))
	return b.Bytes(), err
}
