package engine

import (
	"bytes"
	"sync"

	"orbweaver/engine/robots"
)

// rulesPool holds equal robots rules once: most sites of a crawl have one of a few robots.txt, or none.
type rulesPool struct {
	mu     sync.Mutex
	byHash map[uint64]*robots.Rules
}

// rulesPoolMax bounds the table; beyond it new rules are simply not shared.
const rulesPoolMax = 1 << 16

func newRulesPool() *rulesPool {
	return &rulesPool{byHash: make(map[uint64]*robots.Rules)}
}

// share returns rules equal to r, r itself if it is the first of its kind.
func (p *rulesPool) share(r *robots.Rules) *robots.Rules {
	h := r.Hash()
	p.mu.Lock()
	defer p.mu.Unlock()
	if held, ok := p.byHash[h]; ok {
		if held == r || bytes.Equal(held.Append(nil), r.Append(nil)) {
			return held
		}
		return r
	}
	if len(p.byHash) < rulesPoolMax {
		p.byHash[h] = r
	}
	return r
}
