package admission

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"sync/atomic"

	"orbweaver/engine/net/outage"
	"orbweaver/engine/page/filter"
	"orbweaver/engine/state/queued"
	"orbweaver/engine/store/crawllog"
	"orbweaver/engine/store/journal"
	"orbweaver/internal/urlx"
	"orbweaver/internal/vfs"
)

// SeedSource gives the URLs that a crawl starts from.
type SeedSource interface {
	// Each calls f for every seed with a name for its place ("seeds.txt:12"), until f returns an error.
	Each(f func(where string, url []byte) error) error
}

// ErrNoSeeds says that a new crawl has nothing to start from.
var ErrNoSeeds = errors.New("admission: no usable seed; give URLs as arguments or a file with --seeds")

// SeedsFile is the file that keeps the seeds of a crawl.
func SeedsFile(dir string) string { return dir + "/seeds" }

// LoadScope reads the kept seeds into the set from which the scope is computed, with those that were added since.
func LoadScope(fsys vfs.FS, dir string, seeds *filter.Seeds) error {
	added, err := readAddedSeeds(fsys, dir)
	if err != nil {
		return err
	}
	for line := range bytes.Lines(added) {
		if err := seeds.Add(bytes.TrimSuffix(line, []byte("\n"))); err != nil {
			return fmt.Errorf("admission: seeds: %w", err)
		}
	}
	f, err := fsys.Open(SeedsFile(dir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("admission: seeds: %w", err)
	}
	defer f.Close()
	var batch [][]byte
	flush := func() error {
		if err := seeds.AddAll(batch); err != nil {
			return fmt.Errorf("admission: seeds: %w", err)
		}
		batch = batch[:0]
		return nil
	}
	in := bufio.NewScanner(f)
	in.Buffer(nil, urlx.LengthMax+2)
	for in.Scan() {
		if batch = append(batch, bytes.Clone(in.Bytes())); len(batch) == 4096 {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	return errors.Join(flush(), in.Err())
}

// Seeder offers the kept seeds to the Frontier. After a kill it begins again: the sieve knows those that were added.
type Seeder struct {
	FS        vfs.FS
	Dir       string
	Steps     *journal.Steps
	Disk      *outage.DiskGuard
	Frontier  *Frontier
	Log       *crawllog.Log
	Done      *atomic.Bool
	WaitBegun func(ctx context.Context) error // returns when the agents that own the seeds are known
	Wake      func()                          // wakes the distributor
	Warn      func(msg string, args ...any)
}

// open waits for a file descriptor if there is none; no file and no error say that the crawl stops meanwhile.
func (s *Seeder) open(ctx context.Context) (vfs.File, error) {
	for {
		f, err := s.FS.Open(SeedsFile(s.Dir))
		if err == nil {
			return f, nil
		}
		err = s.Disk.Wait(ctx, fmt.Errorf("admission: seeds: %w", err))
		if errors.Is(err, outage.ErrFullAtStop) {
			return nil, nil //nolint:nilnil // the loop's ordinary end
		}
		if err != nil {
			return nil, err
		}
	}
}

// Run offers all seeds, sets Done and returns; it returns nil before that if ctx ends.
func (s *Seeder) Run(ctx context.Context) error {
	if s.Done.Load() {
		return nil
	}
	if s.WaitBegun(ctx) != nil {
		return nil
	}
	f, err := s.open(ctx)
	if f == nil {
		return err
	}
	defer f.Close()
	in := bufio.NewScanner(f)
	in.Buffer(nil, urlx.LengthMax+2)
	var d Scratch
	refused := 0
	for n := 0; in.Scan(); n++ {
		if s.Frontier.WaitRoom(ctx) != nil {
			return nil
		}
		s.Steps.Begin()
		if why := s.Frontier.Add(&d, in.Bytes(), queued.URL{Seed: true}); why != Belongs {
			s.Log.SeedRefused(in.Bytes(), why.Reason())
			if refused++; refused <= BadSeedsLogged {
				s.Warn("a seed does not belong to the crawl: 'crawl --dry-run' names the rule",
					"seed", string(in.Bytes()), "reason", why.String())
			}
		}
		s.Steps.End()
		if n%1024 == 0 {
			s.Wake()
		}
	}
	if err := in.Err(); err != nil {
		return fmt.Errorf("admission: seeds: %w", err)
	}
	if more := refused - BadSeedsLogged; more > 0 {
		s.Warn("more seeds do not belong to the crawl: 'orbweaver report DIR seeds' names all of them", "seeds", more)
	}
	s.Done.Store(true)
	s.Wake()
	return nil
}
