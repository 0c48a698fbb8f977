package audit

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"slices"
	"strings"

	"orbweaver/engine/cluster/recovery"
	"orbweaver/engine/state/layout"
	"orbweaver/internal/extsort"
	"orbweaver/internal/vfs"
	"orbweaver/warc"
	"orbweaver/warc/cdxj"
)

// MarksDir holds the marks of an agent, relative to its crawl directory: AGENT.cdxj names those of its captures that
// AGENT's supersede.
const MarksDir = recovery.MarksDir

const marksSuffix = ".cdxj"

// A mark is sorted by the number of its agent and its place; the tag says whose capture counts, and whether it is a
// mark or a wish.
const (
	agentShift = 32
	isMark     = 1 << 32 // of a tag
	nobody     = dirsMax // the number of no agent
)

func markEntry(dir int, at warc.Position, wins int) extsort.Entry {
	return extsort.Entry{Hi: uint64(dir)<<agentShift | uint64(at.Serial), Lo: uint64(at.Offset), Tag: uint64(wins)}
}

// readMarks gathers the marks there are.
func (a *auditor) readMarks() error {
	for n, one := range a.agents {
		names, err := one.marks()
		if err != nil {
			return err
		}
		if len(names) == 0 {
			continue
		}
		final, err := one.finals()
		if err != nil {
			return err
		}
		for _, name := range names {
			if err := a.progress(one, MarksDir+"/"+name); err != nil {
				return err
			}
			wins := slices.IndexFunc(a.agents, func(b *agent) bool { return b.id+marksSuffix == name })
			if wins < 0 {
				wins = nobody
			}
			if err := a.readMarksOf(n, wins, name, final); err != nil {
				return err
			}
		}
	}
	return nil
}

// marks are the names of an agent's files of marks.
func (a *agent) marks() (names []string, err error) {
	all, err := a.fsys.List(a.dir + "/" + MarksDir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("audit: %w", err)
	}
	for _, name := range all {
		if strings.HasSuffix(name, marksSuffix) {
			names = append(names, name)
		}
	}
	return names, nil
}

// finals are the names that lines call the files of the archive, by their serial numbers.
func (a *agent) finals() (map[uint32]string, error) {
	files, err := a.files()
	names := make(map[uint32]string, len(files))
	for _, info := range files {
		names[info.Serial] = info.Final()
	}
	return names, err
}

// readMarksOf reads one file. A line that is none, or of no file of the archive, is a mark of nothing.
func (a *auditor) readMarksOf(n, wins int, name string, final map[uint32]string) (err error) {
	one := a.agents[n]
	f, err := one.fsys.Open(one.dir + "/" + MarksDir + "/" + name)
	if err != nil {
		return fmt.Errorf("audit: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	err = cdxj.ScanLines(f, func(_ []byte, said *cdxj.Line, damage error) error {
		info, ok := warc.ParseName(string(said.File))
		if damage != nil || !ok || final[info.Serial] != string(said.File) {
			one.report.Stale++
			return nil //nolint:nilerr // a damaged line marks nothing
		}
		e := markEntry(n, warc.Position{Serial: info.Serial, Offset: said.Offset}, wins)
		e.Tag |= isMark
		return a.wanted.Add(e)
	})
	if err != nil {
		return fmt.Errorf("audit: %w", err)
	}
	return nil
}

// compare holds the marks there are against those that are wanted.
func (a *auditor) compare() error {
	var wish extsort.Entry
	some, found := false, false // there is a wish; it is fulfilled
	judge := func() {
		if some && !found {
			a.agents[wish.Hi>>agentShift].report.Misplaced++
		}
	}
	for e, err := range a.wanted.Sorted() {
		if err != nil {
			return fmt.Errorf("audit: %w", err)
		}
		if e.Tag&isMark == 0 {
			judge()
			wish, some, found = e, true, false
			continue
		}
		if !found && some && wish.Hi == e.Hi && wish.Lo == e.Lo && e.Tag == wish.Tag|isMark {
			found = true
		} else {
			a.agents[e.Hi>>agentShift].report.Stale++
		}
	}
	judge()
	a.report.sum()
	return nil
}

