package schedule

import (
	"orbweaver/engine/frontier/sites"
	"orbweaver/engine/state/queued"
	"orbweaver/engine/state/site"
	"orbweaver/engine/state/visit"
	"orbweaver/workbench"
)

// requisitesPerPage is how many requisites each stored page of the crawl entitles each site to: it may have them for
// pages of other sites.
const requisitesPerPage = 100

// sitePages is the number of pages with all their requisites that a site may serve, whatever the crawl has stored.
const sitePages = 2

// hasAllRequisites reports whether a site has as many page requisites as it may have, fetched or queued, and how many
// it has. Otherwise a tree of style sheets that import others would be fetched without end.
func (p *placer) hasAllRequisites(vs *visit.State) (n int, full bool) {
	most := int64(p.options.PageRequisites)
	if most <= 0 {
		return 0, false
	}
	of := p.workbench.Site(vs)
	data := of.Data()
	n = data.Requisites.Total() + of.Urgent() + int(p.queues.Requisites(vs))
	return n, int64(n) >= sitePages*most+requisitesPerPage*p.dead.Counters.Documents()
}

// isSurplus reports whether a URL that is so many embed hops from its page shares the turns of its site with the pages,
// because too many of the kind would precede them. If no page is fetched any more, none is.
func (p *placer) isSurplus(vs *visit.State, embeds int) bool {
	of := p.workbench.Site(vs)
	if of.IsDead() || p.queues.SurplusIsUrgent() {
		return false
	}
	if embeds > queued.EmbedsMax {
		return true
	}
	_, urgent := p.queues.Len(vs)
	data := of.Data()
	return !site.MayPrecede(&data, embeds, of.Urgent()+int(urgent))
}

// surplusScan looks once for all sites with surplus requisites on disk when the crawl reaches its limit of pages. From
// then on these are urgent, and a site that has nothing else must know of them.
type surplusScan struct {
	workbench *visit.Workbench
	queues    sites.DiskQueues
	chunk     int
	isDone    bool
	found     []*visit.State
}

// step does a part, within a step of the journal, and reports whether there is more.
func (s *surplusScan) step() (more bool) {
	if !s.queues.SurplusIsUrgent() {
		s.chunk, s.isDone = 0, false
		return false
	}
	if s.isDone {
		return false
	}
	s.found = s.found[:0]
	more = s.workbench.Listing().Keys(s.chunk, func(vs *visit.State, _ []byte, _ workbench.State, items uint64) {
		if items > 0 {
			s.found = append(s.found, vs)
		}
	})
	for _, vs := range s.found {
		if s.queues.Surplus(vs) > 0 {
			s.workbench.Site(vs).SetOnDisk(s.queues.Len(vs))
		}
	}
	s.chunk++
	s.isDone = !more
	return more
}
