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
	capture   capture[S] // open until ended; then without lists
	whole     bool       // there is no snapshot that changes could follow
	ended     bool
	total     int    // number of sites
	head      []byte // the first record after its kind
	chainHash uint64
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
	if h.open != nil {
		return nil, ErrSnapshotOpen
	}
	step := w.clock.skew - h.skew
	c := &Snapshot[S]{w: w, whole: !h.recording || step > skewMax || step < -skewMax, total: w.sites.count()}
	c.head = binary.AppendVarint(c.head, w.clock.wall())
	c.head = binary.AppendUvarint(c.head, uint64(w.sites.records.last))
	c.head = binary.AppendUvarint(c.head, w.leases.lastID)
	c.capture.encode = site
	h.begin(&c.capture, w.sites.records.last, w.ips.entries.last)
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
	c.ended = true
	c.w.history.end()
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
	for _, id := range c.capture.evicted {
		head = binary.AppendUvarint(append(head, recordEvicted), uint64(id))
	}
	for _, addr := range c.capture.dropped {
		head = appendDue(appendAddr(append(head, recordIP), addr), noDue)
	}
	return c.write(out, head)
}

// prepare sorts the lists of changes. From now on touch copies only what is in these lists.
func (c *Snapshot[S]) prepare() {
	c.w.mu.Lock()
	c.capture.partial = true
	c.w.mu.Unlock()
	slices.Sort(c.capture.sites.changed.list)
	slices.Sort(c.capture.ips.changed.list)
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
	if !c.capture.partial {
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
	p := &c.capture
	b = append(b, p.copied...)
	p.copied = p.copied[:0]
	for seen := 0; len(b) < frameLen && seen < snapshotStride; seen++ {
		if id := p.ips.advance(p.partial); id != 0 {
			if !w.history.ips.has(id) {
				b = w.ips.at(id).appendImage(b)
			}
			continue
		}
		id := p.nextSite(&w.sites)
		if id == 0 {
			b = binary.AppendUvarint(append(b, recordEnd), p.siteCount)
			return binary.AppendUvarint(b, uint64(c.total)), true
		}
		if !w.history.sites.has(id) && w.sites.at(id).id != 0 {
			b = w.appendSite(b, p, w.sites.at(id))
		}
	}
	return b, false
}

// appendSite appends the record of a site.
func (w *Workbench[S]) appendSite(b []byte, p *capture[S], s *site[S]) []byte {
	var addr netip.Addr
	until := noDue
	switch s.placement {
	case addressed:
		addr = w.ips.at(s.entry).address()
	case deferred:
		until = w.waiting[s.pos-1].due
	default:
	}
	return p.appendSite(b, s, w.sites.keyOf(s), addr, until, w.leaseOf(s))
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
