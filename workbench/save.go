package workbench

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"slices"
)

// ErrSaving says that a Cut is already being written.
var ErrSaving = errors.New("workbench: another snapshot is being written")

// The kinds of records in an image.
const (
	recordHead    = 'H'
	recordChanges = 'C'
	recordIP      = 'I'
	recordSite    = 'S'
	recordGone    = 'G'
	recordEnd     = 'E'
)

// Cut is a snapshot of the bench as it was at one moment. Making it is quick whatever the bench holds; it is written
// while the bench goes on: whatever is about to change a site (or an IP's due time) that has not been written yet first
// puts its image aside.
type Cut[S any] struct {
	w       *Workbench[S]
	site    func(dst []byte, s *S) []byte
	whole   bool // there is no image that changes could follow
	aside   []byte
	scratch []byte
	head    []byte
	stamp   uint64
	made    uint64 // images of sites
	done    bool

	last, lastIP uint32  // the bounds of sites and entries
	total        int     // sites
	sites, ips   numbers // changed since the cut before
	dropped      []netip.Addr
	gone         []uint32 // evicted since the cut before
	partial      bool     // only these are written
	atSite, atIP uint32   // so far it has come
	next, nextIP int      // in the lists, sorted, if only changes are written
}

// Save writes a whole snapshot: all sites with their states, items, due times and notes, and the due times of IPs. Items
// of a Visit that is out are in front of their site's queue again, and the site counts as not leased; a Kill, Place or
// Unpark that waits for a Release is not part of it. It is Cut and Write in one; ErrSaving if another is under way.
//
// site appends the form of s to dst; it is called under the bench's lock, by whichever goroutine needs the image, and
// must not call the bench. For a leased site it is given what the Visit went out with.
func (w *Workbench[S]) Save(out io.Writer, site func(dst []byte, s *S) []byte) error {
	c, err := w.Cut(site)
	if err != nil {
		return err
	}
	return c.Write(out)
}

// Cut marks the moment of a snapshot. Write, WriteChanges or Abandon must follow. See Save for site, and ErrSaving.
func (w *Workbench[S]) Cut(site func(dst []byte, s *S) []byte) (*Cut[S], error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	h := &w.history
	if h.cut != nil {
		return nil, ErrSaving
	}
	step := w.clock.skew - h.skew
	c := &Cut[S]{
		w: w, site: site, last: w.sites.last, lastIP: w.entries.last, whole: !h.listing || step > skewMax || step < -skewMax,
		sites: h.sites, ips: h.ips, dropped: h.dropped, gone: h.gone, total: w.known(),
	}
	h.sites, h.ips, h.dropped, h.gone = h.spare[0], h.spare[1], nil, nil
	h.spare = [2]numbers{}
	c.head = binary.AppendVarint(c.head, w.clock.wall())
	c.head = binary.AppendUvarint(c.head, uint64(c.last))
	c.head = binary.AppendUvarint(c.head, w.leaseSeq)
	h.cut, h.listing = c, true
	return c, nil
}

// Whole says that WriteChanges is impossible: nothing was written yet that changes could follow, or the last image was not
// completed, or the wall clock has stepped, which moves all due times of older images.
func (c *Cut[S]) Whole() bool { return c.whole }

// Abandon gives the cut up; the next one must be whole. It does nothing after a Write.
func (c *Cut[S]) Abandon() {
	c.w.mu.Lock()
	defer c.w.mu.Unlock()
	if !c.done {
		c.end()
		c.w.history.forget()
	}
}

// end takes the cut from the bench. Its lists serve another one.
func (c *Cut[S]) end() {
	c.done, c.aside = true, nil
	c.sites.clear()
	c.ips.clear()
	c.w.history.cut, c.w.history.spare = nil, [2]numbers{c.sites, c.ips}
}

// Write writes all of the snapshot and ends the cut, whether it succeeds or not. It holds the bench's lock while it copies
// some hundred KB at a time, never while it writes. A cut is written once. If it fails, the next cut must be whole.
func (c *Cut[S]) Write(out io.Writer) error {
	return c.write(out, append([]byte{recordHead}, c.head...))
}

// WriteChanges is Write, but of those sites and IPs only that were changed since the cut before, whose image it follows
// when they are loaded. It costs what has changed. It must not be called if Whole.
func (c *Cut[S]) WriteChanges(out io.Writer) error {
	if c.whole {
		panic("BUG: workbench: changes of an image that was not written")
	}
	c.begin()
	head := binary.AppendUvarint([]byte{recordChanges}, c.w.history.stamp)
	head = append(head, c.head...)
	for _, id := range c.gone {
		head = binary.AppendUvarint(append(head, recordGone), uint64(id))
	}
	for _, addr := range c.dropped {
		head = appendDue(appendAddr(append(head, recordIP), addr), noDue)
	}
	return c.write(out, head)
}

