package journal

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	"orbweaver/engine/state/limits"
	"orbweaver/engine/state/queued"
	"orbweaver/internal/notify"
	"orbweaver/warc"
)

// Pending is one attempt on its way into archive and journal. It belongs to a worker, which fills it in, writes it with
// Store.Write, and uses it again for the next attempt.
type Pending struct {
	Entry  Entry          // its place in the archive is filled in when it is written
	Group  warc.Group     // the records; the zero Group is none
	Claim  Claim          // the payload that the records are the first of; zero for none
	Page   bool           // counts as a page of limits
	limits *limits.Limits // of the crawl; nil for a worker that stores no pages

	pageTaken bool          // from the limits
	err       error         // set before done
	done      chan struct{} // capacity 1: another worker has written it
}

// NewPending returns a write for one worker; l may be nil for a worker that stores no pages.
func NewPending(l *limits.Limits) *Pending { return &Pending{limits: l, done: make(chan struct{}, 1)} }

// admit says, under the commit lock and before anything is written, why the attempt may not be written: the limit of
// pages is exact, and of two equal payloads only the first is stored whole, also of those that are written together.
func (p *Pending) admit(l *Store, before []*Pending) error {
	if l.lost != nil {
		return l.lost
	}
	if p.Claim.made {
		if slices.ContainsFunc(
			before,
			func(b *Pending) bool { return b.Claim.made && b.Claim.digest == p.Claim.digest },
		) {
			return ErrDuplicate
		}
		if err := p.Claim.check(l.Seen); err != nil {
			return err
		}
	}
	if p.Page {
		isRequisite := queued.IsRequisite(p.Entry.Embeds)
		if !p.limits.TakePage(isRequisite) {
			return ErrPageLimit
		}
		p.pageTaken = !isRequisite
	}
	return nil
}

// end tells the outcome of the writing: a page that was not written does not count.
func (p *Pending) end(l *Store, err error) {
	switch {
	case err == nil:
		p.Claim.enter(l)
	case p.pageTaken:
		p.limits.ReturnPage()
	}
	p.err, p.pageTaken = err, false
}

// commitQueue is where attempts wait for the commit lock. The first in it leads: its worker waits for the lock, and
// then writes all attempts that came meanwhile. So with many processors one hold of the lock writes many attempts, and
// with few no worker waits for others. The queue holds at most one attempt for each worker.
type commitQueue struct {
	mu      sync.Mutex
	waiting []*Pending
	spare   []*Pending // guarded by the commit lock: what waiting will be next
}

// join reports whether the attempt leads.
func (q *commitQueue) join(p *Pending) (leads bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.waiting = append(q.waiting, p)
	return len(q.waiting) == 1
}

// leave takes all attempts that wait, in order, the leader first. They belong to the leader until it releases the
// commit lock.
func (q *commitQueue) leave() []*Pending {
	q.mu.Lock()
	defer q.mu.Unlock()
	all := q.waiting
	q.waiting, q.spare = q.spare[:0], all
	return all
}

// Write writes the records of one attempt, if any, and its journal entry, or lets a worker that
// is writing already write them too. Call it within a step. After an error nothing of it counts, and the same Pending
// may be written again.
func (l *Store) Write(p *Pending) error {
	if p.Group.Len() > 0 {
		if err := l.Writer.Ready(p.Group); err != nil {
			return fmt.Errorf("journal: archive: %w", err)
		}
	}
	if !l.queue.join(p) {
		<-p.done
		return p.err
	}
	l.commit.Lock()
	defer l.commit.Unlock()
	all := l.queue.leave()
	l.writeAll(all)
	for _, other := range all[1:] {
		other.done <- struct{}{}
	}
	clear(all)
	return p.err
}

// writeAll writes attempts in order. The caller holds the commit lock.
func (l *Store) writeAll(all []*Pending) {
	ready := l.ready[:0]
	for _, p := range all {
		if p.err = p.admit(l, ready); p.err == nil {
			ready = append(ready, p)
		}
	}
	for rest := ready; len(rest) > 0; {
		n, err := l.writeSome(rest)
		for _, p := range rest[:n] {
			p.end(l, err)
		}
		rest = rest[n:]
	}
	clear(ready)
	l.ready = ready
}

// writeSome writes as many of the first attempts as go into the archive together, and their journal entries. An error
// is about those.
func (l *Store) writeSome(ps []*Pending) (n int, err error) {
	groups := l.groups[:0]
	bytes := 0
	for _, p := range ps {
		bytes += p.Entry.size()
		if p.Group.Len() > 0 {
			groups = append(groups, p.Group)
		}
	}
	l.groups = groups
	if err := l.Journal.reserve(bytes); err != nil {
		return len(ps), err
	}
	if len(groups) == 0 {
		return len(ps), l.enter(ps)
	}
	wrote, span, err := l.Writer.AppendAll(groups)
	clear(groups)
	offset := span.Offset
	for ; n < len(ps); n++ {
		e, size := &ps[n].Entry, ps[n].Group.Size()
		e.Serial, e.Offset, e.Length = 0, 0, 0
		if size == 0 {
			continue
		}
		if wrote--; wrote < 0 {
			break
		}
		e.Serial, e.Offset, e.Length = span.Serial+1, offset, size
		offset += size
	}
	if err != nil {
		return n, fmt.Errorf("journal: archive: %w", err)
	}
	if err := l.enter(ps[:n]); err != nil {
		l.Writer.Undo(span) // records that no entry names would be written twice
		return n, err
	}
	return n, nil
}

// enter writes journal entries.
func (l *Store) enter(ps []*Pending) error {
	entries := l.entries[:0]
	for _, p := range ps {
		entries = append(entries, &p.Entry)
	}
	l.dirty, l.entries = true, entries
	long := l.Journal.entries >= journalLong
	err := l.Journal.append(entries...)
	clear(entries)
	if err != nil {
		return err
	}
	if !long && l.Journal.entries >= journalLong {
		notify.Send(l.Long)
	}
	return nil
}

// ErrPageLimit says that the limit of pages is reached: nothing was written.
var ErrPageLimit = errors.New("journal: the limit of pages is reached")

// ErrDuplicate says that an equal payload was stored between the look-up and the writing: the records must be
// built again, as a revisit.
var ErrDuplicate = errors.New("journal: the payload was stored meanwhile")
