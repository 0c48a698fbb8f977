package virtualize

// set is a set of entry numbers, one bit each.
type set []uint64

// has returns false for numbers beyond the length of the set.
func (s set) has(id uint32) bool {
	return int(id>>6) < len(s) && s[id>>6]>>(id&63)&1 != 0
}

func (s set) add(id uint32) { s[id>>6] |= 1 << (id & 63) }

func (s set) remove(id uint32) {
	if int(id>>6) < len(s) {
		s[id>>6] &^= 1 << (id & 63)
	}
}

// addBelow adds all numbers below n.
func (s set) addBelow(n uint32) {
	for i := range n >> 6 {
		s[i] = ^uint64(0)
	}
	if n&63 != 0 {
		s[n>>6] |= 1<<(n&63) - 1
	}
}

// changes are the queues that the next snapshot must contain: all that changed since the last complete one.
type changes struct {
	queues  set
	spare   set      // empty: alternates with queues; nil while a snapshot uses it
	deleted []uint64 // keys of deleted queues; some may exist again
}

// grow makes the sets long enough for this number of words.
func (c *changes) grow(words int) {
	for len(c.queues) < words {
		c.queues = append(c.queues, make(set, words-len(c.queues))...)
		c.spare = append(c.spare, make(set, words-len(c.spare))...)
	}
}

// begin returns the changes for a new snapshot, and continues with none.
func (c *changes) begin() (queues set, deleted []uint64) {
	queues, deleted = c.queues, c.deleted
	if len(c.spare) < len(queues) {
		c.spare = make(set, len(queues))
	}
	*c = changes{queues: c.spare}
	return queues, deleted
}

// adopt adds the changes of a snapshot that was not completed.
func (c *changes) adopt(queues set, deleted []uint64) {
	for i, w := range queues {
		c.queues[i] |= w
	}
	c.deleted = append(deleted, c.deleted...)
}

// bytes returns the approximate memory in bytes.
func (c *changes) bytes() int64 { return int64(cap(c.queues)+cap(c.spare)+cap(c.deleted)) * 8 }

// image contains the queues of an open snapshot that are not yet written. They must be copied before they change. The
// zero image contains none.
type image struct {
	queues      set    // the changed queues; those with numbers below next are copied
	next        uint32 // the next entry to examine
	entryCount  uint32 // number of entries at the snapshot
	copied      bool   // everything is copied
	open        bool
	copiedEarly []byte // records of queues that changed before they were written
}

// mustCopy reports whether a queue must be copied in its current state.
func (im *image) mustCopy(id uint32) bool { return !im.copied && id >= im.next && im.queues.has(id) }

// end ends the snapshot.
func (im *image) end() { *im = image{} }

// bytes returns the approximate memory in bytes.
func (im *image) bytes() int64 { return int64(cap(im.queues))*8 + int64(cap(im.copiedEarly)) }
