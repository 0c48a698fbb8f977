package audit

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"

	"orbweaver/internal/extsort"
	"orbweaver/internal/vfs"
)

// Options say how to audit. The zero value is good.
type Options struct {
	// Mark writes the marks. Without it nothing is changed.
	Mark bool
	// Progress gets the name of what is read now, from the goroutine that called Run. Default: not called.
	Progress func(what string)
	// Temp and TempDir are where lists go that do not fit in memory. The directory is made if missing; its files are
	// gone at the end. Default: in memory.
	Temp    vfs.FS
	TempDir string
	// MemoryBytes is for each of three lists. Default 64 MiB, at least 64 KiB.
	MemoryBytes int
}

// WithDefaults returns a copy in which what was zero is filled in.
func (o Options) WithDefaults() Options {
	if o.Progress == nil {
		o.Progress = func(string) {}
	}
	if o.Temp == nil {
		o.Temp, o.TempDir = vfs.NewMem(1), "lists"
	}
	return o
}

// Reasons why nothing was audited.
var (
	// ErrNoAgent says that a directory is not that of an agent.
	ErrNoAgent = errors.New("audit: not the crawl directory of one of several agents")
	// ErrTwice says that two directories are of one agent.
	ErrTwice = errors.New("audit: two directories of one agent")
)

// auditor is one audit.
type auditor struct {
	ctx    context.Context //nolint:containedctx // one audit's
	o      Options
	agents []*agent // in the order of their names
	report *Report
	rings  rings

	urls   *extsort.Sorter // captures, by host and URL
	wanted *extsort.Sorter // what is superseded and what is marked, by place
	marks  *extsort.Sorter // what is superseded, to be written
}

// Run audits the directories of all agents of a crawl. What is wrong is in the Report; an error says that it could not
// be found out: a directory is no agent's (ErrNoAgent, ErrTwice), is in use (layout.ErrInUse) or damaged, or ctx ended.
func Run(ctx context.Context, fsys vfs.FS, dirs []string, o Options) (_ *Report, err error) {
	a := &auditor{ctx: ctx, o: o.WithDefaults(), report: newReport(), rings: rings{}}
	defer func() { err = errors.Join(err, a.close()) }()
	if err := a.open(fsys, dirs); err != nil {
		return nil, err
	}
	for _, list := range []struct {
		to   **extsort.Sorter
		name string
	}{{&a.urls, "urls"}, {&a.wanted, "wanted"}, {&a.marks, "marks"}} {
		o := extsort.Options{File: a.o.TempDir + "/" + list.name, MemoryBytes: a.o.MemoryBytes}
		if *list.to, err = extsort.New(a.o.Temp, o); err != nil {
			return nil, fmt.Errorf("audit: %w", err)
		}
	}
	for _, step := range []func() error{a.readIndexes, a.judge, a.readMarks, a.compare} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	if a.o.Mark && !a.report.Sound() {
		err = a.write()
	}
	a.report.sum()
	return a.report, err
}

// open opens the directories, in the order of their agents' names.
func (a *auditor) open(fsys vfs.FS, dirs []string) error {
	if len(dirs) > dirsMax {
		return fmt.Errorf("audit: %d directories; at most %d can be audited together", len(dirs), dirsMax)
	}
	for i, dir := range dirs {
		if slices.ContainsFunc(dirs[:i], func(other string) bool { return path.Clean(other) == path.Clean(dir) }) {
			return fmt.Errorf("%w: %s is named twice", ErrTwice, dir)
		}
		one, err := openAgent(fsys, dir, a.o.Mark)
		if one != nil {
			a.agents = append(a.agents, one)
		}
		if err != nil {
			return err
		}
	}
	if err := order(a.agents); err != nil {
		return err
	}
	for _, one := range a.agents {
		a.report.Agents = append(a.report.Agents, &one.report)
	}
	a.report.Absent = absent(a.agents)
	return nil
}

// progress tells what is read, and whether to go on.
func (a *auditor) progress(one *agent, file string) error {
	a.o.Progress(one.dir + "/" + file)
	if err := a.ctx.Err(); err != nil {
		return fmt.Errorf("audit: %w", err)
	}
	return nil
}

func (a *auditor) close() error {
	var errs []error
	for _, s := range []*extsort.Sorter{a.urls, a.wanted, a.marks} {
		if s != nil {
			errs = append(errs, s.Close())
		}
	}
	for _, one := range a.agents {
		errs = append(errs, one.close())
	}
	return errors.Join(errs...)
}
