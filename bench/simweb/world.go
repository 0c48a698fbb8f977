package simweb

import (
	"fmt"
	"net/netip"
	"strconv"
	"strings"
	"sync"

	"github.com/zeebo/xxh3"

	"orbweaver/bench/simweb/guest"
)

// World is one simulated web. It is safe for concurrent use; it remembers nothing but the tries of pages that fail
// once.
type World struct {
	c       Config
	seed    uint64
	base    netip.Addr
	shapes  []share
	robots  []share
	pages   []uint32 // quantiles of pages per host
	sizes   []uint32 // quantiles of page sizes
	sea     sea
	islands islands   // none if no host packs
	buffers sync.Pool // *buffer
	sheets  sync.Pool // *sheet
	guests  guest.List

	mu    sync.Mutex
	tries map[target]uint32 // requests for pages that fail at the first try
}

// New makes the world of a configuration; what it leaves out gets its default.
func New(c Config) (*World, error) {
	c = c.WithDefaults()
	if err := c.Validate(); err != nil {
		return nil, err
	}
	base, err := netip.ParseAddr(c.AddrBase)
	if err != nil || !base.Is4() {
		return nil, fmt.Errorf("simweb: address base %q: want an IPv4 address", c.AddrBase)
	}
	w := &World{c: c, seed: mix(c.Seed + 1), base: base, tries: make(map[target]uint32)}
	if w.shapes, err = shapeTable(c.Faults); err != nil {
		return nil, err
	}
	if w.robots, err = robotsTable(c.Robots); err != nil {
		return nil, err
	}
	w.pages = lognormalTable(float64(c.PagesPerHostMean), 1.5, 1, float64(c.PagesPerHostMax))
	w.sizes = lognormalTable(float64(c.PageBytesMean), 0.8, 256, 40*float64(c.PageBytesMean))
	w.sea = newSea(w.seed, appendParagraph)
	if c.GzipShare > 0 {
		w.islands = newIslands(w.seed)
	}
	w.buffers.New = func() any { return new(buffer) }
	w.sheets.New = func() any { return new(sheet) }
	return w, nil
}

// Config returns the configuration with its defaults filled in.
func (w *World) Config() Config { return w.c }

// Forget makes the pages that fail at the first try fail again, as in a new world.
func (w *World) Forget() {
	w.mu.Lock()
	clear(w.tries)
	w.mu.Unlock()
}

// host is what is true of a whole host.
type host struct {
	index  int
	pages  int // number of pages, at least 1
	https  bool
	gzip   bool // packs HTML for clients that accept it
	port   int
	prefix uint8 // which of hostPrefixes its name begins with
	robots robotsKind
}

// Most hosts have a bare name, some live under the usual labels.
const hostPrefixes = 8

func hostPrefix(i uint8) string {
	switch i {
	case 0, 1:
		return "www."
	case 2:
		return "blog."
	}
	return ""
}

// hostAt draws the facts of host i.
func (w *World) hostAt(i int) host {
	hash := w.hash(saltHost, i, 0)
	r := rng(hash)
	h := host{index: i, pages: int(w.pages[hash>>52]), prefix: uint8(r.below(hostPrefixes))}
	h.port = w.c.HTTPPort
	if r.float() < w.c.HTTPSShare {
		h.https, h.port = true, w.c.HTTPSPort
	}
	if r.float() < w.c.AltPortShare {
		h.port = w.c.AltPort
	}
	h.gzip = r.float() < w.c.GzipShare
	h.robots = w.robotsOf(i)
	return h
}

// leafHost says that no other host's root hangs on this one in the tree of hosts, so that its loss loses nobody else.
func (w *World) leafHost(i int) bool { return i > 0 && i*w.c.HostFanout+1 >= w.c.Hosts }

// leafPage says that no other page hangs on this one in the tree of its host.
func (w *World) leafPage(h *host, p int) bool { return p > 0 && p*w.c.PageFanout+1 >= h.pages }

func (w *World) appendName(dst []byte, h *host) []byte {
	dst = append(dst, hostPrefix(h.prefix)...)
	dst = append(dst, 'h')
	dst = strconv.AppendInt(dst, int64(h.index), 10)
	dst = append(dst, '.')
	return append(dst, w.c.Domain...)
}

