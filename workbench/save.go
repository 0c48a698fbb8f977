package workbench

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net/netip"
)

// ErrSaving says that a Cut is already being written.
var ErrSaving = errors.New("workbench: another snapshot is being written")

// The kinds of records in a snapshot.
const (
	recordHead = 'H'
	recordIP   = 'I'
	recordSite = 'S'
	recordEnd  = 'E'
)

// Cut is a snapshot of the bench as it was at one moment. Making it is quick whatever the bench holds; it is written
// while the bench goes on: whatever is about to change a site (or an IP's due time) that has not been written yet first
// puts its image aside.
type Cut[S any] struct {
	w       *Workbench[S]
	site    func(dst []byte, s *S) []byte
	aside   []byte
	scratch []byte
	head    []byte
	last    uint32 // the youngest site
	ips     int    // bound of entry ids
	sites   uint64 // images made
	done    bool
}

// Save writes a snapshot: all sites with their states, items, due times and notes, and the due times of IPs. Items of a
// Visit that is out are in front of their site's queue again, and the site counts as not leased; a Kill, Place or Unpark
// that waits for a Release is not part of it. It is Cut and Write in one; ErrSaving if another is under way.
//
// site appends the form of s to dst; it is called under the bench's lock, by whichever goroutine needs the image, and
// must not call the bench. For a leased site it is given the (shallow) copy that was made when the Visit went out, so its
// holder may meanwhile change the Site's fields, but not what they point to.
func (w *Workbench[S]) Save(out io.Writer, site func(dst []byte, s *S) []byte) error {
	c, err := w.Cut(site)
	if err != nil {
		return err
	}
	return c.Write(out)
}

// Cut marks the moment of a snapshot. Write or Abandon must follow. See Save for site, and ErrSaving.
func (w *Workbench[S]) Cut(site func(dst []byte, s *S) []byte) (*Cut[S], error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.cut != nil {
		return nil, ErrSaving
	}
	c := &Cut[S]{w: w, site: site, last: w.last, ips: len(w.entries)}
	c.head = binary.AppendVarint(append(c.head, recordHead), w.clock.wall())
	c.head = binary.AppendUvarint(c.head, uint64(w.last))
	c.head = binary.AppendUvarint(c.head, w.leaseSeq)
	w.cut = c
	w.epoch++
	return c, nil
}

// Abandon gives the cut up. It does nothing after Write.
func (c *Cut[S]) Abandon() {
	c.w.mu.Lock()
	defer c.w.mu.Unlock()
	c.end()
}

func (c *Cut[S]) end() {
	if !c.done {
		c.done, c.aside = true, nil
		c.w.cut = nil
	}
}

// Write writes the snapshot and ends the cut, whether it succeeds or not. It holds the bench's lock while it copies some
// hundred KB at a time, never while it writes. A cut is written once.
func (c *Cut[S]) Write(out io.Writer) error {
	defer c.Abandon()
	if _, err := io.WriteString(out, magic); err != nil {
		return fmt.Errorf("workbench: writing a snapshot: %w", err)
	}
	var p progress
	for b := c.head; ; {
		b = c.collect(b, &p)
		rest, err := writeFrames(out, b, p.over)
		if err != nil {
			return fmt.Errorf("workbench: writing a snapshot: %w", err)
		}
		if p.over {
			return nil
		}
		b = append(b[:0], rest...)
	}
}

// progress is how far Write has come.
type progress struct {
	ip, site int
	over     bool
}

// collect appends the next images to b, about a frame's worth.
func (c *Cut[S]) collect(b []byte, p *progress) []byte {
	w := c.w
	w.mu.Lock()
	defer w.mu.Unlock()
	if c.done {
		panic("BUG: workbench: a cut written twice")
	}
	b = append(b, c.aside...)
	c.aside = c.aside[:0]
	for seen := 0; len(b) < frameLen && seen < 4096 && p.site < int(c.last); seen++ {
		if p.ip < c.ips {
			if e := w.entries[p.ip]; e != nil && e.epoch != w.epoch {
				b = c.imageOfIP(b, e)
			}
			p.ip++
			continue
		}
		p.site++
		if vs := w.site(uint32(p.site)); vs.epoch != w.epoch {
			b = c.imageOfSite(b, vs)
		}
	}
	if p.site == int(c.last) && len(b) < frameLen {
		b = binary.AppendUvarint(append(b, recordEnd), c.sites)
		p.over = true
		c.end()
	}
	return b
}

// touch is called before anything about a site changes.
func (w *Workbench[S]) touch(vs *VisitState[S]) {
	if c := w.cut; c != nil && vs.epoch != w.epoch {
		c.aside = c.imageOfSite(c.aside, vs)
	}
}

// touchEntry is called before an IP's due time changes.
func (w *Workbench[S]) touchEntry(e *entry[S]) {
	if c := w.cut; c != nil && e.epoch != w.epoch {
		c.aside = c.imageOfIP(c.aside, e)
	}
}

func (c *Cut[S]) imageOfIP(b []byte, e *entry[S]) []byte {
	e.epoch = c.w.epoch
	if e.due == noDue {
		return b
	}
	return appendDue(appendAddr(append(b, recordIP), e.addr), e.due)
}

func (c *Cut[S]) imageOfSite(b []byte, vs *VisitState[S]) []byte {
	vs.epoch = c.w.epoch
	c.sites++
	b = binary.AppendUvarint(append(b, recordSite), uint64(vs.id))
	b = appendBytes(b, vs.key)
	b = append(b, byte(vs.at), vs.flags&flagParked)
	switch vs.at {
	case addressed:
		b = appendAddr(b, vs.Addr())
	case deferred:
		b = appendDue(b, c.w.waiting[vs.pos-1].due)
	default:
	}
	b = appendDue(b, vs.due)
	b = binary.AppendUvarint(b, vs.onDisk)
	s := &vs.Site
	if l := vs.leaseOf(); l != nil {
		s = &l.site
	}
	c.scratch = c.site(c.scratch[:0], s)
	b = appendBytes(b, c.scratch)
	return c.appendItems(b, vs)
}

// appendItems appends the number of items, their size in the form of the ring, and them, those in the Visit put back in
// front (but behind what was pushed to the front since).
func (c *Cut[S]) appendItems(b []byte, vs *VisitState[S]) []byte {
	l := vs.leaseOf()
	if l == nil {
		if vs.queue == nil {
			return append(b, 0, 0)
		}
		b = binary.AppendUvarint(b, uint64(vs.queue.count))
		b = binary.AppendUvarint(b, uint64(vs.queue.size))
		return vs.queue.appendRaw(b)
	}
	var whole pathQueue
	var rest pathQueue
	if vs.queue != nil {
		rest = *vs.queue // reading moves only the copy's head
	}
	for range l.fronts {
		whole.pushBack(rest.popFront(nil))
	}
	for _, item := range l.items {
		whole.pushBack(item)
	}
	b = binary.AppendUvarint(b, uint64(whole.count+rest.count))
	b = binary.AppendUvarint(b, uint64(whole.size+rest.size))
	return rest.appendRaw(whole.appendRaw(b))
}

func appendBytes(b, x []byte) []byte { return append(binary.AppendUvarint(b, uint64(len(x))), x...) }

func appendAddr(b []byte, addr netip.Addr) []byte { return appendBytes(b, addr.AsSlice()) }

func appendDue(b []byte, due int64) []byte {
	if due == noDue {
		return append(b, 0)
	}
	return binary.AppendVarint(append(b, 1), due)
}
