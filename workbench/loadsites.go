package workbench

import (
	"fmt"
	"io"
	"net/netip"
)

// LoadSites is Load for the sites with the given keys. The workbench also has all sites that share an address with one
// of them, so that a View is the same as after Load. The other sites are skipped: only the checksums of their bytes are
// verified. The workbench is for reading. Each image is read twice, first to find the addresses.
func LoadSites[S any](
	o Options, keys [][]byte, site func(b []byte) (S, error), images ...io.ReadSeeker,
) (*Workbench[S], error) {
	s := selection{keys: map[string]struct{}{}, addrs: map[netip.Addr]struct{}{}, finding: true}
	for _, key := range keys {
		s.keys[string(key)] = struct{}{}
	}
	readers := make([]io.Reader, len(images))
	for i, r := range images {
		readers[i] = r
	}
	if _, err := load(o, site, s, readers); err != nil {
		return nil, err
	}
	for i, r := range images {
		if _, err := r.Seek(0, io.SeekStart); err != nil {
			return nil, fmt.Errorf("workbench: reading image %d of a snapshot: %w", i+1, err)
		}
	}
	s.finding = false
	return load(o, site, s, readers)
}

// selection is what a load reads.
type selection struct {
	all     bool
	finding bool                // of sites: nothing; the addresses are collected
	keys    map[string]struct{} // of sites
	addrs   map[netip.Addr]struct{}
}

// wants reports whether a site is loaded.
func (s *selection) wants(key []byte, at placement, addr netip.Addr) bool {
	if s.all {
		return true
	}
	_, wanted := s.keys[string(key)]
	if s.finding {
		if wanted && at == addressed {
			s.addrs[addr] = struct{}{}
		}
		return false
	}
	return wanted || at == addressed && s.wantsAddr(addr)
}

// wantsAddr reports whether the due time of an address, and its sites, are loaded.
func (s *selection) wantsAddr(addr netip.Addr) bool {
	if s.all {
		return true
	}
	_, wanted := s.addrs[addr]
	return wanted && !s.finding
}
