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
	capture   capture[S] // open until ended; then its lists belong to the next snapshot
	whole     bool       // there is no snapshot that changes could follow
	ended     bool
	total     int    // number of sites
	head      []byte // the first record after its kind
	chainHash uint64
}

// Whole reports whether the snapshot must be full, so that WriteChanges is impossible. This is so if there is no
// earlier snapshot, if the last one was incomplete, or if the wall clock has stepped.
func (s *Snapshot[S]) Whole() bool { return s.whole }

// Abandon ends the snapshot without writing it; the next one must be full. It does nothing after a Write.
func (s *Snapshot[S]) Abandon() {
	s.w.mu.Lock()
	defer s.w.mu.Unlock()
	if !s.ended {
		s.end()
		s.w.contents.history.forget()
	}
}

// end removes the snapshot from the workbench. The next snapshot reuses its lists.
func (s *Snapshot[S]) end() {
	s.ended = true
	s.w.contents.history.end()
}

// Write writes a full snapshot and ends it, also on error: all sites with states, items, due times and notes, and the
// due times of IPs. A leased site is written as not leased, with the items of its Visit at the front of its queue. A
// Kill, Place or Unpark that waits for a Release is not included. Write holds the lock while it copies some hundred KB
// at a time, but not during writes to out. It must be called only once. After an error the next snapshot must be full.
func (s *Snapshot[S]) Write(out io.Writer) error {
	return s.write(out, append([]byte{recordHead}, s.head...))
}

// WriteChanges is like Write, but writes only sites and IPs that changed since the snapshot before. Load needs that
// snapshot before this one. The cost is proportional to the changes. It panics if Whole returns true.
func (s *Snapshot[S]) WriteChanges(out io.Writer) error {
	if s.whole {
		panic("BUG: workbench: WriteChanges without an earlier complete snapshot")
	}
	s.prepare()
	head := binary.AppendUvarint([]byte{recordChanges}, s.w.contents.history.chainHash)
	head = append(head, s.head...)
	for _, id := range s.capture.evicted {
		head = binary.AppendUvarint(append(head, recordEvicted), uint64(id))
	}
	for _, addr := range s.capture.dropped {
		head = appendDue(appendAddr(append(head, recordIP), addr), noDue)
	}
	return s.write(out, head)
}

// prepare sorts the lists of changes. From now on touch copies only what is in these lists.
func (s *Snapshot[S]) prepare() {
	s.w.mu.Lock()
	s.capture.partial = true
	s.w.mu.Unlock()
	slices.Sort(s.capture.sites.changed.list)
	slices.Sort(s.capture.ips.changed.list)
}

func (s *Snapshot[S]) write(out io.Writer, b []byte) error {
	defer s.Abandon()
	_, err := io.WriteString(out, frameMagic)
	for over := false; err == nil && !over; {
		b, over = s.collect(b)
		b, err = writeFrame(out, b, over, &s.chainHash)
	}
	if err != nil {
		return fmt.Errorf("workbench: writing a snapshot: %w", err)
	}
	s.finish()
	return nil
}

// finish ends a completely written snapshot, so that changes may follow it.
func (s *Snapshot[S]) finish() {
	s.w.mu.Lock()
	defer s.w.mu.Unlock()
	h := &s.w.contents.history
	s.end()
	h.chainHash = s.chainHash
	if !s.capture.partial {
		h.skew = s.w.contents.clock.skew
	}
}

// snapshotStride is the number of sites that collect examines under one lock.
const snapshotStride = 1024

// collect appends the next sites and IPs to b, about one frame, and reports whether they were the last.
func (s *Snapshot[S]) collect(b []byte) (_ []byte, over bool) {
	s.w.mu.Lock()
	defer s.w.mu.Unlock()
	if s.ended {
		panic("BUG: workbench: snapshot written twice")
	}
	c, p := &s.w.contents, &s.capture
	b = append(b, p.copied...)
	p.copied = p.copied[:0]
	for seen := 0; len(b) < frameLen && seen < snapshotStride; seen++ {
		if id := p.ips.advance(p.partial); id != 0 {
			if !c.history.ips.has(id) {
				b = c.ips.at(id).appendImage(b)
			}
			continue
		}
		id := p.nextSite(&c.sites)
		if id == 0 {
			b = binary.AppendUvarint(append(b, recordEnd), p.siteCount)
			return binary.AppendUvarint(b, uint64(s.total)), true
		}
		if !c.history.sites.has(id) && c.sites.at(id).id != 0 {
			b = c.appendSite(b, p, c.sites.at(id))
		}
	}
	return b, false
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
