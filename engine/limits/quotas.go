package limits

import (
	"net/netip"
	"sync"

	"orbweaver/engine/filter"
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
	options QuotaOptions

	mu      sync.Mutex
	domains map[string]domainCount
	addrs   map[netip.Addr]int32 // number of hosts
}

type domainCount struct{ hosts, pages int32 }

// NewQuotas returns quotas with all counts at zero.
func NewQuotas(o QuotaOptions) *Quotas {
	return &Quotas{options: o, domains: map[string]domainCount{}, addrs: map[netip.Addr]int32{}}
}

// AreSet reports whether there is a limit, so that sites and pages must be counted.
func (q *Quotas) AreSet() bool { return q.countsDomains() || q.options.HostsPerAddr > 0 }

func (q *Quotas) countsDomains() bool {
	return q.options.HostsPerDomain > 0 || q.options.PagesPerDomain > 0
}

// HostsReached reports whether the domain of the site has as many hosts as it may have.
func (q *Quotas) HostsReached(site []byte) bool {
	return q.options.HostsPerDomain > 0 && q.countOf(site).hosts >= int32(q.options.HostsPerDomain)
}

// PagesReached reports whether as many pages of the domain of the site are stored as may be.
func (q *Quotas) PagesReached(site []byte) bool {
	return q.options.PagesPerDomain > 0 && q.countOf(site).pages >= int32(q.options.PagesPerDomain)
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
	if !q.countsDomains() {
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
	if q.options.HostsPerAddr == 0 {
		return true
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.addrs[addr] >= int32(q.options.HostsPerAddr) {
		return false
	}
	q.addrs[addr]++
	return true
}

// AddKnownSite counts a site that a checkpoint contains. An invalid addr means that the site has no address yet. stored
// is the number of its stored pages.
func (q *Quotas) AddKnownSite(site []byte, addr netip.Addr, stored int32) {
	q.add(site, domainCount{1, stored})
	if q.options.HostsPerAddr > 0 && addr.IsValid() {
		q.mu.Lock()
		q.addrs[addr]++
		q.mu.Unlock()
	}
}
