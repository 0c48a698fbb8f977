package workbench

import (
	"net/netip"
	"time"
)

// history records the changes between two snapshots, so that the next snapshot can be incremental.
type history[S any] struct {
	// recording is true if the last snapshot was complete or is still being written. Changes are then recorded.
	// Otherwise the next snapshot must be full, and nothing is recorded.
	recording bool
	sites     numbers // changed since the last snapshot
	ips       numbers // entries created or changed since then
	dropped   []netip.Addr
	evicted   []uint32 // numbers of sites evicted since then
	spare     [2]numbers

	open      *capture[S] // of the snapshot that is open, or nil
	chainHash uint64      // of the last complete snapshot
	skew      int64       // of the clock at the last full snapshot
}

// skewMax is the largest step of the wall clock for which the next snapshot may be incremental. A larger step makes the
// wall times in older snapshots wrong.
const skewMax = int64(time.Second)

// forget drops the recorded changes. The next snapshot will be full.
func (h *history[S]) forget() {
	h.recording = false
	h.sites.clear()
	h.ips.clear()
	h.dropped, h.evicted = nil, nil
}

// begin hands the recorded changes to a new snapshot and records those after it. last and lastIP are the largest
// numbers of sites and entries.
func (h *history[S]) begin(c *capture[S], last, lastIP uint32) {
	c.sites, c.ips = progress{changed: h.sites, last: last}, progress{changed: h.ips, last: lastIP}
	c.dropped, c.evicted = h.dropped, h.evicted
	h.sites, h.ips, h.dropped, h.evicted = h.spare[0], h.spare[1], nil, nil
	h.spare = [2]numbers{}
	h.open, h.recording = c, true
}

// end ends the open snapshot. The next one reuses its lists.
func (h *history[S]) end() {
	c := h.open
	c.copied = nil
	c.sites.changed.clear()
	c.ips.changed.clear()
	h.open, h.spare = nil, [2]numbers{c.sites.changed, c.ips.changed}
}

// touchEntry must be called before the due time of an IP changes, and after an entry is created. It copies the entry
// for the open snapshot if that has not written it yet.
func (h *history[S]) touchEntry(id uint32, e *entry) {
	if !h.recording || !h.ips.add(id) {
		return
	}
	if c := h.open; c != nil && c.ips.isPending(id, c.partial) {
		c.copied = e.appendImage(c.copied)
	}
}

// noteDropped records that an address loses its entry, and with it its due time.
func (h *history[S]) noteDropped(e *entry) {
	if h.recording && e.due != noDue {
		h.dropped = append(h.dropped, e.address())
	}
}

// noteAdded must be called before a free number is used. An open snapshot has no site of this number, or has already
// copied it.
func (h *history[S]) noteAdded(id uint32) {
	if h.recording {
		h.sites.add(id)
	}
}

// noteEvicted records that a number is free.
func (h *history[S]) noteEvicted(id uint32) {
	if h.recording {
		h.evicted = append(h.evicted, id)
	}
}

// numbers is a set of small numbers with a list of its elements in the order of insertion. clear costs at most O(number
// of elements).
type numbers struct {
	list []uint32
	bits []uint64
}

func (s *numbers) has(n uint32) bool {
	word := int(n / 64)
	return word < len(s.bits) && s.bits[word]&(1<<(n%64)) != 0
}

// add reports whether n is new.
func (s *numbers) add(n uint32) bool {
	word := int(n / 64)
	if word >= len(s.bits) {
		s.bits = append(s.bits, make([]uint64, word+1-len(s.bits)+word/4)...)
	}
	bit := uint64(1) << (n % 64)
	if s.bits[word]&bit != 0 {
		return false
	}
	s.bits[word] |= bit
	s.list = append(s.list, n)
	return true
}

func (s *numbers) clear() {
	if len(s.list) < len(s.bits) {
		for _, n := range s.list {
			s.bits[n/64] = 0
		}
	} else {
		clear(s.bits)
	}
	s.list = s.list[:0]
}
