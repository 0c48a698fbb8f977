package journal

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"orbweaver/engine/net/outage"
	"orbweaver/engine/records/dedup"
	"orbweaver/engine/state/counters"
	"orbweaver/internal/vfs"
	"orbweaver/warc"
)

// Store is what has been done and can be proved: archive, journal, map of payloads, counters.
//
// Lock order: Steps before commit. A record and its journal entry are written under the commit lock in one go.
type Store struct {
	Steps  Steps
	queue  commitQueue // attempts that wait to be written
	commit sync.Mutex  // a record and its journal entry are written in one go, so their order is the same

	Count    counters.Live
	Writer   *warc.Writer // guarded by commit for appending
	Journal  *File        // guarded by commit; replaced while steps are stopped
	turned   []*File      // guarded by commit: journals of earlier generations, not yet synced
	ready    []*Pending   // guarded by commit: writeAll's
	groups   []warc.Group // guarded by commit: writeSome's
	entries  []*Entry     // guarded by commit: enter's
	Seen     *dedup.Map
	Disk     *outage.DiskGuard
	SlowSync SlowSync
	dirty    bool  // guarded by commit: something was appended since the last sync
	lost     error // guarded by commit: a sync has failed; none is tried again, and nothing more is written
	syncing  chan struct{}
	Long     chan struct{} // capacity 1: the journal has so many entries that reading it would make a resume slow
	safe     Position      // guarded by syncing: how far the journal is durable
	durable  durability    // guarded by commit
}

// NewStore returns a store without an archive and a journal: the caller sets Writer, Seen and Disk, and calls TurnTo.
func NewStore() *Store {
	return &Store{syncing: make(chan struct{}, 1), Long: make(chan struct{}, 1)}
}

// Position is a place in the journal.
type Position struct {
	generation uint64
	length     int64
}

// Note writes records that belong to no attempt, and gives their length in the archive, in bytes. Call it within a
// step. On error nothing of it counts, and the same call may be repeated.
func (l *Store) Note(enc *warc.Encoder) (int64, error) {
	l.commit.Lock()
	defer l.commit.Unlock()
	if l.lost != nil {
		return 0, l.lost
	}
	pos, err := l.Writer.Append(enc.Group())
	if err != nil {
		return 0, fmt.Errorf("journal: archive: %w", err)
	}
	l.dirty = true
	return pos.Length, nil
}

// Current is the generation of the journal that is in use, nil before the first checkpoint.
func (l *Store) Current() *File {
	l.commit.Lock()
	defer l.commit.Unlock()
	return l.Journal
}

// TurnTo begins a new generation of the journal. The old one is synced and closed by the next group commit. Before
// the first there is nothing that a commit would have to see to.
func (l *Store) TurnTo(j *File) {
	l.commit.Lock()
	defer l.commit.Unlock()
	if l.Journal != nil {
		l.turned = append(l.turned, l.Journal)
		l.dirty = true
		j.safe = l.Journal.safe
	} else {
		l.durable.journal = Position{j.generation, j.size}
	}
	l.Journal = j
}

// FinishFiles finishes the archive's full files, and reads again what a resume has left unread. Pages are written
// meanwhile, and synced: this may take as long as reading a whole file.
func (l *Store) FinishFiles() error {
	if err := l.Writer.Finish(); err != nil {
		return fmt.Errorf("journal: archive: %w", err)
	}
	return nil
}

// Sync makes what was written durable. The archive goes first, so that the journal never names what is not there; then
// the journals, in the order in which they were written. One caller at a time works, the others wait.
func (l *Store) Sync() error {
	l.syncing <- struct{}{}
	defer func() { <-l.syncing }()
	l.SlowSync.BeginWait(time.Now())
	l.commit.Lock()
	l.SlowSync.EndWait(time.Now())
	dirty, j, lost := l.dirty, l.Journal, l.lost
	l.dirty = false
	if lost != nil || !dirty {
		l.commit.Unlock()
		return lost
	}
	end, stored := Position{j.generation, j.size}, l.Writer.Checkpoint()
	l.commit.Unlock()
	began := time.Now()
	l.SlowSync.Begin(began)
	err := l.syncInOrder(j)
	ended := time.Now()
	l.SlowSync.End(ended)
	l.Count.Distributions.Sync.Observe(0, ended.Sub(began))
	if err != nil {
		return l.lose(err)
	}
	l.safe = end
	l.commit.Lock()
	defer l.commit.Unlock()
	l.durable.journal, l.durable.archive = end, stored
	l.Journal.safe = end
	l.durable.tell()
	return nil
}

// lose ends all writing after a sync that failed, and takes out of the journal at once what came after the last good
// one: those bytes can be read, and the system may have dropped them all the same. So the next run does not believe in
// them, cuts the archive to what is journaled and fetches the rest again.
func (l *Store) lose(err error) error {
	l.commit.Lock()
	defer l.commit.Unlock()
	errs := []error{err}
	for _, j := range append(slices.Clone(l.turned), l.Journal) {
		var failed error
		switch {
		case j.generation < l.safe.generation:
		case j.generation == l.safe.generation:
			failed = j.file.Truncate(l.safe.length)
		default:
			failed = j.file.Truncate(0)
		}
		if failed != nil {
			errs = append(errs, fmt.Errorf("journal: what was not synced could not be taken back: %w", failed))
		}
	}
	l.lost = vfs.JoinCauses(errs...)
	l.durable.tell()
	return l.lost
}

func (l *Store) syncInOrder(j *File) error {
	if err := l.Writer.Sync(); err != nil {
		return fmt.Errorf("journal: archive: %w", err)
	}
	return l.syncJournals(j)
}

// syncJournals syncs those that were turned, and then j, which was in use when the archive's sync began.
func (l *Store) syncJournals(j *File) error {
	for old := l.oldestTurned(); old != nil; old = l.oldestTurned() {
		if old == j {
			j = nil // turned while the archive was synced: what was in it then is durable with the old ones
		}
		err := old.sync()
		if err == nil {
			l.dropTurned()
			err = old.Close()
		}
		if err != nil {
			return fmt.Errorf("journal: %w", err)
		}
	}
	if j == nil {
		return nil
	}
	if err := j.sync(); err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	return nil
}

func (l *Store) oldestTurned() *File {
	l.commit.Lock()
	defer l.commit.Unlock()
	if len(l.turned) == 0 {
		return nil
	}
	return l.turned[0]
}

func (l *Store) dropTurned() {
	l.commit.Lock()
	defer l.commit.Unlock()
	l.turned = l.turned[1:]
}

// Close closes the journal. Nothing is written any more.
func (l *Store) Close() error {
	var errs []error
	for _, j := range append(l.turned, l.Journal) {
		if j != nil {
			errs = append(errs, j.Close())
		}
	}
	l.Journal, l.turned = nil, nil
	return errors.Join(errs...)
}
