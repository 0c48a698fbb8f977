package limits

import (
	"net/netip"
	"sync"
	"sync/atomic"

	"orbweaver/engine/page/filter"
	"orbweaver/internal/urlx"
)

// QuotaOptions are the most hosts and pages of a registrable domain, and the most hosts of an address. 0 is no limit.
type QuotaOptions struct {
	HostsPerDomain int // --max-hosts-per-domain
	PagesPerDomain int // --max-per-domain
	HostsPerAddr   int // --max-hosts-per-ip
}

// Quotas are the limits over several sites. Nothing is counted that has no limit. The counts are in no checkpoint: a
// resumed crawl counts the sites that it knows again (see AddKnownSite). The zero value has no limits. Safe for
// concurrent use.
type Quotas struct {
	options atomic.Pointer[QuotaOptions] // nil: no limits

	mu      sync.Mutex
	domains map[string]domainCount
	addrs   map[netip.Addr]int // number of hosts
}

type domainCount struct{ hosts, pages int }

// NewQuotas returns quotas with all counts at zero.
func NewQuotas(o QuotaOptions) *Quotas {
	q := &Quotas{domains: map[string]domainCount{}, addrs: map[netip.Addr]int{}}
	q.options.Store(&o)
	return q
}

// InForce returns the limits.
func (q *Quotas) InForce() QuotaOptions {
	if o := q.options.Load(); o != nil {
		return *o
	}
	return QuotaOptions{}
}

// Change changes the limits. If something must be counted that was not counted before, all counts begin again, and
// count is called to count what is known: see AddKnownSite. Sites that are added meanwhile may be counted twice.
func (q *Quotas) Change(o QuotaOptions, count func() error) error {
	before := q.InForce()
	isCounted := before.countsDomains() || !o.countsDomains()
	isCounted = isCounted && (before.HostsPerAddr > 0 || o.HostsPerAddr == 0)
	q.mu.Lock()
	if !isCounted {
		q.domains, q.addrs = map[string]domainCount{}, map[netip.Addr]int{}
	}
	q.options.Store(&o)
	q.mu.Unlock()
	if isCounted {
		return nil
	}
	return count()
}

// AreSet reports whether there is a limit, so that sites and pages must be counted.
func (q *Quotas) AreSet() bool {
	o := q.InForce()
	return o.countsDomains() || o.HostsPerAddr > 0
}

func (o QuotaOptions) countsDomains() bool { return o.HostsPerDomain > 0 || o.PagesPerDomain > 0 }

// HostsReached reports whether the domain of the site has as many hosts as it may have.
func (q *Quotas) HostsReached(site []byte) bool {
	most := q.InForce().HostsPerDomain
	return most > 0 && q.countOf(site).hosts >= most
}

// PagesReached reports whether as many pages of the domain of the site are stored as may be.
func (q *Quotas) PagesReached(site []byte) bool {
	most := q.InForce().PagesPerDomain
	return most > 0 && q.countOf(site).pages >= most
}

func (q *Quotas) countOf(site []byte) domainCount {
	domain := filter.Domain(urlx.Host(site))
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.domains[string(domain)]
}

// AddSite counts a new site.
func (q *Quotas) AddSite(site []byte) { q.add(site, domainCount{hosts: 1}) }

// AddPage counts a stored page. url may be a URL of the site, or the key of the site.
func (q *Quotas) AddPage(url []byte) { q.add(url, domainCount{pages: 1}) }

func (q *Quotas) add(site []byte, more domainCount) {
	if !q.InForce().countsDomains() {
		return
	}
	domain := filter.Domain(urlx.Host(site))
	q.mu.Lock()
	defer q.mu.Unlock()
	c := q.domains[string(domain)]
	q.domains[string(domain)] = domainCount{c.hosts + more.hosts, c.pages + more.pages}
}

// AddHostAt counts a host at the first address of its name, unless there are as many hosts as may be. Then it returns
// false. addr is the address key (see --ipv6-prefix).
func (q *Quotas) AddHostAt(addr netip.Addr) bool {
	most := q.InForce().HostsPerAddr
	if most == 0 {
		return true
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.addrs[addr] >= most {
		return false
	}
	q.addrs[addr]++
	return true
}

// AddKnownSite counts a site that a checkpoint contains. An invalid addr means that the site has no address yet. stored
// is the number of its stored pages.
func (q *Quotas) AddKnownSite(site []byte, addr netip.Addr, stored int32) {
	q.add(site, domainCount{1, int(stored)})
	if q.InForce().HostsPerAddr > 0 && addr.IsValid() {
		q.mu.Lock()
		q.addrs[addr]++
		q.mu.Unlock()
	}
}