// write makes the marks of all agents what they should be.
func (a *auditor) write() error {
	next, stop := iter.Pull2(a.marks.Sorted())
	defer stop()
	e, err, some := next()
	for n, one := range a.agents {
		w := markWriter{a: a, of: one, files: map[int]*markFile{}}
		for some && err == nil && int(e.Hi>>agentShift) == n {
			serial, wins := uint32(e.Hi), map[int64]int{}
			for here := e.Hi; some && err == nil && e.Hi == here; e, err, some = next() {
				wins[int64(e.Lo)] = int(e.Tag)
			}
			if werr := w.file(serial, wins); werr != nil {
				return errors.Join(werr, w.abandon())
			}
		}
		if err != nil {
			return errors.Join(fmt.Errorf("audit: %w", err), w.abandon())
		}
		if err := w.finish(); err != nil {
			return fmt.Errorf("audit: marks of %s: %w", one.id, err)
		}
		one.report.Marked, one.report.Unmarked = one.report.Misplaced, one.report.Stale
		one.report.Misplaced, one.report.Stale = 0, 0
	}
	return nil
}

// markWriter writes the marks of one agent.
type markWriter struct {
	a     *auditor
	of    *agent
	files map[int]*markFile // by the agent whose captures count
}

type markFile struct {
	vfs.File
	out *bufio.Writer
}

func (w *markWriter) name(wins int) string {
	return w.of.dir + "/" + MarksDir + "/" + w.a.agents[wins].id + marksSuffix
}

// file copies the lines of one archive file that become marks, by their offsets.
func (w *markWriter) file(serial uint32, wins map[int64]int) error {
	info, err := warc.FindFile(w.of.fsys, w.of.dir+"/"+layout.ArchiveDir, serial)
	if err != nil {
		return fmt.Errorf("audit: %w", err)
	}
	return w.of.lines(info, func(line []byte, said *cdxj.Line) error {
		to, ok := wins[said.Offset]
		if !ok {
			return nil
		}
		f, err := w.open(to)
		if err == nil {
			_, err = f.out.Write(line)
		}
		if err != nil {
			return fmt.Errorf("audit: %w", err)
		}
		return nil
	})
}

// temporary ends the name of a file that is being written.
const temporary = ".tmp"

func (w *markWriter) open(wins int) (*markFile, error) {
	if f := w.files[wins]; f != nil {
		return f, nil
	}
	if err := w.of.fsys.MkdirAll(w.of.dir + "/" + MarksDir); err != nil {
		return nil, err
	}
	f, err := w.of.fsys.Create(w.name(wins) + temporary)
	if err != nil {
		return nil, err
	}
	w.files[wins] = &markFile{f, bufio.NewWriterSize(f, 64<<10)}
	return w.files[wins], nil
}

// finish makes the files durable, puts them in the place of the old ones, and removes those that are no more.
func (w *markWriter) finish() error {
	for _, f := range w.files {
		if err := errors.Join(f.out.Flush(), f.Sync()); err != nil {
			return errors.Join(err, w.abandon())
		}
	}
	names, err := w.of.marks()
	if err != nil || len(names)+len(w.files) == 0 {
		return errors.Join(err, w.abandon())
	}
	var errs []error
	kept := map[string]bool{}
	for wins, f := range w.files {
		errs = append(errs, f.Close(), w.of.fsys.Rename(w.name(wins)+temporary, w.name(wins)))
		kept[w.a.agents[wins].id+marksSuffix] = true
	}
	for _, name := range names {
		if !kept[name] {
			errs = append(errs, vfs.RemoveIfExists(w.of.fsys, w.of.dir+"/"+MarksDir+"/"+name))
		}
	}
	return errors.Join(append(errs, w.of.fsys.SyncDir(w.of.dir+"/"+MarksDir), w.of.fsys.SyncDir(w.of.dir))...)
}

// abandon removes what was begun.
func (w *markWriter) abandon() error {
	var errs []error
	for wins, f := range w.files {
		errs = append(errs, f.Close(), vfs.RemoveIfExists(w.of.fsys, w.name(wins)+temporary))
	}
	return errors.Join(errs...)
}
