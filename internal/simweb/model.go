package simweb

import (
	"fmt"
	"math"
	"net/netip"
	"strings"

	"github.com/zeebo/xxh3"

	"orbweaver/internal/simweb/draw"
)

// Model is what is true of a simulated web, by its configuration alone. It is safe for concurrent use, and remembers
// nothing.
type Model struct {
	config Config
	Seed   uint64
	base   netip.Addr
	shapes draw.Table
	robots draw.Table
	pages  []uint32 // quantiles of pages per host
	sizes  []uint32 // quantiles of page sizes
}

// NewModel makes the model of a configuration; what it leaves out gets its default.
func NewModel(c Config) (*Model, error) {
	c = c.WithDefaults()
	if err := c.Validate(); err != nil {
		return nil, err
	}
	base, err := netip.ParseAddr(c.AddrBase)
	if err != nil || !base.Is4() {
		return nil, fmt.Errorf("simweb: address base %q: want an IPv4 address", c.AddrBase)
	}
	m := &Model{config: c, Seed: draw.Mix(c.Seed + 1), base: base}
	if m.shapes, err = shapeTable(&c.Faults); err != nil {
		return nil, err
	}
	if m.robots, err = robotsTable(&c.Robots); err != nil {
		return nil, err
	}
	m.pages = draw.Lognormal(float64(c.PagesPerHostMean), 1.5, 1, float64(c.PagesPerHostMax))
	m.sizes = draw.Lognormal(float64(c.PageBytesMean), 0.8, 256, 40*float64(c.PageBytesMean))
	return m, nil
}

// Config returns the configuration with its defaults filled in.
func (m *Model) Config() Config { return m.config }

// DrawBytes draws the size of a page in bytes.
func (m *Model) DrawBytes(r *draw.RNG) int { return int(m.sizes[r.Below(len(m.sizes))]) }

// Hosts is the number of hosts.
func (m *Model) Hosts() int { return m.config.Hosts }

// Host returns the name of host i, 0 <= i < Hosts.
func (m *Model) Host(i int) string {
	h := m.HostAt(i)
	return string(h.AppendName(nil))
}

// Root returns the URL of host i's first page, in normal form.
func (m *Model) Root(i int) string {
	h := m.HostAt(i)
	return string(append(h.AppendOrigin(nil), '/'))
}

// FindHost returns the number of the host of that name (lower or upper case, no port).
func (m *Model) FindHost(name string) (int, bool) {
	if len(name) <= len(m.config.Domain) || !strings.EqualFold(name[len(name)-len(m.config.Domain):], m.config.Domain) {
		return 0, false
	}
	label := name[:len(name)-len(m.config.Domain)]
	at := strings.LastIndexAny(label, "hH")
	if at < 0 || len(label) < at+3 || label[len(label)-1] != '.' {
		return 0, false
	}
	number, _, _ := strings.Cut(label[at+1:], ".")
	i, ok := ParseNumber(number)
	if !ok || i >= m.config.Hosts {
		return 0, false
	}
	return i, strings.EqualFold(name, m.Host(i))
}

// ParseNumber reads a decimal number below 10^9 without leading zeros.
func ParseNumber(s string) (int, bool) {
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
// is the zero Addr for a name that is not in the model.
func (m *Model) AddrOf(name string) netip.Addr {
	name = strings.ToLower(strings.TrimSuffix(name, "."))
	if _, ok := m.FindHost(name); ok {
		return m.FormulaAddr(name)
	}
	return netip.Addr{}
}

// FormulaAddr is AddrOf of any name, in lower case.
func (m *Model) FormulaAddr(name string) netip.Addr {
	return m.Addr(int(xxh3.HashString(name) % uint64(m.config.IPs)))
}

// Addr returns address k, 0 <= k < Config.IPs.
func (m *Model) Addr(k int) netip.Addr {
	b := m.base.As4()
	n := uint32(b[0])<<24 | uint32(b[1])<<16 | uint32(b[2])<<8 | uint32(b[3])
	n += uint32(k)
	return netip.AddrFrom4([4]byte{byte(n >> 24), byte(n >> 16), byte(n >> 8), byte(n)})
}

// Seeds returns URLs from which the whole world can be reached: n (at most one for each host), the root of host 0 and
// roots of other hosts, drawn evenly; then the root of the first host of each separate component.
func (m *Model) Seeds(n int) []string {
	hosts := m.plainHosts()
	n = max(1, min(n, hosts))
	seeds := make([]string, 0, n+m.config.Separate)
	seeds = append(seeds, m.Root(0))
	for k := 1; k < n; k++ {
		// One host from each of n-1 equal slices of 1 ... Hosts-1.
		lo := 1 + (k-1)*(hosts-1)/(n-1)
		hi := 1 + k*(hosts-1)/(n-1)
		r := draw.RNG(m.Hash(saltSeeds, k, 0))
		seeds = append(seeds, m.Root(lo+r.Below(max(1, hi-lo))))
	}
	for k := range m.config.Separate {
		seeds = append(seeds, m.Root(hosts+k*m.config.SeparateHosts))
	}
	return seeds
}

// SaltHost and the other salts keep apart what is drawn for one host or page.
const (
	saltHost = iota + 1
	saltPage
	saltLinks
	SaltBody
	SaltCopy
	SaltRobots
	SaltAnswer
	saltSeeds
	saltThink
	SaltValidators
	saltEdition
	saltFarm
	saltHub
	saltTopic
	saltSeries
	saltTool
)

// Hash draws for a host and page.
func (m *Model) Hash(salt, host, page int) uint64 {
	place := draw.Mix(uint64(host)*0xa0761d6478bd642f + uint64(page)*0xe7037ed1a0b428db)
	return draw.Mix(m.Seed + uint64(salt)*0xd6e8feb86659fd93 ^ place)
}

// PagesTotal is the number of pages of all hosts: counted for worlds of up to a million hosts, else the mean.
func (m *Model) PagesTotal() int64 {
	if m.config.Hosts > 1_000_000 {
		return int64(math.Round(float64(m.config.Hosts) * float64(m.config.PagesPerHostMean)))
	}
	var n int64
	for i := range m.config.Hosts {
		n += int64(m.pagesOf(i))
	}
	return n
}