// begin brings what is to be written into order. From here on only that is put aside.
func (c *Cut[S]) begin() {
	c.w.mu.Lock()
	c.partial = true
	c.w.mu.Unlock()
	slices.Sort(c.sites.list)
	slices.Sort(c.ips.list)
}

func (c *Cut[S]) write(out io.Writer, b []byte) error {
	defer c.Abandon()
	_, err := io.WriteString(out, magic)
	for over := false; err == nil && !over; {
		b, over = c.collect(b)
		b, err = writeFrames(out, b, over, &c.stamp)
	}
	if err != nil {
		return fmt.Errorf("workbench: writing a snapshot: %w", err)
	}
	c.finish()
	return nil
}

// finish ends a cut that is wholly written: changes may follow it.
func (c *Cut[S]) finish() {
	c.w.mu.Lock()
	defer c.w.mu.Unlock()
	h := &c.w.history
	c.end()
	h.stamp = c.stamp
	if !c.partial {
		h.skew = c.w.clock.skew
	}
}

// stride is how many sites are looked at under the lock in one go.
const stride = 1024

// collect appends the next images to b, about a frame's worth, and says whether they were the last.
func (c *Cut[S]) collect(b []byte) (_ []byte, over bool) {
	w := c.w
	w.mu.Lock()
	defer w.mu.Unlock()
	if c.done {
		panic("BUG: workbench: a cut written twice")
	}
	b = append(b, c.aside...)
	c.aside = c.aside[:0]
	for seen := 0; len(b) < frameLen && seen < stride; seen++ {
		if id := c.nextEntry(); id != 0 {
			if !w.history.ips.has(id) {
				b = c.imageOfIP(b, id)
			}
			continue
		}
		id := c.nextSite()
		if id == 0 {
			b = binary.AppendUvarint(append(b, recordEnd), c.made)
			return binary.AppendUvarint(b, uint64(c.total)), true
		}
		if !w.history.sites.has(id) && w.sites.at(id).id != 0 {
			b = c.imageOfSite(b, w.sites.at(id))
		}
	}
	return b, false
}

// nextEntry and nextSite go on to what is to be written next; 0 when that was all.
func (c *Cut[S]) nextEntry() uint32 {
	c.atIP, c.nextIP = advance(c.atIP, c.lastIP, c.nextIP, c.ips.list, c.partial)
	if c.atIP > c.lastIP {
		return 0
	}
	return c.atIP
}

func (c *Cut[S]) nextSite() uint32 {
	c.atSite, c.next = advance(c.atSite, c.last, c.next, c.sites.list, c.partial)
	for c.atSite <= c.last && !c.w.sites.has(c.atSite) { // a gap: nobody has these numbers
		c.atSite = (c.atSite-1)/chunkLen*chunkLen + chunkLen
		c.atSite, c.next = advance(c.atSite, c.last, c.next, c.sites.list, c.partial)
	}
	if c.atSite > c.last {
		return 0
	}
	return c.atSite
}

// advance goes from one number to the next, in the list or up to last, and beyond last at the end.
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

func (c *Cut[S]) imageOfIP(b []byte, id uint32) []byte {
	e := c.w.entries.at(id)
	if e.state == unused || e.due == noDue {
		return b
	}
	b = appendAddr(append(b, recordIP), e.address())
	if n := e.noted(); n != 0 {
		return binary.AppendUvarint(binary.AppendVarint(append(b, dueNoted), e.due), uint64(n))
	}
	return appendDue(b, e.due)
}

func (c *Cut[S]) imageOfSite(b []byte, s *site[S]) []byte {
	c.made++
	w := c.w
	b = binary.AppendUvarint(append(b, recordSite), uint64(s.id))
	b = appendBytes(b, w.keyOf(s))
	b = append(b, byte(s.at), s.flags&flagParked)
	switch s.at {
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

// appendItems appends the number of items, their size in the form of the ring, and them, those in the Visit put back in
// front (but behind what was pushed to the front since).
func (c *Cut[S]) appendItems(b []byte, s *site[S]) []byte {
	var rest pathQueue
	if s.queue != nil {
		rest = *s.queue // reading moves only the copy's head
	}
	var whole pathQueue
	if l := c.w.leaseOf(s); l != nil {
		for range l.fronts {
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

// What stands before a due time.
const (
	dueNone  = 0
	dueGiven = 1
	dueNoted = 2 // a note follows it
)

func appendDue(b []byte, due int64) []byte {
	if due == noDue {
		return append(b, dueNone)
	}
	return binary.AppendVarint(append(b, dueGiven), due)
}
