package schedule

import (
	"orbweaver/engine/state/queued"
	"orbweaver/engine/state/visit"
	"orbweaver/internal/urlx"
)

// lookAhead finds the sites of the next URLs of a source together, since their data is usually not in the CPU's cache.
// Only the Distributor evicts sites, and it evicts none between a look-up and the last use of its result.
type lookAhead struct {
	known *visit.State // the site of the URL that is read next; nil if it is unknown or was not looked up

	sites []*visit.State // of the URLs after that
	next  int            // of sites
	list  itemList       // keys
	keys  [][]byte
}

// lookAheadMost is the most URLs whose sites are looked up together: see workbench.Workbench.GetAll.
const lookAheadMost = 16

// reset forgets all sites.
func (a *lookAhead) reset() { a.known, a.sites, a.next = nil, a.sites[:0], 0 }

// advance sets known for the URL that from.next returns next.
func (a *lookAhead) advance(w *visit.Workbench, from source) {
	if a.next == len(a.sites) {
		a.reset()
		a.list.reset()
		from.peek(lookAheadMost, func(item []byte) {
			it := queued.MustDecode(item)
			key, _ := urlx.Split(it.Rest)
			a.list.add(key)
		})
		a.keys = a.keys[:0]
		a.list.each(func(key []byte) bool {
			a.keys = append(a.keys, key)
			return true
		})
		a.sites = w.GetAll(a.keys, a.sites)
	}
	if a.known = nil; a.next < len(a.sites) {
		a.known = a.sites[a.next]
		a.next++
	}
}
