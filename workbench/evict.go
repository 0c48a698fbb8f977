package workbench

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
	"time"
)

// Evicted holds sites that Evict has removed. It can be reused.
type Evicted struct {
	buf  []byte
	ends []int // of each key and each form
}

// Len returns the number of sites.
func (e *Evicted) Len() int { return len(e.ends) / 2 }

// At returns the key and the form of site i. The slices are valid until the next Evict into e. The form is for Admit.
func (e *Evicted) At(i int) (key, form []byte) {
	from := 0
	if i > 0 {
		from = e.ends[2*i-1]
	}
	return e.buf[from:e.ends[2*i]], e.buf[e.ends[2*i]:e.ends[2*i+1]]
}

const (
	evictProbes = 4096      // sites that Evict examines per call
	evictBytes  = 256 << 10 // about the most bytes that Evict returns
)

// Evict removes up to max sites that were not used since Evict last examined them, and stores them in out. Earlier
// content of out is replaced. A site can be evicted if it is idle or dead, has no items in memory or on disk, and its
// due time has passed. A dead site must also have had SetOnDisk(0). Each call examines some sites, and the next call
// continues after them. See Snapshot for site.
//
// Afterwards the site is unknown. Its number is free or belongs to a new site, so the caller must make sure that
// nothing uses the VisitState. The form contains everything about the site except the due time of the IP, which stays
// in the workbench.
func (m Memory[S]) Evict(now time.Time, max int, site func(dst []byte, s *S) []byte, out *Evicted) {
	m.w.mu.Lock()
	defer m.w.mu.Unlock()
	c := &m.w.contents
	c.clock.see(now)
	limit := c.clock.offset(now)
	out.buf, out.ends = out.buf[:0], out.ends[:0]
	for range min(evictProbes, int(c.sites.records.last)) {
		if out.Len() >= max || len(out.buf) >= evictBytes {
			return
		}
		if c.evictAt++; c.evictAt > c.sites.records.last {
			c.evictAt = 1
		}
		if !c.sites.records.has(c.evictAt) {
			continue
		}
		s := c.sites.at(c.evictAt)
		if s.id == 0 || !s.mayLeave(limit) {
			continue
		}
		if s.has(flagRecentlyUsed) {
			s.flags &^= flagRecentlyUsed
			continue
		}
		out.buf = append(out.buf, c.sites.keyOf(s)...)
		out.ends = append(out.ends, len(out.buf))
		out.buf = c.appendForm(out.buf, s, site)
		out.ends = append(out.ends, len(out.buf))
		c.remove(s)
		c.sites.records.release(c.evictAt)
	}
}

// mayLeave reports whether the form of the site would contain everything about it.
func (s *site[S]) mayLeave(now int64) bool {
	if s.onDisk > 0 || s.due > now || s.has(flagListed) {
		return false
	}
	switch s.state() {
	case Idle:
		return true
	case Dead:
		return s.has(flagDiskDropped)
	default:
		return false
	}
}

const (
	formVersion = 1
	formHasDue  = 1 // flag: the site has a due time, which has passed
)

// appendForm appends version, placement, flags, length and bytes of the address if there is one, and the site data.
func (c *contents[S]) appendForm(b []byte, s *site[S], site func(dst []byte, s *S) []byte) []byte {
	flags := byte(0)
	if s.due != noDue {
		flags |= formHasDue
	}
	b = append(b, formVersion, byte(s.placement), flags)
	if s.placement == addressed {
		b = appendAddr(b, c.ips.at(s.entry).address())
	}
	return site(b, &s.data)
}

// errForm is the error for an unreadable form.
var errForm = errors.New("workbench: the form of an evicted site is invalid")

// parseForm decodes the result of appendForm. The returned site is a part of b.
func parseForm(b []byte) (at placement, visited bool, addr netip.Addr, site []byte, err error) {
	if len(b) < 3 || b[0] != formVersion || b[2]&^formHasDue != 0 {
		return 0, false, addr, nil, errForm
	}
	at, visited, b = placement(b[1]), b[2]&formHasDue != 0, b[3:]
	switch at {
	case dead:
		return at, visited, addr, b, nil
	case addressed:
		n, used := binary.Uvarint(b)
		if used <= 0 || n > uint64(len(b)-used) {
			return 0, false, addr, nil, errForm
		}
		raw, ok := b[used:used+int(n)], false
		if addr, ok = netip.AddrFromSlice(raw); !ok || addr != addr.Unmap() {
			return 0, false, addr, nil, errForm
		}
		return at, visited, addr, b[used+int(n):], nil
	default:
		return 0, false, addr, nil, errForm
	}
}

// ReadForm decodes the form of an evicted site. It returns the address of the site, or the zero Addr if it has none,
// and the site data.
func ReadForm[S any](form []byte, site func(b []byte) (S, error)) (addr netip.Addr, s S, err error) {
	_, _, addr, data, err := parseForm(form)
	if err == nil {
		s, err = site(data)
	}
	return addr, s, err
}

// CheckForm returns an error if form cannot be decoded.
func CheckForm[S any](form []byte, site func(b []byte) (S, error)) error {
	_, _, err := ReadForm(form, site)
	return err
}

// Admit restores an evicted site. Its due time is now, if it was visited before. Admit borrows key and form. It panics
// if the site is known. If form is damaged, it returns an error and changes nothing.
func (m Memory[S]) Admit(key, form []byte, site func(b []byte) (S, error), now time.Time) (*VisitState[S], error) {
	at, visited, addr, raw, err := parseForm(form)
	if err != nil {
		return nil, fmt.Errorf("%w: %.200q", err, key)
	}
	data, err := site(raw)
	if err != nil {
		return nil, fmt.Errorf("workbench: evicted site %.200q: %w", key, err)
	}
	hash := m.w.contents.sites.hash(key)
	m.w.mu.Lock()
	defer m.w.mu.Unlock()
	c := &m.w.contents
	if c.sites.find(hash, key) != 0 {
		panic("BUG: workbench: Admit of a known site")
	}
	c.clock.see(now)
	s := c.add(hash, c.sites.records.allocate(), key)
	s.data, s.placement = data, at
	if visited {
		s.due = c.clock.offset(now)
	}
	if at == addressed {
		c.ips.attach(s, c.ips.findOrAdd(addr))
	} else {
		s.flags |= flagDiskDropped
	}
	c.reconcile(s, Unresolved)
	return c.sites.handles.at(s.id), nil
}
