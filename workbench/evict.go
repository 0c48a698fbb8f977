package workbench

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/maphash"
	"net/netip"
	"time"
)

// siteMemory is what a known site takes in memory without its items, in bytes: see doc.go.
const siteMemory = 152

// Crowded says that sites and items together take more than MemoryMax, and sites more than a quarter of it, which is theirs
// in any case: then sites that are idle should leave; see Evict.
func (w *Workbench[S]) Crowded() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	sites := int64(w.known()) * siteMemory
	return sites > w.opts.MemoryMax/4 && sites+w.weight() > w.opts.MemoryMax
}

// Evicted holds sites that have left the bench. It may be used again.
type Evicted struct {
	buf  []byte
	ends []int // of each key and each form
}

// Len is how many they are.
func (e *Evicted) Len() int { return len(e.ends) / 2 }

// At lends key and form of one of them. The form is for Admit.
func (e *Evicted) At(i int) (key, form []byte) {
	from := 0
	if i > 0 {
		from = e.ends[2*i-1]
	}
	return e.buf[from:e.ends[2*i]], e.buf[e.ends[2*i]:e.ends[2*i+1]]
}

const (
	evictProbes = 4096      // sites that one Evict looks at
	evictBytes  = 256 << 10 // enough for one Evict
)

// Evict takes up to max sites off the bench that nobody has asked for or changed since Evict looked at them last, which is when all
// others had been looked at, and puts them into out, in place of what is there. A site leaves if it is idle or dead and holds nothing, in memory or on
// disk, and its due time has passed; a dead one only after SetOnDisk has said that it has none. Each call looks at some sites and the next one goes on
// from there. site is that of Save.
//
// The site is unknown then, and its VisitState and number are nobody's, or that of the next site to come: the caller knows that nobody
// uses them. All that the bench knew of it is in its form, but for the IP's due time, which stays.
func (w *Workbench[S]) Evict(now time.Time, max int, site func(dst []byte, s *S) []byte, out *Evicted) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.clock.see(now)
	limit := w.clock.offset(now)
	out.buf, out.ends = out.buf[:0], out.ends[:0]
	for range min(evictProbes, int(w.sites.last)) {
		if out.Len() >= max || len(out.buf) >= evictBytes {
			return
		}
		if w.evictAt++; w.evictAt > w.sites.last {
			w.evictAt = 1
		}
		if !w.sites.has(w.evictAt) {
			continue
		}
		s := w.sites.at(w.evictAt)
		if s.id == 0 || !s.mayLeave(limit) {
			continue
		}
		if s.has(flagUsed) {
			s.flags &^= flagUsed
			continue
		}
		out.buf = append(out.buf, w.keyOf(s)...)
		out.ends = append(out.ends, len(out.buf))
		out.buf = w.appendForm(out.buf, s, site)
		out.ends = append(out.ends, len(out.buf))
		w.remove(s)
		w.sites.put(w.evictAt)
	}
}

// mayLeave says that a site is nothing but what its form would say.
func (s *site[S]) mayLeave(now int64) bool {
	if s.onDisk > 0 || s.due > now || s.has(flagListed) {
		return false
	}
	switch s.state() {
	case Idle:
		return true
	case Dead:
		return s.has(flagLaid)
	default:
		return false
	}
}

const (
	formVersion = 1
	formVisited = 1 // in the flags: it has a due time, which has passed
)

// appendForm appends version, whereabouts, flags, the length of the address and the address, if it has one, and the Site.
func (w *Workbench[S]) appendForm(b []byte, s *site[S], site func(dst []byte, s *S) []byte) []byte {
	flags := byte(0)
	if s.due != noDue {
		flags |= formVisited
	}
	b = append(b, formVersion, byte(s.at), flags)
	if s.at == addressed {
		b = appendAddr(b, w.entries.at(s.entry).address())
	}
	return site(b, &s.data)
}

// errForm says that the form of an evicted site cannot be read.
var errForm = errors.New("workbench: an evicted site cannot be read")

// parseForm reads what appendForm wrote; site borrows b.
func parseForm(b []byte) (at whereabouts, visited bool, addr netip.Addr, site []byte, err error) {
	if len(b) < 3 || b[0] != formVersion || b[2]&^formVisited != 0 {
		return 0, false, addr, nil, errForm
	}
	at, visited, b = whereabouts(b[1]), b[2]&formVisited != 0, b[3:]
	switch at {
	case buried:
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

// ReadForm reads the form of an evicted site: the address that it was placed under, the zero Addr if it is none, and the Site.
func ReadForm[S any](form []byte, site func(b []byte) (S, error)) (addr netip.Addr, s S, err error) {
	_, _, addr, data, err := parseForm(form)
	if err == nil {
		s, err = site(data)
	}
	return addr, s, err
}

// CheckForm says whether a form can be read.
func CheckForm[S any](form []byte, site func(b []byte) (S, error)) error {
	_, _, err := ReadForm(form, site)
	return err
}

// Admit brings an evicted site back, as it was; it is due now, if it was ever visited. It borrows key and form. That the site is known is
// a bug of the caller. An error says that the form is none; nothing was done.
func (w *Workbench[S]) Admit(key, form []byte, site func(b []byte) (S, error), now time.Time) (*VisitState[S], error) {
	at, visited, addr, raw, err := parseForm(form)
	if err != nil {
		return nil, fmt.Errorf("%w: %.200q", err, key)
	}
	data, err := site(raw)
	if err != nil {
		return nil, fmt.Errorf("workbench: evicted site %.200q: %w", key, err)
	}
	hash := maphash.Bytes(w.seed, key)
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.find(hash, key) != 0 {
		panic("BUG: workbench: Admit of a site that is known")
	}
	w.clock.see(now)
	s := w.add(hash, w.sites.take(), key)
	s.data, s.at = data, at
	if visited {
		s.due = w.clock.offset(now)
	}
	if at == addressed {
		w.attach(s, w.entryOf(addr))
	} else {
		s.flags |= flagLaid
	}
	w.settle(s, Newborn)
	return w.handles.at(s.id), nil
}
