package workbench

import (
	"encoding/binary"
	"net/netip"
)

// capture is the part of an open snapshot that changes of the workbench add to: what is not written yet, and copies of
// what has changed before it was written.
type capture[S any] struct {
	encode  func(dst []byte, s *S) []byte
	copied  []byte
	scratch []byte

	sites, ips progress
	partial    bool         // incremental: only what changed since the snapshot before is written
	dropped    []netip.Addr // addresses that lost their entry since the snapshot before
	evicted    []uint32     // numbers of sites evicted since the snapshot before
	siteCount  uint64       // sites written or copied
}

// progress tells which numbers of sites or entries a snapshot has written.
type progress struct {
	changed numbers // since the snapshot before
	last    uint32  // the largest number of the snapshot
	at      uint32  // the last number that was written
	next    int     // position in the sorted list of changed, if incremental
}

// isPending reports whether the snapshot contains this number and has not written it.
func (p *progress) isPending(n uint32, partial bool) bool {
	return n <= p.last && n > p.at && (!partial || p.changed.has(n))
}

// advance moves to the next number and returns it, or 0 at the end.
func (p *progress) advance(partial bool) uint32 {
	switch {
	case p.at > p.last:
	case !partial:
		p.at++
	case p.next < len(p.changed.list):
		p.at = p.changed.list[p.next]
		p.next++
	default:
		p.at = p.last + 1
	}
	if p.at > p.last {
		return 0
	}
	return p.at
}

// nextSite returns the next number of a site to write, or 0 at the end. It skips gaps of sites.
func (c *capture[S]) nextSite(sites *siteTable[S]) uint32 {
	id := c.sites.advance(c.partial)
	for id != 0 && !sites.records.has(id) { // a gap: these numbers have no sites
		c.sites.at = (id-1)/chunkLen*chunkLen + chunkLen
		id = c.sites.advance(c.partial)
	}
	return id
}

// appendSite appends the record of a site. addr is its address, until the time up to which it is deferred, l its lease;
// each is zero if the site has none.
func (c *capture[S]) appendSite(
	b []byte, s *site[S], key []byte, addr netip.Addr, until int64, l *lease[S],
) []byte {
	c.siteCount++
	b = binary.AppendUvarint(append(b, recordSite), uint64(s.id))
	b = appendBytes(b, key)
	b = append(b, byte(s.placement), s.flags&flagParked)
	switch s.placement {
	case addressed:
		b = appendAddr(b, addr)
	case deferred:
		b = appendDue(b, until)
	default:
	}
	b = appendDue(b, s.due)
	b = binary.AppendUvarint(b, s.onDisk)
	c.scratch = c.encode(c.scratch[:0], &s.data)
	b = appendBytes(b, c.scratch)
	return appendItems(b, s, l)
}

// appendItems appends the number of items, their size in bytes, and the items as in the ring. Items of a Visit come
// first, but after the items that PushFront added since.
func appendItems[S any](b []byte, s *site[S], l *lease[S]) []byte {
	var rest itemQueue
	if s.queue != nil {
		rest = s.queue.Reader()
	}
	var whole itemQueue
	if l != nil {
		for range l.frontPushes {
			whole.PushBack(rest.PopFront(nil), false)
		}
		for _, item := range l.items {
			whole.PushBack(item, false)
		}
	}
	b = binary.AppendUvarint(b, uint64(whole.Count()+rest.Count()))
	b = binary.AppendUvarint(b, uint64(whole.Size()+rest.Size()))
	return rest.AppendRaw(whole.AppendRaw(b))
}

// appendImage appends the record of the due time of an entry, if it has one.
func (e *entry) appendImage(b []byte) []byte {
	if e.state == unused || e.due == noDue {
		return b
	}
	b = appendAddr(append(b, recordIP), e.address())
	if n := e.noteValue(); n != 0 {
		return binary.AppendUvarint(binary.AppendVarint(append(b, dueNoted), e.due), uint64(n))
	}
	return appendDue(b, e.due)
}
