package workbench

import (
	"net/netip"

	"orbweaver/internal/invariants"
)

// lease is what the workbench stores about a Visit that is out.
type lease[S any] struct {
	id          uint64
	site        uint32
	items       [][]byte // as in the Visit; immutable until Release
	buf         []byte   // the bytes of items
	frontPushes int      // items that PushFront added since: they precede the returned items
	dead        bool
	drop        func(item []byte) // the callback of the first Kill
	unparked    bool
	moveTo      netip.Addr
	updates     []func(*S)
}

// leaseTable holds the leases of all Visits that are out.
type leaseTable[S any] struct {
	slab[lease[S]]

	lastID uint64 // the id of the last lease
}

// open moves up to most items from the queue of the site into a new lease.
func (t *leaseTable[S]) open(s *site[S], most int) (number uint32, l *lease[S]) {
	number = t.allocate()
	l = t.at(number)
	t.lastID++
	l.id, l.site = t.lastID, s.id
	q := s.queue
	for q.Count() > 0 && len(l.items) < most {
		from := len(l.buf)
		l.buf = q.PopFront(l.buf)
		l.items = append(l.items, l.buf[from:len(l.buf):len(l.buf)])
	}
	// The buffer may have moved while it grew. Earlier items then point into the old array. This is safe: the array
	// belongs to this lease, and nothing writes to it before Release.
	q.Shrink()
	return number, l
}

// close ends a lease. The next lease reuses its buffers unless they are too large.
func (t *leaseTable[S]) close(number uint32) {
	l := t.at(number)
	invariants.Mangle(l.buf)
	buf, items, updates := l.buf[:0], l.items[:0], l.updates
	if cap(buf) > 16<<10 || cap(items) > 1024 {
		buf, items = nil, nil
	}
	clear(updates)
	*l = lease[S]{buf: buf, items: items, updates: updates[:0]}
	t.release(number)
}
