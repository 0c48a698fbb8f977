package engine

import (
	"errors"
	"fmt"
	"net/netip"
	"sync"

	"orbweaver/engine/filter"
	"orbweaver/engine/novelty"
	"orbweaver/engine/outcome"
	"orbweaver/engine/site"
	"orbweaver/engine/traps"
	"orbweaver/engine/urlx"
	"orbweaver/engine/visit"
	"orbweaver/workbench"
	"orbweaver/workbench/cold"
)

// quotas are the limits over several sites: those of a registrable domain, and those of an address. What has no limit
// is not counted. The counts are in no cut: a resume makes them anew from the sites that are known. Safe for concurrent
// use.
type quotas struct {
	hostsOfDomain int // --max-hosts-per-domain; 0 for no limit
	pagesOfDomain int // --max-per-domain
	hostsOfAddr   int // --max-hosts-per-ip; addresses are keys, see politeness.AddrKeys
	traps         *traps.Detector

	mu      sync.Mutex
	domains map[string]domainCount
	addrs   map[netip.Addr]int32
}

type domainCount struct{ hosts, pages int32 }

func newQuotas(c *Config, t *traps.Detector) *quotas {
	return &quotas{
		hostsOfDomain: c.Limits.MaxHostsPerDomain, pagesOfDomain: c.Limits.MaxPerDomain,
		hostsOfAddr: c.Limits.MaxHostsPerIP, traps: t,
		domains: map[string]domainCount{}, addrs: map[netip.Addr]int32{},
	}
}

// countsDomains says that somebody wants to know.
func (q *quotas) countsDomains() bool { return q != nil && q.hostsOfDomain+q.pagesOfDomain > 0 }

// siteRefusal is why a site that is not known yet does not become known. Its name is not looked up then.
type siteRefusal struct {
	outcome outcome.Outcome  // None if it becomes known, or waits
	why     novelty.Evidence // of the outcome Novelty
	waits   bool             // for its turn: see distributor.placeLateSite
}

// refuses says why a site that is not known yet does not become known, or not before it has waited for its turn.
func (q *quotas) refuses(site []byte, waited bool) siteRefusal {
	if q == nil {
		return siteRefusal{}
	}
	if q.hostsOfDomain > 0 && q.of(filter.Domain(urlx.Host(site))).hosts >= int32(q.hostsOfDomain) {
		return siteRefusal{outcome: outcome.QuotaDomain}
	}
	switch verdict, why := q.traps.AdmitSite(site, waited); verdict {
	case novelty.MemberSkipped:
		return siteRefusal{outcome: outcome.Novelty, why: why}
	case novelty.MemberDelayed:
		return siteRefusal{waits: true}
	default:
		return siteRefusal{}
	}
}

// full says that no more pages of the site's domain are wanted.
func (q *quotas) full(site []byte) bool {
	return q != nil && q.pagesOfDomain > 0 && q.of(filter.Domain(urlx.Host(site))).pages >= int32(q.pagesOfDomain)
}

func (q *quotas) of(domain []byte) domainCount {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.domains[string(domain)]
}

// made counts a site that came to be known.
func (q *quotas) made(site []byte) {
	if q.countsDomains() {
		q.count(site, domainCount{hosts: 1})
	}
}

// stored counts a page.
func (q *quotas) stored(site []byte) {
	if q.countsDomains() {
		q.count(site, domainCount{pages: 1})
	}
}

func (q *quotas) count(site []byte, more domainCount) {
	domain := filter.Domain(urlx.Host(site))
	q.mu.Lock()
	defer q.mu.Unlock()
	c := q.domains[string(domain)]
	q.domains[string(domain)] = domainCount{c.hosts + more.hosts, c.pages + more.pages}
}

// place counts a site at the address that was found for it first, and says whether there is room for it.
func (q *quotas) place(addr netip.Addr) bool {
	if q == nil || q.hostsOfAddr == 0 {
		return true
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.addrs[addr] >= int32(q.hostsOfAddr) {
		return false
	}
	q.addrs[addr]++
	return true
}

// known counts a site that a resume found.
func (q *quotas) known(site []byte, addr netip.Addr, stored int32) {
	if q.countsDomains() {
		q.count(site, domainCount{1, stored})
	}
	if q.hostsOfAddr > 0 && addr.IsValid() {
		q.mu.Lock()
		q.addrs[addr]++
		q.mu.Unlock()
	}
}

// countKnown makes the counts anew from the sites that the cut knows; what the journal adds is counted as it comes. The
// caller is alone.
func (q *quotas) countKnown(b *visit.Workbench, store *cold.Store, rules *site.RulesPool) error {
	if !q.countsDomains() && q.hostsOfAddr == 0 {
		return nil
	}
	var key []byte
	b.Each(func(vs *visit.State, _ workbench.State) bool {
		stored := int32(0)
		b.ReadSite(vs, func(s *site.State) { stored = s.Stored })
		key = b.AppendKey(key[:0], vs)
		q.known(key, b.Addr(vs), stored)
		return true
	})
	var bad error
	err := store.Each(func(key, form []byte) bool {
		addr, s, err := workbench.ReadForm(form, func(b []byte) (site.State, error) { return site.Decode(b, rules) })
		if bad = err; err == nil {
			q.known(key, addr, s.Stored)
		}
		return bad == nil
	})
	if err = errors.Join(err, bad); err != nil {
		return fmt.Errorf("engine: resume: %w", err)
	}
	return nil
}
