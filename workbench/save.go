package workbench

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"slices"
)

// ErrSnapshotOpen is returned if another Snapshot is not yet written or abandoned.
var ErrSnapshotOpen = errors.New("workbench: another snapshot is open")

// The kinds of records in an image.
const (
	recordHead    = 'H'
	recordChanges = 'C'
	recordIP      = 'I'
	recordSite    = 'S'
	recordEvicted = 'G'
	recordEnd     = 'E'
)

// Snapshot is the state of the workbench at one moment. Taking it needs the same short time for any size. It is written
// while the workbench is in use: before a site or a due time changes that is not written yet, touch copies it.
type Snapshot[S any] struct {
	w         *Workbench[S]
	site      func(dst []byte, s *S) []byte
	whole     bool // there is no snapshot that changes could follow
	copied    []byte
	scratch   []byte
	head      []byte
	chainHash uint64
	siteCount uint64 // sites written or copied
	ended     bool

	last, lastIP uint32  // the largest numbers of sites and entries
	total        int     // number of sites
	sites, ips   numbers // changed since the snapshot before
	dropped      []netip.Addr
	evicted      []uint32 // evicted since the snapshot before
	partial      bool     // incremental: only these are written
	atSite, atIP uint32   // last number that was written
	next, nextIP int      // positions in the sorted lists, if incremental
}

// Save writes a full snapshot: all sites with states, items, due times and notes, and the due times of IPs. A leased
// site is written as not leased, with the items of its Visit at the front of its queue. A Kill, Place or Unpark that
// waits for a Release is not included. Save is Snapshot and Write together. It returns ErrSnapshotOpen if another
// snapshot is open.
//
// site appends the encoded form of s to dst. It runs under the lock of the workbench, in any goroutine that needs it,
// and must not call the workbench. For a leased site it gets the Site from before the Visit.
func (w *Workbench[S]) Save(out io.Writer, site func(dst []byte, s *S) []byte) error {
	c, err := w.Snapshot(site)
	if err != nil {
		return err
	}
	return c.Write(out)
}

// Snapshot takes a snapshot. The caller must then call Write, WriteChanges or Abandon. For site see Save. It returns
// ErrSnapshotOpen if another snapshot is open.
func (w *Workbench[S]) Snapshot(site func(dst []byte, s *S) []byte) (*Snapshot[S], error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	h := &w.history
	if h.snapshot != nil {
		return nil, ErrSnapshotOpen
	}
	step := w.clock.skew - h.skew
	c := &Snapshot[S]{
		w: w, site: site, last: w.sites.last, lastIP: w.entries.last,
		whole: !h.recording || step > skewMax || step < -skewMax,
		sites: h.sites, ips: h.ips, dropped: h.dropped, evicted: h.evicted, total: w.known(),
	}
	h.sites, h.ips, h.dropped, h.evicted = h.spare[0], h.spare[1], nil, nil
	h.spare = [2]numbers{}
	c.head = binary.AppendVarint(c.head, w.clock.wall())
	c.head = binary.AppendUvarint(c.head, uint64(c.last))
	c.head = binary.AppendUvarint(c.head, w.leaseSeq)
	h.snapshot, h.recording = c, true
	return c, nil
}

// Whole reports whether the snapshot must be full, so that WriteChanges is impossible. This is so if there is no
// earlier snapshot, if the last one was incomplete, or if the wall clock has stepped.
func (c *Snapshot[S]) Whole() bool { return c.whole }

// Abandon ends the snapshot without writing it; the next one must be full. It does nothing after a Write.
func (c *Snapshot[S]) Abandon() {
	c.w.mu.Lock()
	defer c.w.mu.Unlock()
	if !c.ended {
		c.end()
		c.w.history.forget()
	}
}

// end removes the snapshot from the workbench. The next snapshot reuses its lists.
func (c *Snapshot[S]) end() {
	c.ended, c.copied = true, nil
	c.sites.clear()
	c.ips.clear()
	c.w.history.snapshot, c.w.history.spare = nil, [2]numbers{c.sites, c.ips}
}

// Write writes a full snapshot and ends it, also on error. It holds the lock while it copies some hundred KB at a time,
// but not during writes to out. It must be called only once. After an error the next snapshot must be full.
func (c *Snapshot[S]) Write(out io.Writer) error {
	return c.write(out, append([]byte{recordHead}, c.head...))
}

// WriteChanges is like Write, but writes only sites and IPs that changed since the snapshot before. Load needs that
// snapshot before this one. The cost is proportional to the changes. It panics if Whole returns true.
func (c *Snapshot[S]) WriteChanges(out io.Writer) error {
	if c.whole {
		panic("BUG: workbench: WriteChanges without an earlier complete snapshot")
	}
	c.prepare()
	head := binary.AppendUvarint([]byte{recordChanges}, c.w.history.chainHash)
	head = append(head, c.head...)
	for _, id := range c.evicted {
		head = binary.AppendUvarint(append(head, recordEvicted), uint64(id))
	}
	for _, addr := range c.dropped {
		head = appendDue(appendAddr(append(head, recordIP), addr), noDue)
	}
	return c.write(out, head)
}

// prepare sorts the lists of changes. From now on touch copies only what is in these lists.
func (c *Snapshot[S]) prepare() {
	c.w.mu.Lock()
	c.partial = true
	c.w.mu.Unlock()
	slices.Sort(c.sites.list)
	slices.Sort(c.ips.list)
}