func (h *host) defaultPort() bool { return h.https && h.port == 443 || !h.https && h.port == 80 }

func (h *host) scheme() string {
	if h.https {
		return "https:"
	}
	return "http:"
}

func (w *World) appendOrigin(dst []byte, h *host) []byte {
	dst = append(dst, h.scheme()...)
	dst = append(dst, '/', '/')
	dst = w.appendName(dst, h)
	if !h.defaultPort() {
		dst = append(dst, ':')
		dst = strconv.AppendInt(dst, int64(h.port), 10)
	}
	return dst
}

// Hosts is the number of hosts.
func (w *World) Hosts() int { return w.c.Hosts }

// Host returns the name of host i, 0 <= i < Hosts.
func (w *World) Host(i int) string {
	h := w.hostAt(i)
	return string(w.appendName(nil, &h))
}

// Root returns the URL of host i's first page, in normal form.
func (w *World) Root(i int) string {
	h := w.hostAt(i)
	return string(append(w.appendOrigin(nil, &h), '/'))
}

// findHost returns the number of the host of that name (lower or upper case, no port).
func (w *World) findHost(name string) (int, bool) {
	if len(name) <= len(w.c.Domain) || !strings.EqualFold(name[len(name)-len(w.c.Domain):], w.c.Domain) {
		return 0, false
	}
	label := name[:len(name)-len(w.c.Domain)]
	at := strings.LastIndexAny(label, "hH")
	if at < 0 || len(label) < at+3 || label[len(label)-1] != '.' {
		return 0, false
	}
	i, ok := number(label[at+1 : len(label)-1])
	if !ok || i >= w.c.Hosts {
		return 0, false
	}
	h := w.hostAt(i)
	if !strings.EqualFold(label[:at], hostPrefix(h.prefix)) {
		return 0, false
	}
	return i, true
}

// number reads a decimal number below 10^9 without leading zeros.
func number(s string) (int, bool) {
	if len(s) == 0 || len(s) > 9 || s[0] == '0' && len(s) > 1 {
		return 0, false
	}
	n := 0
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return 0, false
		}
		n = n*10 + int(s[i]-'0')
	}
	return n, true
}

// AddrOf returns the address of a host: AddrBase + xxh3(name) mod IPs, with the 64-bit hash of the lower-case name. It
// is the zero Addr for a name that is neither in the world nor a guest's.
func (w *World) AddrOf(name string) netip.Addr {
	name = strings.ToLower(strings.TrimSuffix(name, "."))
	if _, ok := w.findHost(name); ok {
		return w.addrOf(name)
	}
	_, addr, ok := w.guests.Find(name)
	if ok && !addr.IsValid() {
		return w.addrOf(name)
	}
	return addr
}

func (w *World) addrOf(name string) netip.Addr {
	return w.Addr(int(xxh3.HashString(name) % uint64(w.c.IPs)))
}

// Addr returns address k, 0 <= k < Config.IPs.
func (w *World) Addr(k int) netip.Addr {
	b := w.base.As4()
	n := uint32(b[0])<<24 | uint32(b[1])<<16 | uint32(b[2])<<8 | uint32(b[3])
	n += uint32(k)
	return netip.AddrFrom4([4]byte{byte(n >> 24), byte(n >> 16), byte(n >> 8), byte(n)})
}

// Seeds returns n URLs (at most one for each host) from which the whole world can be reached: the root of host 0 and
// roots of other hosts, drawn evenly.
func (w *World) Seeds(n int) []string {
	n = max(1, min(n, w.c.Hosts))
	seeds := make([]string, 0, n)
	seeds = append(seeds, w.Root(0))
	for k := 1; k < n; k++ {
		// One host from each of n-1 equal slices of 1 ... Hosts-1.
		lo := 1 + (k-1)*(w.c.Hosts-1)/(n-1)
		hi := 1 + k*(w.c.Hosts-1)/(n-1)
		r := rng(w.hash(saltSeeds, k, 0))
		seeds = append(seeds, w.Root(lo+r.below(max(1, hi-lo))))
	}
	return seeds
}
