package warctool

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"

	"orbweaver/internal/textfile"
	"orbweaver/internal/vfs"
	"orbweaver/warc"
)

// ErrFaults is returned if the work was done and the files have faults.
var ErrFaults = errors.New("warc: the files have errors")

// ErrNotFound is returned if there is no such record.
var ErrNotFound = errors.New("warc: no such record")

// Tool contains the input and output of the commands.
type Tool struct {
	// FS contains the files.
	FS vfs.FS
	// Out gets the results, Err the faults as lines of text.
	Out, Err io.Writer
	// JSON selects one JSON object per line instead of text.
	JSON bool
}

// complain writes a fault to Err.
func (t *Tool) complain(err error) {
	fmt.Fprintln(t.Err, textfile.Plain(err.Error()))
}

// emit writes v as a line of JSON.
func (t *Tool) emit(v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("warc: %w", err)
	}
	_, err = t.Out.Write(append(b, '\n'))
	return err
}

// open opens one file for reading. Its error is a *warc.Fault.
func (t *Tool) open(name string) (vfs.File, error) {
	f, err := t.FS.Open(name)
	if err != nil {
		return nil, warc.Unopened(name, err)
	}
	return f, nil
}

// each calls do with every record of a file. Faults after which the reader can continue, here or with another file, are
// written to Err; faulty reports whether there were any.
func (t *Tool) each(name string, o warc.ReaderOptions, do func(*warc.RecordRead) error) (faulty bool, err error) {
	f, err := t.open(name)
	if err != nil {
		t.complain(err)
		return true, nil
	}
	defer func() { _ = f.Close() }() // opened for reading
	o.Name = path.Base(name)
	z := warc.NewReader(f, o)
	defer z.Close()
	for {
		rec, err := z.Next()
		if err == io.EOF {
			return faulty, nil
		}
		fault := err
		if err == nil {
			fault = do(rec)
		}
		var damage *warc.Fault
		switch {
		case errors.As(fault, &damage):
			t.complain(fault)
			faulty = true
		case fault != nil:
			return faulty, fault
		}
	}
}

// eachOf is each for several files; file is the name of the one without its directory. The error wraps ErrFaults if
// there were faults.
func (t *Tool) eachOf(files []string, do func(file string, rec *warc.RecordRead) error) error {
	isFaulty := false
	for _, name := range files {
		file := path.Base(name)
		bad, err := t.each(name, warc.ReaderOptions{}, func(rec *warc.RecordRead) error { return do(file, rec) })
		if err != nil {
			return err
		}
		isFaulty = isFaulty || bad
	}
	if isFaulty {
		return ErrFaults
	}
	return nil
}