func (c *Snapshot[S]) write(out io.Writer, b []byte) error {
	defer c.Abandon()
	_, err := io.WriteString(out, magic)
	for over := false; err == nil && !over; {
		b, over = c.collect(b)
		b, err = writeFrames(out, b, over, &c.chainHash)
	}
	if err != nil {
		return fmt.Errorf("workbench: writing a snapshot: %w", err)
	}
	c.finish()
	return nil
}

// finish ends a completely written snapshot, so that changes may follow it.
func (c *Snapshot[S]) finish() {
	c.w.mu.Lock()
	defer c.w.mu.Unlock()
	h := &c.w.history
	c.end()
	h.chainHash = c.chainHash
	if !c.partial {
		h.skew = c.w.clock.skew
	}
}

// snapshotStride is the number of sites that collect examines under one lock.
const snapshotStride = 1024

// collect appends the next sites and IPs to b, about one frame, and reports whether they were the last.
func (c *Snapshot[S]) collect(b []byte) (_ []byte, over bool) {
	w := c.w
	w.mu.Lock()
	defer w.mu.Unlock()
	if c.ended {
		panic("BUG: workbench: snapshot written twice")
	}
	b = append(b, c.copied...)
	c.copied = c.copied[:0]
	for seen := 0; len(b) < frameLen && seen < snapshotStride; seen++ {
		if id := c.nextEntry(); id != 0 {
			if !w.history.ips.has(id) {
				b = c.imageOfIP(b, id)
			}
			continue
		}
		id := c.nextSite()
		if id == 0 {
			b = binary.AppendUvarint(append(b, recordEnd), c.siteCount)
			return binary.AppendUvarint(b, uint64(c.total)), true
		}
		if !w.history.sites.has(id) && w.sites.at(id).id != 0 {
			b = c.imageOfSite(b, w.sites.at(id))
		}
	}
	return b, false
}

// nextEntry and nextSite return the next number to write, or 0 at the end.
func (c *Snapshot[S]) nextEntry() uint32 {
	c.atIP, c.nextIP = advance(c.atIP, c.lastIP, c.nextIP, c.ips.list, c.partial)
	if c.atIP > c.lastIP {
		return 0
	}
	return c.atIP
}

func (c *Snapshot[S]) nextSite() uint32 {
	c.atSite, c.next = advance(c.atSite, c.last, c.next, c.sites.list, c.partial)
	for c.atSite <= c.last && !c.w.sites.has(c.atSite) { // a gap: these numbers have no sites
		c.atSite = (c.atSite-1)/chunkLen*chunkLen + chunkLen
		c.atSite, c.next = advance(c.atSite, c.last, c.next, c.sites.list, c.partial)
	}
	if c.atSite > c.last {
		return 0
	}
	return c.atSite
}

// advance returns the next number: from the list, or up to last. At the end it returns last + 1.
func advance(at, last uint32, next int, list []uint32, partial bool) (uint32, int) {
	switch {
	case at > last:
		return at, next
	case !partial:
		return at + 1, next
	case next < len(list):
		return list[next], next + 1
	default:
		return last + 1, next
	}
}

func (c *Snapshot[S]) imageOfIP(b []byte, id uint32) []byte {
	e := c.w.entries.at(id)
	if e.state == unused || e.due == noDue {
		return b
	}
	b = appendAddr(append(b, recordIP), e.address())
	if n := e.noteValue(); n != 0 {
		return binary.AppendUvarint(binary.AppendVarint(append(b, dueNoted), e.due), uint64(n))
	}
	return appendDue(b, e.due)
}

func (c *Snapshot[S]) imageOfSite(b []byte, s *site[S]) []byte {
	c.siteCount++
	w := c.w
	b = binary.AppendUvarint(append(b, recordSite), uint64(s.id))
	b = appendBytes(b, w.keyOf(s))
	b = append(b, byte(s.placement), s.flags&flagParked)
	switch s.placement {
	case addressed:
		b = appendAddr(b, w.entries.at(s.entry).address())
	case deferred:
		b = appendDue(b, w.waiting[s.pos-1].due)
	default:
	}
	b = appendDue(b, s.due)
	b = binary.AppendUvarint(b, s.onDisk)
	c.scratch = c.site(c.scratch[:0], &s.data)
	b = appendBytes(b, c.scratch)
	return c.appendItems(b, s)
}

// appendItems appends the number of items, their size in bytes, and the items as in the ring. Items of a Visit come
// first, but after the items that PushFront added since.
func (c *Snapshot[S]) appendItems(b []byte, s *site[S]) []byte {
	var rest pathQueue
	if s.queue != nil {
		rest = *s.queue // reading changes only the copy
	}
	var whole pathQueue
	if l := c.w.leaseOf(s); l != nil {
		for range l.frontPushes {
			whole.pushBack(rest.popFront(nil))
		}
		for _, item := range l.items {
			whole.pushBack(item)
		}
	}
	b = binary.AppendUvarint(b, uint64(whole.count+rest.count))
	b = binary.AppendUvarint(b, uint64(whole.size+rest.size))
	return rest.appendRaw(whole.appendRaw(b))
}

func appendBytes(b, x []byte) []byte { return append(binary.AppendUvarint(b, uint64(len(x))), x...) }

func appendAddr(b []byte, addr netip.Addr) []byte { return appendBytes(b, addr.AsSlice()) }

// The byte before a due time.
const (
	dueNone  = 0
	dueGiven = 1
	dueNoted = 2 // a note follows the time
)

func appendDue(b []byte, due int64) []byte {
	if due == noDue {
		return append(b, dueNone)
	}
	return binary.AppendVarint(append(b, dueGiven), due)
}
