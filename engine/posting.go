package engine

import (
	"fmt"
	"slices"
	"sync"

	"orbweaver/warc"
)

// posting is one attempt on its way into archive and journal. It belongs to a worker, who fills it in and writes it, and uses it again
// for the next.
type posting struct {
	entry  journalEntry // its place in the archive is filled in when it is written
	group  warc.Group   // the records; the zero Group is none
	plan   recordPlan   // of an attempt that brought no response: zero
	limits *limits      // of the crawl, if the plan counts a page

	taken bool          // a page of the limits
	err   error         // set before done
	done  chan struct{} // capacity 1: somebody else has written it
}

func newPosting(l *limits) *posting { return &posting{limits: l, done: make(chan struct{}, 1)} }

// admit says, under the commit lock and before anything is written, why the posting may not be written: the limit of pages
// is exact, and of two equal payloads only the first is stored whole, also of those that are written together.
func (p *posting) admit(l *ledger, before []*posting) error {
	if l.lost != nil {
		return l.lost
	}
	if p.plan.claims {
		if slices.ContainsFunc(before, func(b *posting) bool { return b.plan.claims && b.plan.digest == p.plan.digest }) {
			return errSeenMeanwhile
		}
		if err := p.plan.stillFirst(l.seen); err != nil {
			return err
		}
	}
	if p.plan.page {
		if !p.limits.takePage() {
			return errPagesEnough
		}
		p.taken = true
	}
	return nil
}

// end tells the outcome of the writing: a page that is not there was not taken.
func (p *posting) end(l *ledger, err error) {
	switch {
	case err == nil:
		p.plan.claim(l)
	case p.taken:
		p.limits.returnPage()
	}
	p.err, p.taken = err, false
}

// line is where postings wait for the commit lock. Who comes first leads: it waits for the lock, and then takes along all who came
// meanwhile. So with many processors the lock is held for the many, and with few nobody waits for company. There are never
// more in it than there are workers.
type line struct {
	mu      sync.Mutex
	waiting []*posting
	spare   []*posting // guarded by the commit lock: what waiting will be next
}

// join reports whether the posting leads.
func (q *line) join(p *posting) (leads bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.waiting = append(q.waiting, p)
	return len(q.waiting) == 1
}

// leave takes all who wait, in order, the leader first. They are the leader's until it holds the commit lock no longer.
func (q *line) leave() []*posting {
	q.mu.Lock()
	defer q.mu.Unlock()
	all := q.waiting
	q.waiting, q.spare = q.spare[:0], all
	return all
}

// write writes the records of one attempt, if any, and its journal entry, or lets somebody who does so already write them along.
// Call it under the shared cut. After an error nothing of it counts, and the same posting may be written again.
func (l *ledger) write(p *posting) error {
	if p.group.Len() > 0 {
		if err := l.writer.Ready(p.group); err != nil {
			return fmt.Errorf("engine: archive: %w", err)
		}
	}
	if !l.line.join(p) {
		<-p.done
		return p.err
	}
	l.commit.Lock()
	defer l.commit.Unlock()
	all := l.line.leave()
	l.writeAll(all)
	for _, other := range all[1:] {
		other.done <- struct{}{}
	}
	clear(all)
	return p.err
}

// writeAll writes postings in order. The caller holds the commit lock.
func (l *ledger) writeAll(all []*posting) {
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

// writeSome writes as many of the first postings as go into the archive together, and their journal entries. An error is about those.
func (l *ledger) writeSome(ps []*posting) (n int, err error) {
	groups := l.groups[:0]
	bytes := 0
	for _, p := range ps {
		bytes += p.entry.size()
		if p.group.Len() > 0 {
			groups = append(groups, p.group)
		}
	}
	l.groups = groups
	if err := l.journal.reserve(bytes); err != nil {
		return len(ps), err
	}
	if len(groups) == 0 {
		return len(ps), l.enter(ps)
	}
	wrote, span, err := l.writer.AppendAll(groups)
	clear(groups)
	offset := span.Offset
	for ; n < len(ps); n++ {
		e, size := &ps[n].entry, ps[n].group.Size()
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
		return n, fmt.Errorf("engine: archive: %w", err)
	}
	if err := l.enter(ps[:n]); err != nil {
		l.writer.Undo(span) // records that no entry names would be written twice
		return n, err
	}
	return n, nil
}

// enter writes journal entries.
func (l *ledger) enter(ps []*posting) error {
	entries := l.entries[:0]
	for _, p := range ps {
		entries = append(entries, &p.entry)
	}
	l.dirty, l.entries = true, entries
	long := l.journal.entries >= journalLong
	err := l.journal.append(entries...)
	clear(entries)
	if err != nil {
		return err
	}
	if !long && l.journal.entries >= journalLong {
		poke(l.long)
	}
	return nil
}
