package order

import (
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/zeebo/xxh3"

	"orbweaver/engine/state/queued"
	"orbweaver/internal/plural"
	"orbweaver/internal/urlx"
)

// perHost visits a host to a depth before it comes to the next one, as UbiCrawler does. A visit begins with the first
// URL of a host. URLs of the host that are less than period links deeper belong to the visit. Deeper ones begin another
// visit, behind those that were found before, and so on.
type perHost struct {
	classes
	period int // depth of a visit, plus 1
	seed   uint64
	ranked []byte // the state of ranked, for a later run

	mu    sync.Mutex
	least [leastDepths]uint8 // least depth of the URLs of a host, plus 1; 0 for an unknown host
}

// leastDepths is the number of hosts whose depths are kept, by their hash; hosts may share one.
const leastDepths = 1 << 18

// The classes of perHost.
const (
	classOfVisit = iota
	classOfNewVisit
)

func newPerHost(depth int, seed uint64, state []byte) *perHost {
	p := &perHost{period: depth + 1, seed: seed}
	var least []byte
	least, p.ranked = splitState(state)
	copy(p.least[:], least)
	return p
}

// splitState returns the depths of perHost, if a state begins with them, and the state of ranked. A length tells them
// apart, since leastDepths is not a multiple of stateEntry.
func splitState(state []byte) (least, ranked []byte) {
	if len(state) >= leastDepths && len(state)%stateEntry == leastDepths%stateEntry {
		return state[:leastDepths], state[leastDepths:]
	}
	return nil, state
}

// QueueOf implements Policy.
func (p *perHost) QueueOf(url *queued.URL) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	least, class := p.classLocked(url)
	p.least[p.placeOf(url.Rest)] = uint8(least)
	return class
}

// placeOf is the place of the host of a URL or of a site.
func (p *perHost) placeOf(url []byte) uint64 {
	return xxh3.HashSeed(urlx.Host(url), p.seed) % leastDepths
}

// classLocked returns the class of a URL, and the least depth of its host, plus 1.
func (p *perHost) classLocked(url *queued.URL) (least, class int) {
	depth := min(url.Depth+1, math.MaxUint8)
	if least = int(p.least[p.placeOf(url.Rest)]); least == 0 || least > depth {
		least = depth
	}
	if (depth-least)%p.period == 0 {
		return least, classOfNewVisit
	}
	return least, classOfVisit
}

// leastDepth returns the least depth of the URLs of a host, plus 1; 0 for an unknown host.
func (p *perHost) leastDepth(site []byte) uint8 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.least[p.placeOf(site)]
}

// noteDepth notes a depth of leastDepth. The least one counts.
func (p *perHost) noteDepth(site []byte, least uint8) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if known := &p.least[p.placeOf(site)]; *known == 0 || *known > least {
		*known = least
	}
}

// Explain implements Policy.
func (p *perHost) Explain(url *queued.URL, isQueued bool) Explanation {
	e := Explanation{
		Visit: Visit{ModePerHost, p.period - 1}.String(), Classes: classOfNewVisit + 1, By: "its depth",
	}
	if isQueued {
		p.mu.Lock()
		defer p.mu.Unlock()
		least, class := p.classLocked(url)
		e.Class = class + 1
		e.By = fmt.Sprintf("its depth, %s below the first URL of its host",
			plural.Count(min(url.Depth+1, math.MaxUint8)-least, "link"))
	}
	return e
}

// State implements Policy.
func (p *perHost) State() []byte {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Concat(p.least[:], p.ranked)
}
