package engine

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"orbweaver/engine/seen"
	"orbweaver/warc"
)

// ledger is what has been done and can be proved: archive, journal, page digests, counters.
//
// Lock order: cut before commit. Every step of a traveller (a URL through the door, a Visit folded, a Page settled)
// happens under the shared side of cut and never waits there for anything but commit; the checkpointer takes the
// exclusive side and so sees every traveller in exactly one place.
type ledger struct {
	cut    sync.RWMutex
	line   line       // postings that wait to be written
	commit sync.Mutex // a record and its journal entry are written in one go, so their order is the same

	n       counters
	writer  *warc.Writer    // guarded by commit for appending
	journal *journal        // guarded by commit; replaced under the exclusive cut
	turned  []*journal      // guarded by commit: full pages of the journal, not yet synced
	ready   []*posting      // guarded by commit: writeAll's
	groups  []warc.Group    // guarded by commit: writeSome's
	entries []*journalEntry // guarded by commit: enter's
	seen    *seen.Map
	disk    *diskGuard
	slow    slowDisk
	dirty   bool  // guarded by commit: something was appended since the last sync
	lost    error // guarded by commit: a sync has failed; none is tried again, and nothing more is written
	syncing chan struct{}
	long    chan struct{} // capacity 1: the journal has so many entries that reading it would make a resume slow
	safe    journalEnd    // guarded by syncing: how far the journal is durable
	durable journalEnd    // guarded by commit: the same
	news    chan struct{} // guarded by commit: closed and replaced when durable or lost changes; nil if nobody waits
}

// journalEnd is a place in the journal.
type journalEnd struct {
	generation uint64
	length     int64
}

// note writes records that belong to no attempt, and gives their length in the archive, in bytes. Call it under the shared cut. On
// error nothing of it counts, and the same call may be repeated.
func (l *ledger) note(enc *warc.Encoder) (int64, error) {
	l.commit.Lock()
	defer l.commit.Unlock()
	if l.lost != nil {
		return 0, l.lost
	}
	pos, err := l.writer.Append(enc.Group())
	if err != nil {
		return 0, fmt.Errorf("engine: archive: %w", err)
	}
	l.dirty = true
	return pos.Length, nil
}

// page is the generation of the journal that is in use, nil before the first cut.
func (l *ledger) page() *journal {
	l.commit.Lock()
	defer l.commit.Unlock()
	return l.journal
}

// turnPage begins a new generation of the journal. The old one is synced and closed by the next group commit. Before the first there is
// nothing that a commit would have to see to.
func (l *ledger) turnPage(j *journal) {
	l.commit.Lock()
	defer l.commit.Unlock()
	if l.journal != nil {
		l.turned = append(l.turned, l.journal)
		l.dirty = true
		j.safe = l.journal.safe
	} else {
		l.durable = journalEnd{j.generation, j.size}
	}
	l.journal = j
}

// finishFiles finishes the archive's full files, and reads again what a resume has left unread. Pages are written meanwhile, and
// synced: this may take as long as reading a whole file.
func (l *ledger) finishFiles() error {
	if err := l.writer.Finish(); err != nil {
		return fmt.Errorf("engine: archive: %w", err)
	}
	return nil
}

// sync makes what was written durable. The archive goes first, so that the journal never names what
// is not there; then the journal, in the order in which it was written. One caller at a time works, the others wait.
func (l *ledger) sync() error {
	l.syncing <- struct{}{}
	defer func() { <-l.syncing }()
	l.commit.Lock()
	dirty, j, lost := l.dirty, l.journal, l.lost
	l.dirty = false
	if lost != nil || !dirty {
		l.commit.Unlock()
		return lost
	}
	end := journalEnd{j.generation, j.size}
	l.commit.Unlock()
	l.slow.begin(time.Now())
	err := l.syncInOrder(j)
	l.slow.end(time.Now())
	if err != nil {
		return l.lose(err)
	}
	l.safe = end
	l.commit.Lock()
	defer l.commit.Unlock()
	l.durable = end
	l.journal.safe = end
	l.tellNews()
	return nil
}

// lose ends all writing after a sync that failed, and takes out of the journal at once what came after the last good one: those
// bytes can be read, and the system may have dropped them all the same. So the next run does not believe in them, cuts the
// archive to what is journaled and fetches the rest again.
func (l *ledger) lose(err error) error {
	l.commit.Lock()
	defer l.commit.Unlock()
	errs := []error{err}
	for _, j := range append(slices.Clone(l.turned), l.journal) {
		var failed error
		switch {
		case j.generation < l.safe.generation:
		case j.generation == l.safe.generation:
			failed = j.file.Truncate(l.safe.length)
		default:
			failed = j.file.Truncate(0)
		}
		if failed != nil {
			errs = append(errs, fmt.Errorf("engine: journal: what was not synced could not be taken back: %w", failed))
		}
	}
	l.lost = causes(errs...)
	l.tellNews()
	return l.lost
}

func (l *ledger) syncInOrder(j *journal) error {
	if err := l.writer.Sync(); err != nil {
		return fmt.Errorf("engine: archive: %w", err)
	}
	return l.syncJournals(j)
}

// syncJournals syncs those that were turned, and then j, which was in use when the archive's sync began.
func (l *ledger) syncJournals(j *journal) error {
	for old := l.oldestTurned(); old != nil; old = l.oldestTurned() {
		if old == j {
			j = nil // turned while the archive was synced: what was in it then is durable with the old ones
		}
		err := old.sync()
		if err == nil {
			l.dropTurned()
			err = old.close()
		}
		if err != nil {
			return fmt.Errorf("engine: journal: %w", err)
		}
		if old == j {
			return nil // the page was turned meanwhile: it is closed now, and was what this call is about
		}
	}
	if j == nil {
		return nil
	}
	if err := j.sync(); err != nil {
		return fmt.Errorf("engine: journal: %w", err)
	}
	return nil
}

func (l *ledger) oldestTurned() *journal {
	l.commit.Lock()
	defer l.commit.Unlock()
	if len(l.turned) == 0 {
		return nil
	}
	return l.turned[0]
}

func (l *ledger) dropTurned() {
	l.commit.Lock()
	defer l.commit.Unlock()
	l.turned = l.turned[1:]
}

// close closes the journal. Nothing is written any more.
func (l *ledger) close() error {
	var errs []error
	for _, j := range append(l.turned, l.journal) {
		if j != nil {
			errs = append(errs, j.close())
		}
	}
	l.journal, l.turned = nil, nil
	return errors.Join(errs...)
}
