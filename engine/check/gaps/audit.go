package gaps

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"

	"orbweaver/engine/net/fetch/coding"
	"orbweaver/engine/state/layout"
	"orbweaver/engine/store/receipts"
	"orbweaver/internal/extsort"
	"orbweaver/internal/vfs"
	"orbweaver/warc"
)

// ErrNoFiles says that there is no WARC file.
var ErrNoFiles = errors.New("gaps: no WARC files")

// auditor is one audit.
type auditor struct {
	ctx    context.Context //nolint:containedctx // one audit's
	fsys   vfs.FS
	o      Options
	report *Report
	files  []input
	dirs   []string
	eras   eras

	bySite, byAddress list
	sorters           []*extsort.Sorter // of both lists
	progress          Progress
	before            int64 // bytes of the files before this one
	steps             int
}

// input is a file to read.
type input struct {
	name   string
	dir    int // number of its directory
	size   int64
	isOpen bool // it is being written, so its end may be torn
}

// Audit reads the WARC files of names: crawl directories, other directories, or files. What is wrong is in the Report.
// An error says that it could not be found out: a file cannot be read, or ctx ended.
func Audit(ctx context.Context, fsys vfs.FS, names []string, o Options) (_ *Report, err error) {
	o = o.WithDefaults()
	if err := o.Validate(); err != nil {
		return nil, err
	}
	a := &auditor{ctx: ctx, fsys: receipts.Over(fsys), o: o, report: newReport()}
	defer func() { err = errors.Join(err, a.close()) }()
	for _, name := range names {
		if err := a.find(name); err != nil {
			return nil, err
		}
	}
	for _, l := range []struct {
		to   *list
		name string
	}{{&a.bySite, "sites"}, {&a.byAddress, "addresses"}} {
		so := extsort.Options{File: o.TempDir + "/" + l.name, MemoryBytes: o.MemoryBytes}
		if l.to.sorter, err = extsort.New(o.Temp, so); err != nil {
			return nil, fmt.Errorf("gaps: %w", err)
		}
		a.sorters = append(a.sorters, l.to.sorter)
	}
	for _, step := range []func() error{a.read, a.judgeSites, a.judgeAddresses, a.name} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	a.report.finish()
	return a.report, nil
}

func newReport() *Report {
	gaps := func() Gaps { return Gaps{Reasons: map[Reason]int64{}, Worst: []Gap{}} }
	return &Report{Stated: []Stated{}, Sites: gaps(), Addresses: gaps()}
}

// find adds the files of one name.
func (a *auditor) find(name string) error {
	name = path.Clean(name)
	for _, dir := range []string{name + "/" + layout.ArchiveDir, name} {
		found, err := a.fsys.List(dir)
		if err != nil {
			continue
		}
		n := len(a.files)
		for _, base := range found {
			if _, _, ok := warc.CutName(base); ok {
				if err := a.add(dir, base); err != nil {
					return err
				}
			}
		}
		if len(a.files) > n {
			return nil
		}
	}
	if _, _, ok := warc.CutName(name); ok {
		return a.add(path.Dir(name), path.Base(name))
	}
	return fmt.Errorf("%w in %s: give a crawl directory, or files such as NAME.warc.gz", ErrNoFiles, name)
}

func (a *auditor) add(dir, base string) error {
	in := input{name: path.Join(dir, base), dir: len(a.dirs)}
	_, in.isOpen, _ = warc.CutName(base)
	for n, known := range a.dirs {
		if known == dir {
			in.dir = n
		}
	}
	if in.dir == len(a.dirs) {
		a.dirs = append(a.dirs, dir)
	}
	for _, other := range a.files {
		if other.name == in.name {
			return nil
		}
	}
	var err error
	if in.size, err = a.fsys.Size(in.name); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("%w: %s does not exist", ErrNoFiles, in.name)
		}
		return fmt.Errorf("gaps: %w", err)
	}
	if len(a.files) == filesMax {
		return fmt.Errorf("gaps: more than %d files", filesMax)
	}
	a.files = append(a.files, in)
	a.progress.TotalBytes += in.size
	return nil
}

// read reads all files into the lists.
func (a *auditor) read() error {
	r := reader{auditor: a, decoder: coding.New(coding.Options{})}
	a.eras.number(era{delays: Unstated()}) // so that number 0 states nothing
	for n := range a.files {
		a.progress.File = a.files[n].name
		if err := r.readFile(n); err != nil {
			return err
		}
		a.before += a.files[n].size
	}
	a.report.Files = len(a.files)
	return nil
}

// judgeSites judges the gaps of sites.
func (a *auditor) judgeSites() error {
	a.progress.IsJudging, a.progress.ExchangesOf = true, 2*a.report.Exchanges-a.report.WithoutAddr
	j := newJudge(a, &a.report.Sites, true)
	return j.all(&a.bySite)
}

// judgeAddresses judges the gaps of addresses.
func (a *auditor) judgeAddresses() error {
	j := newJudge(a, &a.report.Addresses, false)
	return j.all(&a.byAddress)
}

// tickEvery is the number of records between two reports of progress.
const tickEvery = 4096

// tick says how much was read, and whether to go on.
func (a *auditor) tick(offset int64) error {
	if a.steps++; a.steps%tickEvery != 1 {
		return nil
	}
	a.progress.Bytes = a.before + offset
	a.o.Progress(a.progress)
	return a.ended()
}

// tickJudge is tick while judging.
func (a *auditor) tickJudge() error {
	a.progress.Exchanges++
	if a.steps++; a.steps%tickEvery != 0 {
		return nil
	}
	a.o.Progress(a.progress)
	return a.ended()
}

func (a *auditor) ended() error {
	if err := a.ctx.Err(); err != nil {
		return fmt.Errorf("gaps: %w", err)
	}
	return nil
}

func (a *auditor) close() error {
	var errs []error
	for _, s := range a.sorters {
		errs = append(errs, s.Close())
	}
	return errors.Join(errs...)
}
