package workbench

import (
	"encoding/binary"
	"fmt"
	"io"
	"net/netip"
)

// LoadSites is Load for the sites with the given keys. The workbench also has all sites that share an address with one
// of them, so that a View is the same as after Load. The other sites are passed over: only the checksums of their bytes
// are verified. The workbench is for reading. Each image is read twice, first to find the addresses.
func LoadSites[S any](
	o Options, keys [][]byte, site func(b []byte) (S, error), images ...io.ReadSeeker,
) (*Workbench[S], error) {
	s := &selection{keys: map[string]struct{}{}, addrs: map[netip.Addr]struct{}{}, finding: true}
	for _, key := range keys {
		s.keys[string(key)] = struct{}{}
		s.likely[mark(key)] = true
	}
	readers := make([]io.Reader, len(images))
	for i, r := range images {
		readers[i] = r
	}
	if none, err := load(o, site, s, readers); err != nil || !s.found {
		return none, err
	}
	for i, r := range images {
		if _, err := r.Seek(0, io.SeekStart); err != nil {
			return nil, fmt.Errorf("workbench: reading image %d of a snapshot: %w", i+1, err)
		}
	}
	s.finding = false
	for addr := range s.addrs {
		s.likely[mark(addr.AsSlice())] = true
	}
	return load(o, site, s, readers)
}

// selection is what a load reads.
type selection struct {
	all     bool
	finding bool // nothing is loaded: the addresses are collected
	found   bool // one of the keys
	keys    map[string]struct{}
	addrs   map[netip.Addr]struct{}
	likely  [256]bool // marks of keys and addresses
}

// mark is a number for most different keys and addresses.
func mark(b []byte) byte {
	n := len(b)
	if n == 0 {
		return 0
	}
	return byte(n) ^ b[n-1] ^ b[n/2]<<1 ^ b[n/3]<<2 ^ b[n/4]<<3
}

// wants reports whether a site is loaded.
func (s *selection) wants(key []byte, at placement, addr netip.Addr) bool {
	if s.all {
		return true
	}
	_, wanted := s.keys[string(key)]
	if s.finding {
		if s.found = s.found || wanted; wanted && at == addressed {
			s.addrs[addr] = struct{}{}
		}
		return false
	}
	return wanted || at == addressed && s.wantsAddr(addr)
}

// wantsAddr reports whether the due time of an address is loaded.
func (s *selection) wantsAddr(addr netip.Addr) bool {
	if s.all {
		return true
	}
	_, wanted := s.addrs[addr]
	return wanted && !s.finding
}

// skim passes the next records in the current frame whose marks say that they are not wanted.
func (l *loader[S]) skim() {
	b, at := l.d.Rest(), 0
	for at < len(b) {
		next, site := l.passUnwanted(b, at)
		if next > len(b) {
			break // the record continues in the next frame, or may be wanted
		}
		if at = next; site {
			l.siteCount++
		}
	}
	l.d.Pass(at)
}

// passUnwanted returns the position after the record at a position, and whether it is that of a site. The position is
// frame.Beyond if the record may be wanted, and behind the end of b if the record is not whole.
func (l *loader[S]) passUnwanted(b []byte, at int) (next int, site bool) {
	switch b[at] {
	case recordIP:
		addr, at := passFrameBytes(b, at+1)
		noted := at < len(b) && b[at] == dueNoted
		if at = passDue(b, at); noted {
			at = passFrameNumber(b, at)
		}
		if at > len(b) || l.selected.likely[mark(addr)] {
			return frameBeyond, false
		}
		return at, false
	case recordSite:
		id, n := binary.Uvarint(b[at+1:])
		if n <= 0 {
			return frameBeyond, true
		}
		key, at := passFrameBytes(b, at+1+n)
		if at >= len(b) {
			return frameBeyond, true
		}
		place, addr := placement(b[at]), []byte(nil)
		const placeAndFlags = 2
		switch at += placeAndFlags; place {
		case addressed:
			addr, at = passFrameBytes(b, at)
		case deferred:
			at = passDue(b, at)
		default:
		}
		at = passFrameNumber(b, passDue(b, at))           // items on disk
		_, at = passFrameBytes(b, at)                     // data
		_, at = passFrameBytes(b, passFrameNumber(b, at)) // items
		if at > len(b) || l.selected.likely[mark(key)] || l.selected.likely[mark(addr)] || l.contents.sites.has(uint32(id)) {
			return frameBeyond, true
		}
		return at, true
	default:
		return frameBeyond, false
	}
}

// passDue returns the position after a due time.
func passDue(b []byte, at int) int {
	if at < len(b) && b[at] != dueNone {
		at = passFrameNumber(b, at+1) - 1
	}
	return at + 1
}
