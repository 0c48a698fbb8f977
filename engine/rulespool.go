package engine

import (
	"sync"
	"weak"

	"orbweaver/engine/robots"
)

// rulesPool holds equal robots rules once: most sites of a crawl have one of a few robots.txt, or none. It keeps none
// alive: rules that no site has any more go, and their place in the table with the next cleaning.
type rulesPool struct {
	mu     sync.Mutex
	byHash map[uint64]weak.Pointer[robots.Rules]
	clean  int // the table's length at which it is cleaned
}

const rulesPoolMin = 1024

func newRulesPool() *rulesPool {
	return &rulesPool{byHash: make(map[uint64]weak.Pointer[robots.Rules]), clean: rulesPoolMin}
}

// share returns rules equal to r, r itself if it is the first of its kind.
func (p *rulesPool) share(r *robots.Rules) *robots.Rules {
	h := r.Hash()
	p.mu.Lock()
	defer p.mu.Unlock()
	if held := p.byHash[h].Value(); held != nil {
		if held.Equal(r) {
			return held
		}
		return r // two that differ, under one hash of 64 bits
	}
	p.enter(h, r)
	return r
}

// decode returns the rules whose snapshot form is b, which it borrows.
func (p *rulesPool) decode(b []byte) (*robots.Rules, error) {
	h := robots.HashOf(b)
	p.mu.Lock()
	defer p.mu.Unlock()
	held := p.byHash[h].Value()
	if held != nil && held.Is(b) {
		return held, nil
	}
	r, err := robots.Decode(b)
	if err == nil && held == nil {
		p.enter(h, r)
	}
	return r, err
}

func (p *rulesPool) enter(h uint64, r *robots.Rules) {
	if len(p.byHash) >= p.clean {
		for h, held := range p.byHash {
			if held.Value() == nil {
				delete(p.byHash, h)
			}
		}
		p.clean = max(rulesPoolMin, 2*len(p.byHash))
	}
	p.byHash[h] = weak.Make(r)
}
