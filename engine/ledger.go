package engine

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"syscall"
	"time"

	"orbweaver/engine/seen"
	"orbweaver/internal/vfs"
	"orbweaver/warc"
)

// ledger is what has been done and can be proved: archive, journal, page digests, counters.
//
// Lock order: cut before commit. Every step of a traveller (a URL through the door, a Visit folded, a Page settled)
// happens under the shared side of cut and never waits there for anything but commit; the checkpointer takes the
// exclusive side and so sees every traveller in exactly one place.
type ledger struct {
	cut    sync.RWMutex
	commit sync.Mutex // a record and its journal entry are written in one go, so their order is the same

	n       counters
	writer  *warc.Writer // guarded by commit for appending
	journal *journal     // guarded by commit; replaced under the exclusive cut
	turned  []*journal   // guarded by commit: full pages of the journal, not yet synced
	seen    *seen.Map
	disk    *diskGuard
	dirty   bool // guarded by commit: something was appended since the last sync
	syncing chan struct{}
	long    chan struct{} // capacity 1: the journal has so many entries that reading it would make a resume slow
}

// write writes the records of one attempt, if any, and its journal entry. Call it under the shared cut. On error
// nothing of it counts, and the same call may be repeated. admit runs before anything is written and may refuse; written runs
// after, still under the commit lock.
func (l *ledger) write(enc *warc.Encoder, e *journalEntry, admit func() error, written func()) error {
	l.commit.Lock()
	defer l.commit.Unlock()
	if admit != nil {
		if err := admit(); err != nil {
			return err
		}
	}
	if err := l.journal.reserve(len(e.Links)); err != nil {
		return err
	}
	if enc != nil {
		pos, err := l.writer.Append(enc.Group())
		if err != nil {
			return fmt.Errorf("engine: archive: %w", err)
		}
		e.Serial, e.Offset, e.Length = pos.Serial+1, pos.Offset, pos.Length
	}
	l.dirty = true
	if err := l.journal.append(e); err != nil {
		return err
	}
	if l.journal.entries == journalLong {
		poke(l.long)
	}
	if written != nil {
		written()
	}
	return nil
}

// page is the generation of the journal that is in use, nil before the first cut.
func (l *ledger) page() *journal {
	l.commit.Lock()
	defer l.commit.Unlock()
	return l.journal
}

// turnPage begins a new generation of the journal. The old one is synced and closed by the next group commit.
func (l *ledger) turnPage(j *journal) {
	l.commit.Lock()
	defer l.commit.Unlock()
	if l.journal != nil {
		l.turned = append(l.turned, l.journal)
		l.dirty = true
	}
	l.journal = j
}

// sync makes what was written durable: the group commit. The archive goes first, so that the journal never names what
// is not there; then the journal, in the order in which it was written. One caller at a time works, the others wait.
func (l *ledger) sync() error {
	l.syncing <- struct{}{}
	defer func() { <-l.syncing }()
	l.commit.Lock()
	dirty, j := l.dirty, l.journal
	l.dirty = false
	l.commit.Unlock()
	if !dirty {
		return nil
	}
	err := l.syncInOrder(j)
	if err != nil {
		l.commit.Lock()
		l.dirty = true
		l.commit.Unlock()
	}
	return err
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

// diskGuard decides what a failed write means: a full disk pauses the crawl until there is room; anything else ends it.
type diskGuard struct {
	fs   vfs.FS
	dir  string
	gate *gate
	need int64 // bytes that must be free before work goes on
	say  func(msg string, args ...any)
}

const (
	diskFullReason = "disk full"
	diskRecheck    = time.Second
	diskNeed       = 64 << 20
)

func isDiskFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}

// wait returns nil when the write that failed with err may be tried again, or the error that is to end the crawl.
func (d *diskGuard) wait(ctx context.Context, err error) error {
	if !isDiskFull(err) {
		return err
	}
	if d.gate.Shut(diskFullReason) {
		d.say("disk full: the crawl is paused and goes on by itself when there is room",
			"dir", d.dir, "needs_bytes", d.need, "error", err)
	}
	tick := time.NewTicker(diskRecheck)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("engine: stopped while the disk was full: %w", err)
		}
		if free, ferr := d.fs.Free(d.dir); ferr == nil && free >= d.need {
			if d.gate.Open(diskFullReason) {
				d.say("there is room on the disk again", "dir", d.dir, "free_bytes", free)
			}
			return nil
		}
	}
}
