package crawllog

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"

	"orbweaver/internal/vfs"
)

// errUnchanged says that all lines of a file were kept.
var errUnchanged = errors.New("crawllog: nothing to remove")

// Repair removes lines behind a position, and a part of a line at the end, after a kill. It must be called before the
// first line is added. keep is called once for each line; lines that cannot be read are removed. A file is replaced in
// one step, and a second Repair after another kill removes what is left. The result is the number of removed lines.
func (l *Log) Repair(from Position, keep func(*Line) bool) (removed int64, err error) {
	l.writer.take()
	defer l.writer.giveBack()
	if l.file == nil {
		return 0, nil // it cannot be read now
	}
	numbers, err := Numbers(l.fs, l.dir)
	if err != nil {
		return 0, err
	}
	if err := l.closeFailed(); err != nil { // no file that is replaced may be open
		return 0, err
	}
	for _, n := range append(numbers, l.nextNumber) {
		if n < from.File {
			continue
		}
		f := fileRepair{fs: l.fs, name: l.name, skip: from.in(n), keep: keep}
		if f.isCompressed = n < l.nextNumber; f.isCompressed {
			f.name = l.dir + "/" + fmt.Sprintf(compressedName, n)
		}
		err = errors.Join(err, f.repair())
		removed += f.removed
	}
	l.failing = false
	return removed, errors.Join(err, l.open())
}

// fileRepair removes lines of one file.
type fileRepair struct {
	fs           vfs.FS
	name         string
	isCompressed bool
	skip         int64 // bytes of lines that are kept, whatever they are
	keep         func(*Line) bool
	removed      int64
	torn         bool // the last line is not whole
}

// repair replaces the file, unless all of it is kept.
func (r *fileRepair) repair() error {
	file, err := r.fs.Open(r.name)
	if err != nil {
		return fmt.Errorf("crawllog: repair: %w", err)
	}
	in := bufio.NewReaderSize(file, 256<<10)
	err = vfs.WriteAtomic(r.fs, r.name, func(w io.Writer) error {
		if !r.isCompressed {
			return r.copy(w, in)
		}
		z, err := gzip.NewReader(in)
		if err != nil {
			return err
		}
		packed, err := gzip.NewWriterLevel(w, gzip.BestSpeed)
		if err != nil {
			return err
		}
		return errors.Join(r.copy(packed, bufio.NewReaderSize(z, 256<<10)), packed.Close())
	})
	if errors.Is(err, errUnchanged) {
		err = nil
	}
	if err = errors.Join(err, file.Close()); err != nil {
		return fmt.Errorf("crawllog: repair: %s: %w", r.name, err)
	}
	return nil
}

// copy copies what is kept. It returns errUnchanged if that is everything.
func (r *fileRepair) copy(w io.Writer, in *bufio.Reader) error {
	if _, err := io.CopyN(w, in, r.skip); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	for {
		b, err := in.ReadSlice('\n')
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			r.removed++
			for errors.Is(err, bufio.ErrBufferFull) {
				_, err = in.ReadSlice('\n')
			}
		case err == nil:
			if line, ok := Parse(bytes.TrimSuffix(b, []byte{'\n'})); !ok || !r.keep(&line) {
				r.removed++
			} else if _, err := w.Write(b); err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) {
			if len(b) > 0 {
				r.torn = true
			}
			if r.removed == 0 && !r.torn {
				return errUnchanged
			}
			return nil
		}
		if err != nil {
			return err
		}
	}
}
