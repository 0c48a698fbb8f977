package visit

import "time"

// HeldSite is a site that waits for a worker in the share of its class. It was due at Due. Its due time on the
// workbench is Until, so that it neither fills the front nor is looked at in vain.
type HeldSite struct {
	Key        []byte
	Due, Until time.Time
}

const (
	heldMost   = 20 * time.Second // a site that is not called before is due again after this time
	heldPlaces = 1 << 17          // sites of a class that are noted; others wait for heldMost
)

// heldSites is a queue of the sites of a class. The zero value is empty.
type heldSites struct {
	sites []HeldSite
	first int
}

func (q *heldSites) len() int { return len(q.sites) - q.first }

// add notes a site, unless there are heldPlaces.
func (q *heldSites) add(h HeldSite, now time.Time) {
	q.dropEnded(now)
	if q.len() < heldPlaces {
		q.sites = append(q.sites, h)
	}
}

// next removes the site that has waited longest.
func (q *heldSites) next(now time.Time) (h HeldSite, ok bool) {
	if q.dropEnded(now); q.len() == 0 {
		return h, false
	}
	h, q.sites[q.first] = q.sites[q.first], HeldSite{}
	q.first++
	return h, true
}

// dropEnded removes the sites that are due by themselves.
func (q *heldSites) dropEnded(now time.Time) {
	for q.len() > 0 && !q.sites[q.first].Until.After(now) {
		q.sites[q.first] = HeldSite{}
		q.first++
	}
	if q.first > len(q.sites)/2 {
		n := copy(q.sites, q.sites[q.first:])
		clear(q.sites[n:])
		q.sites, q.first = q.sites[:n], 0
	}
}
