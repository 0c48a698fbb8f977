package lookup

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"

	"orbweaver/internal/extsort"
	"orbweaver/internal/vfs"
	"orbweaver/warc"
)

// Options name the files of an archive.
type Options struct {
	FS    vfs.FS
	Dirs  []string // all WARC files in them
	Files []string // single WARC files

	// Writing are the lines of files that a Writer in this process has open; nil for none.
	Writing Writing
	// OnFault is told of damage in files that are read for want of an index, of lines of indexes that are left out, and
	// of indexes of WACZ files that are not used. It must be safe for concurrent use. Default: none.
	OnFault func(*warc.Fault)
}

// Writing is what a warc.Writer tells of the files that it has open.
type Writing interface {
	OpenLines(ctx context.Context) ([]warc.OpenLines, error)
}

// nothingWritten is the Writing of an archive that has no Writer here.
type nothingWritten struct{}

func (nothingWritten) OpenLines(context.Context) ([]warc.OpenLines, error) { return nil, nil }

// Files searches the indexes of WARC files. It is safe for concurrent use.
type Files struct {
	o       Options
	hasDone bool // a file without its final name belongs to the Writer

	mu         sync.Mutex // guards the following, also while a file is read
	scanned    map[string]*scanned
	kept       int             // memory of their lines, in bytes
	toldFaults map[string]bool // faults that tellOnce has reported
	scratch    *extsort.Scratch

	words struct { // dictionaries of closed files, by path
		sync.Mutex
		of map[string][]byte
	}
}

// NewFiles returns the files that o names. They are listed at each query, so that new ones are found. The caller closes
// it.
func NewFiles(o Options) *Files {
	f := &Files{o: o, hasDone: o.Writing != nil, scanned: make(map[string]*scanned), scratch: extsort.NewScratch()}
	f.toldFaults, f.words.of = make(map[string]bool), make(map[string][]byte)
	if o.OnFault == nil {
		f.o.OnFault = func(*warc.Fault) {}
	}
	if o.Writing == nil {
		f.o.Writing = nothingWritten{}
	}
	return f
}

// Close removes the temporary file, if there is one, when no query runs.
func (f *Files) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.scratch.Close()
}

// archiveFile is a WARC file.
type archiveFile struct {
	path  string
	final string // path when it is complete
	name  string // final within its directory, as index lines have it
	open  bool
}

func fileOf(name string) archiveFile {
	final := warc.FileInfo{Name: name}.Final()
	return archiveFile{path: name, final: final, name: path.Base(final), open: final != name}
}

// setInWACZ adds the name of the WACZ in which the file lies, if that is what its directory is.
func (a *archiveFile) setInWACZ() {
	if wacz := path.Base(path.Dir(a.final)); strings.HasSuffix(wacz, ".wacz") {
		a.name = wacz + "/" + path.Base(a.final)
	}
}

// errTwice says that an index line could be of either file.
var errTwice = errors.New("two files have the same name")

// list returns all files, by name.
func (f *Files) list() (files []archiveFile, err error) {
	for _, name := range f.o.Files {
		files = append(files, fileOf(name))
	}
	for _, dir := range f.o.Dirs {
		names, err := f.o.FS.List(dir)
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			if _, _, ok := warc.CutName(name); ok {
				file := fileOf(path.Join(dir, name))
				file.name = warc.FileInfo{Name: name}.Final() // x.wacz/NAME of what lies in a WACZ
				files = append(files, file)
			}
		}
	}
	slices.SortFunc(files, func(a, b archiveFile) int {
		return cmp.Or(strings.Compare(a.name, b.name), strings.Compare(a.path, b.path))
	})
	files = slices.CompactFunc(files, func(a, b archiveFile) bool {
		return b.final == a.final
	})
	for i := range len(files) - 1 {
		a, b := &files[i], &files[i+1]
		if path.Base(a.name) == path.Base(b.name) {
			a.setInWACZ()
			b.setInWACZ()
		}
		if a.name == b.name {
			return nil, fmt.Errorf("%s and %s: %w", a.path, b.path, errTwice)
		}
	}
	return files, nil
}

