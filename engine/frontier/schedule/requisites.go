package schedule

import (
	"orbweaver/engine/state/queued"
	"orbweaver/engine/state/site"
	"orbweaver/engine/state/visit"
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
	of := p.Workbench.Site(vs)
	data := of.Data()
	n = data.Requisites.Total() + of.Urgent() + int(p.OnDisk.Requisites(vs))
	return n, int64(n) >= sitePages*most+requisitesPerPage*p.counters.Documents()
}

// isSurplus reports whether a URL that is so many embed hops from its page shares the turns of its site with the pages,
// because too many of the kind would precede them. If no page is fetched any more, none is.
func (p *placer) isSurplus(vs *visit.State, embeds int) bool {
	of := p.Workbench.Site(vs)
	if of.IsDead() || p.OnDisk.SurplusIsUrgent() {
		return false
	}
	if embeds > queued.EmbedsMax {
		return true
	}
	_, urgent := p.OnDisk.Len(vs)
	data := of.Data()
	return !site.MayPrecede(&data, embeds, of.Urgent()+int(urgent))
}
