package bodyfile

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"sync"
	"sync/atomic"

	"github.com/zeebo/xxh3"

	"orbweaver/internal/vfs"
)

const (
	// endlessMost is how many pairs of a domain and an address are remembered. Then all are forgotten, and each of them
	// costs one long body again.
	endlessMost = 1 << 16
	// endlessSpread is at how many addresses a domain must have sent endless bodies to count as endless at every address.
	// It is the same for the domains of an address.
	endlessSpread = 4
	// endlessFileMax is the most bytes that are read of the file.
	endlessFileMax = 32 << 20
	// endlessName is the file in the directory of a Store: a line for each pair, with a space between domain and address.
	endlessName = "endless"
	// noAddress is in a line in place of the address if a proxy resolved the name.
	noAddress = "-"
	// networkBits of an IPv6 address count: its owner has all addresses of such a network.
	networkBits = 64
)

// endlessSources are the domains and addresses that have sent a body without an end: one that was longer than the
// limit, and whose length was not declared or was declared to be longer. All hosts of a domain at one address are one
// source, so a wildcard name costs one long body. If a proxy resolves the names, no address is known, and each domain
// is a source of its own. It is safe for concurrent use.
type endlessSources struct {
	domainOf func(host []byte) []byte
	count    atomic.Int64 // of pairs

	mu    sync.RWMutex
	pairs map[xxh3.Uint128]struct{}
	// spread has the number of pairs of each domain and of each address.
	spread map[xxh3.Uint128]int
	wide   int // domains that count as endless at every address

	file endlessFile
}

// add adds a host at an address. The error is that of the disk: then the next run does not know the host.
func (e *endlessSources) add(host []byte, addr netip.Addr) error {
	domain, at := e.domain(host), networkOf(addr)
	e.mu.Lock()
	full := len(e.pairs) >= endlessMost
	if full {
		e.pairs, e.spread, e.wide = nil, nil, 0
	}
	added := e.note(domain, at)
	e.mu.Unlock()
	if !added {
		return nil
	}
	text := noAddress
	if at.IsValid() {
		text = at.String()
	}
	return e.file.add(fmt.Appendf(nil, "%s %s\n", domain, text), full)
}

// has reports whether a host at an address probably sends bodies without an end. Most answers need the address alone.
func (e *endlessSources) has(host []byte, addr netip.Addr) bool {
	if e.count.Load() == 0 {
		return false
	}
	at := networkOf(addr)
	e.mu.RLock()
	defer e.mu.RUnlock()
	if at.IsValid() {
		switch atAddress := e.spread[keyOf(nil, at)]; {
		case atAddress >= endlessSpread:
			return true
		case atAddress == 0 && e.wide == 0:
			return false
		}
	}
	domain := e.domain(host)
	_, known := e.pairs[keyOf(domain, at)]
	return known || e.spread[keyOf(domain, netip.Addr{})] >= endlessSpread
}

// domain returns the registrable domain of a host.
func (e *endlessSources) domain(host []byte) []byte {
	if e.domainOf == nil {
		return host
	}
	return e.domainOf(host)
}

// networkOf returns an address, or the first one of the network of an IPv6 address.
func networkOf(addr netip.Addr) netip.Addr {
	addr = addr.Unmap()
	if addr.Is6() {
		if network, err := addr.Prefix(networkBits); err == nil {
			return network.Addr()
		}
	}
	return addr
}

// keyOf is the key of a pair, or of a domain or an address alone.
func keyOf(domain []byte, at netip.Addr) xxh3.Uint128 {
	var room [320]byte
	key := append(append(room[:0], domain...), ' ')
	if at.IsValid() {
		key = at.AppendTo(key)
	}
	return xxh3.Hash128(key)
}

// note adds a pair, and reports whether it is new. The caller holds the lock, or no other goroutine uses it.
func (e *endlessSources) note(domain []byte, at netip.Addr) (added bool) {
	if e.pairs == nil {
		e.pairs, e.spread = map[xxh3.Uint128]struct{}{}, map[xxh3.Uint128]int{}
	}
	pair := keyOf(domain, at)
	if _, known := e.pairs[pair]; known {
		return false
	}
	e.pairs[pair] = struct{}{}
	if at.IsValid() {
		e.spread[keyOf(nil, at)]++
	}
	ofDomain := keyOf(domain, netip.Addr{})
	if e.spread[ofDomain]++; e.spread[ofDomain] == endlessSpread {
		e.wide++
	}
	e.count.Store(int64(len(e.pairs)))
	return true
}

// load reads the file in a directory. Lines that are damaged are left out.
func (e *endlessSources) load(fsys vfs.FS, dir string) error {
	b, err := e.file.open(fsys, dir+"/"+endlessName)
	if err != nil {
		return err
	}
	for line := range bytes.Lines(b) {
		domain, at, _ := bytes.Cut(bytes.TrimSuffix(line, []byte("\n")), []byte(" "))
		addr, err := netip.ParseAddr(string(at))
		if (err == nil || string(at) == noAddress) && len(domain) > 0 && len(e.pairs) < endlessMost {
			e.note(domain, networkOf(addr))
		}
	}
	return nil
}

// endlessFile keeps the pairs for the next run. It is never synced: what a power cut takes costs a long body again.
type endlessFile struct {
	fsys vfs.FS
	name string // "" for a Store without a directory

	mu   sync.Mutex
	size int64 // of its complete lines
}

// open returns the complete lines. A last line that is torn will be overwritten.
func (f *endlessFile) open(fsys vfs.FS, name string) ([]byte, error) {
	f.fsys, f.name = fsys, name
	size, err := fsys.Size(name)
	if errors.Is(err, fs.ErrNotExist) || err == nil && size > endlessFileMax {
		return nil, nil // the file begins again
	}
	b, err := vfs.ReadFile(fsys, name)
	if err != nil {
		return nil, fmt.Errorf("bodyfile: %w", err)
	}
	b = b[:bytes.LastIndexByte(b, '\n')+1]
	f.size = int64(len(b))
	return b, nil
}

// add adds a line, or makes it the first.
func (f *endlessFile) add(line []byte, isFirst bool) error {
	if f.name == "" {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if isFirst {
		f.size = 0
	}
	file, err := f.fsys.OpenRW(f.name)
	if err != nil {
		return fmt.Errorf("bodyfile: %w", err)
	}
	if err = file.Truncate(f.size); err == nil {
		_, err = file.WriteAt(line, f.size)
	}
	if err = errors.Join(err, file.Close()); err != nil {
		return fmt.Errorf("bodyfile: %w", err)
	}
	f.size += int64(len(line))
	return nil
}