// Memory of a query, in bytes.
const (
	chunksMost = 16 << 20 // of the pieces of all index files
	chunkMost  = 64 << 10
	chunkLeast = 4 << 10
)

// Scan calls do with each line of the range, sorted, without its end. do borrows the line. An error of do ends the scan
// and is returned.
func (f *Files) Scan(ctx context.Context, want Range, do func(line []byte) error) error {
	merge, err := f.open(ctx, want)
	if err != nil {
		return err
	}
	for n := 0; merge.Line() != nil; n++ {
		if n%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if err := do(merge.Line()); err != nil {
			return err
		}
		if err := merge.Next(); err != nil {
			return fmt.Errorf("lookup: %w", err)
		}
	}
	return nil
}

// open finds the first line of the range in each file.
func (f *Files) open(ctx context.Context, want Range) (*extsort.Merge, error) {
	written, err := f.o.Writing.OpenLines(ctx) // before the list: a file that is finished meanwhile counts once
	if err != nil {
		return nil, err
	}
	var sources []extsort.Source
	writing := make(map[string]bool)
	for _, w := range written {
		writing[w.Final] = true
		for _, part := range w.Parts {
			sources = append(sources, newLinesCursor(part, want, w.Final))
		}
	}
	files, err := f.list()
	if err != nil {
		return nil, fmt.Errorf("lookup: %w", err)
	}
	chunk := min(max(chunksMost/max(len(files), 1), chunkLeast), chunkMost)
	covered, clusters, err := f.clusters(files, want)
	if err != nil {
		return nil, fmt.Errorf("lookup: %w", err)
	}
	sources = append(sources, clusters...)
	for _, file := range files {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if covered[file.name] || writing[file.name] || file.open && f.hasDone {
			continue
		}
		c, err := f.cursor(file, want, chunk)
		if f.leaveOut(err) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("lookup: %w", err)
		}
		if c.Line() != nil { // what has no line here takes no memory
			sources = append(sources, c)
		}
	}
	return extsort.NewMerge(sources...), nil
}

// leaveOut reports whether an error is that of a file that cannot be opened, and reports the file once. With a Writer
// here, such an error ends the query: the file may be there the next time.
func (f *Files) leaveOut(err error) bool {
	var fault *warc.Fault
	if f.hasDone || !errors.Is(err, warc.ErrUnread) || !errors.As(err, &fault) {
		return false
	}
	f.tellOnce(fault)
	return true
}

// toldMost is how many faults are reported.
const toldMost = 10_000

// tellOnce reports a fault that each query meets.
func (f *Files) tellOnce(fault *warc.Fault) {
	text := fault.Error()
	f.mu.Lock()
	isKnown := f.toldFaults[text] || len(f.toldFaults) >= toldMost
	if !isKnown {
		f.toldFaults[text] = true
	}
	f.mu.Unlock()
	if !isKnown {
		f.o.OnFault(fault)
	}
}

// cursor reads the index of a file, or the file itself if it has none.
func (f *Files) cursor(file archiveFile, want Range, chunk int) (extsort.Source, error) {
	if !file.open {
		c, err := openCursor(f.o.FS, warc.IndexName(file.path), want, chunk, f.tellOnce)
		if err == nil || !errors.Is(err, fs.ErrNotExist) {
			return c, err
		}
	}
	lines, err := f.linesOf(file, want)
	if errors.Is(err, fs.ErrNotExist) && file.open { // it was finished meanwhile
		return openCursor(f.o.FS, warc.IndexName(file.path), want, chunk, f.tellOnce)
	}
	if err != nil {
		return nil, err
	}
	return lines.Open(want.From, want.To, chunk)
}
