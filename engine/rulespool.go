package engine

import (
	"sync"
	"sync/atomic"
	"weak"

	"orbweaver/engine/robots"
)

// rulesPool holds equal robots rules once: most sites of a crawl have one of a few robots.txt, or none. It keeps none
// alive: rules that no site has any more go, and their place in the table with the next cleaning.
//
// It knows how much memory all of them take. When that is more than there should be, hosts that are idle go to disk with their rules
// (hosts.freeze), and files of more than rulesSmall are not taken, as if they could not be had: who has names without number, each with
// half a megabyte of rules of its own, gets no more memory than that.
type rulesPool struct {
	max   int64        // bytes from which on memory for rules is short; 0 for never
	bytes atomic.Int64 // of rules that were held at the last recount or have come since

	mu     sync.Mutex
	byHash map[uint64]weak.Pointer[robots.Rules]
	clean  int // the table's length at which it is cleaned
}

const (
	rulesPoolMin = 1024
	rulesSmall   = 2 << 10 // more than an ordinary file takes
)

func newRulesPool(max int64) *rulesPool {
	return &rulesPool{max: max, byHash: make(map[uint64]weak.Pointer[robots.Rules]), clean: rulesPoolMin}
}

// isShort says that rules take more memory than they should.
func (p *rulesPool) isShort() bool { return p.max > 0 && p.bytes.Load() > p.max }

// mayTake says that there is room for rules that were just fetched.
func (p *rulesPool) mayTake(r *robots.Rules) bool { return r.Size() <= rulesSmall || !p.isShort() }

// recount looks which rules are held, or not collected yet: a walk through all of them.
func (p *rulesPool) recount() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sweep()
	var sum int64
	for _, held := range p.byHash {
		if r := held.Value(); r != nil {
			sum += int64(r.Size())
		}
	}
	p.bytes.Store(sum)
}

// share returns rules equal to r, r itself if it is the first of its kind.
func (p *rulesPool) share(r *robots.Rules) *robots.Rules {
	h := r.Hash()
	p.mu.Lock()
	defer p.mu.Unlock()
	held := p.byHash[h].Value()
	if held != nil && held.Equal(r) {
		return held
	}
	if held == nil { // else two differ, under one hash of 64 bits
		p.enter(h, r)
	}
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
		p.sweep()
	}
	p.byHash[h] = weak.Make(r)
	p.bytes.Add(int64(r.Size()))
}

// sweep takes the places of those that are gone. The caller holds mu.
func (p *rulesPool) sweep() {
	for h, held := range p.byHash {
		if held.Value() == nil {
			delete(p.byHash, h)
		}
	}
	p.clean = max(rulesPoolMin, 2*len(p.byHash))
}
