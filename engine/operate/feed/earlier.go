package feed

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"

	"github.com/zeebo/xxh3"

	"orbweaver/internal/vfs"
	"orbweaver/warc"
)

// errDamaged says that a file of the feed is damaged. The files are made again from the archive.
var errDamaged = errors.New("damaged")

const (
	// recentMost is how many versions are in memory before they become a run. They take about 10 MB.
	recentMost = 1 << 16
	// runsMerged is how many runs of one level become one of the next.
	runsMerged = 4

	stateFile = "state.json"
	runPrefix = "run-"
)

// earlierStates knows what each URL was at each place of the archive, up to an end. It is a cache: all of it can be
// made again from the archive. The newest versions are in memory, the others in runs on disk: at most three of each
// level.
type earlierStates struct {
	fsys vfs.FS
	dir  string

	end    warc.Checkpoint // versions before it are known
	recent map[xxh3.Uint128][]version
	count  int // of recent
	most   int // versions in recent: recentMost, except in tests
	runs   []*run
	next   uint64
	block  []byte
}

// savedState is what the directory holds.
type savedState struct {
	Form int             `json:"form"`
	End  warc.Checkpoint `json:"end"`
	Next uint64          `json:"next"`
	Runs []runInfo       `json:"runs"`
}

const savedForm = 2

// openStates opens the files in dir. It begins with nothing if they are missing or damaged.
func openStates(fsys vfs.FS, dir string, most int) (*earlierStates, error) {
	if err := fsys.MkdirAll(dir); err != nil {
		return nil, fmt.Errorf("feed: %w", err)
	}
	s := &earlierStates{
		fsys: fsys, dir: dir, recent: map[xxh3.Uint128][]version{}, most: most, block: make([]byte, blockBytes),
	}
	err := s.load()
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, errDamaged):
		return s, s.restart()
	case err != nil:
		return nil, errors.Join(fmt.Errorf("feed: %w", err), s.close())
	}
	return s, s.sweep()
}

func (s *earlierStates) load() error {
	text, err := vfs.ReadFile(s.fsys, s.dir+"/"+stateFile)
	if err != nil {
		return err
	}
	var saved savedState
	if err := json.Unmarshal(text, &saved); err != nil || saved.Form != savedForm {
		return errDamaged
	}
	for _, info := range saved.Runs {
		r, err := openRun(s.fsys, s.runName(info.Number), info)
		if err != nil {
			return err
		}
		s.runs = append(s.runs, r)
	}
	s.end, s.next = saved.End, saved.Next
	return nil
}

// restart forgets everything.
func (s *earlierStates) restart() error {
	err := s.close()
	s.runs, s.end, s.count = nil, warc.Checkpoint{}, 0
	clear(s.recent)
	return errors.Join(err, vfs.RemoveIfExists(s.fsys, s.dir+"/"+stateFile), s.sweep())
}

// sweep removes files that are not part of the state.
func (s *earlierStates) sweep() error {
	names, err := s.fsys.List(s.dir)
	if err != nil {
		return fmt.Errorf("feed: %w", err)
	}
	for _, name := range names {
		used := name == stateFile || slices.ContainsFunc(s.runs, func(r *run) bool {
			return s.runName(r.Number) == s.dir+"/"+name
		})
		if !used && strings.HasPrefix(name, runPrefix) {
			err = errors.Join(err, s.fsys.Remove(s.dir+"/"+name))
		}
	}
	return err
}

func (s *earlierStates) runName(number uint64) string {
	return fmt.Sprintf("%s/%s%06d", s.dir, runPrefix, number)
}

// add adds the version of the next record.
func (s *earlierStates) add(v version) error {
	s.recent[v.url] = append(s.recent[v.url], v)
	if s.count++; s.count < s.most {
		return nil
	}
	return s.flush()
}

// before returns what a URL was last, before a place.
func (s *earlierStates) before(url xxh3.Uint128, place uint64) (last version, ok bool, err error) {
	for _, v := range s.recent[url] {
		if v.place < place && (!ok || v.place > last.place) {
			last, ok = v, true
		}
	}
	for _, r := range s.runs {
		v, found, err := r.last(s.block, url, place)
		if err != nil {
			return last, false, err
		}
		if found && (!ok || v.place > last.place) {
			last, ok = v, true
		}
	}
	return last, ok, nil
}

// flush makes a run of the recent versions, and merges runs. After an error they are still in memory.
func (s *earlierStates) flush() error {
	sorted := make([]version, 0, s.count)
	for _, versions := range s.recent {
		sorted = append(sorted, versions...)
	}
	slices.SortFunc(sorted, compareVersions)
	made, err := s.makeRun(0, func(add func(version)) error {
		for _, v := range sorted {
			add(v)
		}
		return nil
	})
	if err != nil {
		return err
	}
	s.runs = append(s.runs, made)
	if err := s.save(); err != nil {
		return err
	}
	s.recent, s.count = map[xxh3.Uint128][]version{}, 0
	return s.merge()
}

// makeRun makes a run of a level.
func (s *earlierStates) makeRun(level int, fill func(add func(version)) error) (*run, error) {
	number := s.next
	s.next++
	info, err := writeRun(s.fsys, s.runName(number), runInfo{Number: number, Level: level}, fill)
	if err != nil {
		return nil, fmt.Errorf("feed: %w", err)
	}
	r, err := openRun(s.fsys, s.runName(number), info)
	if err != nil {
		return nil, fmt.Errorf("feed: %w", err)
	}
	return r, nil
}

// merge makes one run of all of a level, as long as a level has too many.
func (s *earlierStates) merge() error {
	for level := 0; ; level++ {
		var same, others []*run
		higher := false
		for _, r := range s.runs {
			if r.Level == level {
				same = append(same, r)
			} else {
				others = append(others, r)
				higher = higher || r.Level > level
			}
		}
		if len(same) >= runsMerged {
			made, err := s.makeRun(level+1, func(add func(version)) error { return mergeRuns(same, add) })
			if err != nil {
				return err
			}
			s.runs = append(others, made)
			if err := s.save(); err != nil {
				return err
			}
			for _, r := range same {
				err = errors.Join(err, r.file.Close(), s.fsys.Remove(s.runName(r.Number)))
			}
			if err != nil {
				return fmt.Errorf("feed: %w", err)
			}
			higher = true
		}
		if !higher {
			return nil
		}
	}
}

// save writes what the directory holds. Recent versions must be in runs.
func (s *earlierStates) save() error {
	saved := savedState{Form: savedForm, End: s.end, Next: s.next}
	for _, r := range s.runs {
		saved.Runs = append(saved.Runs, r.runInfo)
	}
	err := vfs.WriteAtomic(s.fsys, s.dir+"/"+stateFile, func(w io.Writer) error {
		return json.NewEncoder(w).Encode(saved)
	})
	if err != nil {
		return fmt.Errorf("feed: %w", err)
	}
	return nil
}

// finish writes what is in memory, if it would take long to make it again, and closes the files.
func (s *earlierStates) finish() (err error) {
	if s.count >= s.most/runsMerged {
		err = s.flush()
	}
	return errors.Join(err, s.close())
}

// close closes the files.
func (s *earlierStates) close() (err error) {
	for _, r := range s.runs {
		err = errors.Join(err, r.file.Close())
	}
	s.runs = nil
	return err
}
