package journal

import (
	"path"

	"github.com/zeebo/xxh3"

	"orbweaver/engine/state/layout"
	"orbweaver/internal/outcome"
	"orbweaver/internal/vfs"
	"orbweaver/warc"
)

// Attempt is one attempt that was finished after the cut.
type Attempt struct {
	File    string // the journal, relative to the crawl directory
	Final   bool   // the URL is done: neither a retry nor a robots.txt
	Robots  bool
	FP      xxh3.Uint128
	Outcome outcome.Outcome
	Status  int
	Stored  bool          // Where means something
	Where   warc.Position // of its records
}

// Examine calls f for every entry of the journals from a generation on, in order, until f returns an error, and
// describes the ends of the files; the last may be one that does not follow the one before, and does not count. When
// the first file is missing the error wraps fs.ErrNotExist.
func Examine(fsys vfs.FS, dir string, generation uint64, f func(Attempt) error) ([]Tail, error) {
	var tails []Tail
	last := Position{generation: generation}
	examine := func(name string, end int64) error {
		t, err := TailOf(fsys, name, end, last)
		tails = append(tails, t)
		return err
	}
	read := map[string]bool{}
	stray, err := Each(fsys, dir, generation, func(name string) (int64, error) {
		file := layout.FrontierDir + "/" + path.Base(name)
		end, err := Read(fsys, name, func(e *Entry) error { return f(viewEntry(file, e)) })
		if err != nil {
			return end, err
		}
		read[name], last = true, Position{generation: generationOf(name), length: end}
		return end, examine(name, end)
	})
	if err == nil && stray != "" {
		read[stray] = true
		err = examine(stray, 0)
	}
	if err != nil {
		return tails, err
	}
	// A journal whose head is damaged looks empty, and so does one that has sync marks only.
	err = layout.EachGeneration(fsys, dir, func(name, kind string, g uint64) error {
		if kind != "journal-" || g <= generation || read[name] {
			return nil
		}
		at := last
		end, err := Read(fsys, name, func(*Entry) error { return nil })
		if err != nil {
			return err
		}
		if end > 0 {
			at = Position{generation: g, length: end}
		}
		t, err := TailOf(fsys, name, end, at)
		if t.Synced {
			tails = append(tails, t)
		}
		return err
	})
	return tails, err
}

func viewEntry(file string, e *Entry) Attempt {
	v := Attempt{
		File: file, Final: e.Kind == KindPage, Robots: e.Kind == KindRobots,
		FP: e.FP, Outcome: e.Outcome, Status: e.Status,
	}
	if e.Serial > 0 {
		v.Stored = true
		v.Where = warc.Position{Serial: e.Serial - 1, Offset: e.Offset, Length: e.Length}
	}
	return v
}
