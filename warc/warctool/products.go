package warctool

import (
	"bytes"
	"errors"
	"io"
	"maps"
	"path"
	"slices"
	"strings"

	"orbweaver/internal/extsort"
	"orbweaver/internal/vfs"
	"orbweaver/warc"
	"orbweaver/warc/member"
)

// Index writes the sorted CDXJ index of each file to Out. If beside is true, it writes it to a file next to the WARC
// instead (X.cdxj for X.warc.gz), or one of all files in a WACZ next to that (X.wacz.cdxj). Faults are written to Err,
// and the index has all other records.
func (t *Tool) Index(beside bool, files ...string) error {
	faulty := false
	onDamage := func(f *warc.Fault) error {
		faulty = true
		t.complain(f)
		return nil
	}
	add := func(lines *extsort.Lines, name string) error {
		f, err := t.open(name)
		if err != nil {
			return err
		}
		defer func() { _ = f.Close() }() // opened for reading
		base := path.Base(name)
		z := warc.NewReader(f, warc.ReaderOptions{Name: base})
		defer z.Close()
		return warc.AddIndex(lines, z, strings.TrimSuffix(base, ".open"), onDamage)
	}
	write := func(w io.Writer, names ...string) error {
		scratch := extsort.NewScratch()
		lines := warc.NewIndex(scratch)
		var err error
		for i := 0; err == nil && i < len(names); i++ {
			err = add(lines, names[i])
		}
		if err == nil {
			err = lines.Write(w)
		}
		return errors.Join(err, scratch.Close())
	}
	packages := map[string][]string{}
	for _, name := range files {
		var err error
		wacz, isPacked := packageOf(t.FS, name)
		switch {
		case !beside:
			err = write(t.Out, name)
		case isPacked:
			packages[wacz] = append(packages[wacz], name)
		default:
			err = vfs.WriteAtomic(t.FS, warc.IndexName(name), func(w io.Writer) error { return write(w, name) })
		}
		if damage := (*warc.Fault)(nil); errors.As(err, &damage) { // the other files may be there
			err = onDamage(damage)
		}
		if err != nil {
			return err
		}
	}
	for _, wacz := range slices.Sorted(maps.Keys(packages)) {
		err := vfs.WriteAtomic(t.FS, warc.IndexName(wacz), func(w io.Writer) error {
			return write(w, packages[wacz]...)
		})
		if err != nil {
			return err
		}
	}
	if faulty {
		return ErrFaults
	}
	return nil
}

// packageOf returns the WACZ in which a file lies.
func packageOf(fsys vfs.FS, name string) (wacz string, ok bool) {
	for dir := path.Dir(name); dir != path.Dir(dir); dir = path.Dir(dir) {
		if f, err := fsys.Open(dir); err == nil {
			_ = f.Close() // opened for reading
			return dir, true
		}
	}
	return "", false
}

// The parts of an archive from which a dictionary is made.
const (
	sampleBytes  = 64 << 10 // of one record: later parts are seldom similar to the start of another record
	samplesBytes = 32 << 20
)

// Train makes a dictionary of at most size bytes for records like those in the files, and writes it to the file out.
// The error wraps ErrFaults if the files have faults.
func (t *Tool) Train(out string, size int, files ...string) error {
	var samples [][]byte
	left := samplesBytes
	enough := errors.New("enough")
	isFaulty := false
	for _, name := range files {
		bad, err := t.each(name, warc.ReaderOptions{}, func(rec *warc.RecordRead) error {
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
		isFaulty = isFaulty || bad
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
	err = vfs.WriteAtomic(t.FS, out, func(w io.Writer) error {
		_, err := w.Write(dictionary)
		return err
	})
	if err == nil && isFaulty {
		err = ErrFaults
	}
	return err
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
