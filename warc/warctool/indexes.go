package warctool

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"time"

	"orbweaver/internal/extsort"
	"orbweaver/internal/vfs"
	"orbweaver/warc"
	"orbweaver/warc/cdxj"
	"orbweaver/warc/lookup"
	"orbweaver/warc/zipnum"
)

// indexes are the indexes of WARC files: those beside the files, or made from them.
type indexes struct {
	fsys       vfs.FS
	all        []string // names of the files
	scratch    *extsort.Scratch
	held       int                       // bytes of memory of short indexes that were made
	made       map[string]*extsort.Lines // of files without an index
	reportedTo map[string]int64          // end of the damage that was reported, by index

	onDamage func(*warc.Fault) error // is told of damage, once
}

// newIndexes returns the indexes of files. The scratch must be closed.
func newIndexes(fsys vfs.FS, files []string, onDamage func(*warc.Fault) error) *indexes {
	return &indexes{
		fsys:       fsys,
		all:        files,
		scratch:    extsort.NewScratch(),
		made:       make(map[string]*extsort.Lines),
		reportedTo: make(map[string]int64),
		onDamage:   onDamage,
	}
}

// each calls f with each line of the index of a file, without its end. f borrows the line. Lines of CDXJ that are
// damaged are left out. If the first line is none, the records of the file are read.
func (x *indexes) each(name string, f func(line []byte) error) error {
	err := x.eachBeside(name, f)
	if errors.Is(err, fs.ErrNotExist) {
		err = x.make(name)
		if err == nil {
			err = eachSorted(x.made[name], f)
		}
	}
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// eachBeside is each for a file with an index.
func (x *indexes) eachBeside(name string, f func(line []byte) error) error {
	index := warc.IndexName(name)
	file, err := x.fsys.Open(index)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }() // opened for reading
	lines := cdxj.ReadLines(file, cdxj.LineMax)
	for {
		line, err := lines.Next()
		if err != nil && !errors.Is(err, cdxj.ErrLine) {
			if err == io.EOF { //nolint:errorlint // Next returns it unwrapped
				return nil
			}
			return err
		}
		line = bytes.TrimRight(line, "\r\n")
		switch isCDXJ := bytes.IndexByte(line, '{') > 0 && line[len(line)-1] == '}'; {
		case bytes.HasPrefix(line, []byte("!")): // a header
		case isCDXJ:
			err = f(line)
		case err == nil && lines.Number == 1: // CDX in place of CDXJ
			return fs.ErrNotExist
		case x.reportedTo[index] >= lines.At+1:
			err = nil
		default:
			if err == nil {
				err = fmt.Errorf("%w: line %d is not of CDXJ: %.100q", cdxj.ErrLine, lines.Number, line)
			}
			x.reportedTo[index] = lines.At + 1
			err = x.onDamage(warc.LineFault(path.Base(index), lines.At, err))
		}
		if err != nil {
			return err
		}
	}
}

// Indexes that were made stay in memory if they are shorter than heldEach, up to heldMost in all, in bytes: those of
// many small files are read sooner from there.
const (
	heldEach = 16 << 10
	heldMost = 8 << 20
)

// make makes the index of a file, unless it is there.
func (x *indexes) make(name string) error {
	if x.made[name] != nil {
		return nil
	}
	lines := warc.NewIndex(x.scratch)
	archive, err := x.fsys.Open(name)
	if err != nil {
		x.made[name] = lines
		return x.onDamage(warc.Unopened(name, err))
	}
	z := warc.NewReader(archive, warc.ReaderOptions{Name: path.Base(name)})
	err = warc.AddIndex(lines, z, path.Base(name), x.onDamage)
	z.Close()
	err = errors.Join(err, archive.Close())
	if size := lines.Memory(); err == nil && (size > heldEach || x.held+size > heldMost) {
		err = lines.Flush()
	} else {
		x.held += size
	}
	if err == nil {
		x.made[name] = lines
	}
	return err
}

// sorted returns the lines of the indexes of some files.
func (x *indexes) sorted(files []string) (*extsort.Lines, error) {
	lines := warc.NewIndex(x.scratch)
	for _, name := range files {
		if err := x.each(name, lines.Add); err != nil {
			return nil, err
		}
	}
	return lines, nil
}

// parsePage reads a line, and says whether it is of a page that was found.
func parsePage(line []byte) (c lookup.Capture, ok bool) {
	c, err := lookup.ParseCapture(line)
	return c, err == nil && c.Status == http200 && len(c.Method) == 0 && isPage(string(c.MIME))
}

// isNotModified reports whether a line is of a revisit record with an answer 304.
func isNotModified(line []byte) bool {
	if !bytes.Contains(line, []byte("warc/revisit")) {
		return false
	}
	c, err := lookup.ParseCapture(line)
	return err == nil && c.Revisit && c.Status == http304
}

// timeOf returns the time of an index line as a list of pages has it; "" for none.
func timeOf(stamp string) string {
	at, err := time.Parse("20060102150405", stamp)
	if err != nil {
		return ""
	}
	return at.Format(time.RFC3339)
}

// WriteCluster writes the index of many WARC files into dir, as a ZipNum cluster. The indexes beside the files are
// used; a file without one is read. Faults are written to Err, and the cluster has all other records; the error then
// is ErrFaults. Memory does not grow with the number of files or lines: temporary files take the size of the indexes.
func (t *Tool) WriteCluster(dir string, files ...string) (r zipnum.Result, err error) {
	faulty := false
	x := newIndexes(t.FS, files, func(f *warc.Fault) error {
		faulty = true
		t.complain(f)
		return nil
	})
	defer func() { err = errors.Join(err, x.scratch.Close()) }()
	lines, err := x.sorted(files)
	if err != nil {
		return r, err
	}
	r, err = zipnum.Write(t.FS, dir, zipnum.Options{}, func(add func([]byte) error) error {
		return eachSorted(lines, add)
	})
	if err == nil && faulty {
		err = ErrFaults
	}
	return r, err
}

// eachSorted calls f with each line in order, until f returns an error.
func eachSorted(lines *extsort.Lines, f func(line []byte) error) error {
	for line, err := range lines.Sorted() {
		if err == nil {
			err = f(line)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
