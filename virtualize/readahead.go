package virtualize

import "runtime/debug"

// upcoming is a block that will be read, and how many items of its queue are wanted from there on.
type upcoming struct {
	at     address
	key    uint64
	from   uint64 // ordinal of the first item that is not taken
	wanted int
}

// readAhead asks for the blocks that hold the next items of some queues: first for all slots, then for the bodies of
// these blocks and the slots of the next ones, and so on. All reads of a round go together, and it waits once for each.
func (q *queues) readAhead(keys []uint64, limit int) {
	round := q.log.ahead[:0]
	for _, key := range keys {
		if id, ok := q.idx.find(key); ok {
			if e := q.idx.at(id); e.disk > 0 && limit > 0 {
				round = append(round, upcoming{e.head, key, e.first, min(limit, int(e.disk))})
			}
		}
	}
	q.log.ahead = round
	for len(round) > 0 {
		for i := range round {
			q.log.expectSlot(round[i].at)
		}
		round = q.log.expectBodies(round)
	}
}

// expectSlot asks for the slot of a block, and for the next one, which says where the body ends.
func (l *blockLog) expectSlot(a address) {
	if s, i := l.segments.locate(a); s != nil && i < s.slots {
		n := int(min(i+2, s.slots))
		s.mapped.Expect(len(s.data)-n*slotBytes, (n-int(i))*slotBytes)
	}
}

// expectBodies asks for the bodies of a round, and returns the next round in the same memory. It ends the whole at a
// page that cannot be read, and a queue at a block that is not the right one: Take says what is wrong.
func (l *blockLog) expectBodies(round []upcoming) (next []upcoming) {
	var fault error
	defer func() {
		if fault != nil {
			next = nil
		}
	}()
	defer l.guard(reading, debug.SetPanicOnFault(true), &fault)
	next = round[:0]
	for _, u := range round {
		s, i := l.segments.locate(u.at)
		if s == nil {
			continue
		}
		sl, after, body, err := s.body(i)
		if end := sl.first + uint64(sl.items); err == nil && sl.key == u.key && sl.first <= u.from && u.from < end {
			s.mapped.Expect(int(sl.offset), len(body))
			l.expected++
			if u.wanted -= int(end - u.from); u.wanted > 0 && after != 0 {
				next = append(next, upcoming{after, u.key, end, u.wanted})
			}
		}
	}
	return next
}
