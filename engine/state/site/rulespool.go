package site

import (
	"sync"
	"sync/atomic"
	"weak"

	"orbweaver/engine/net/robots"
)

// RulesPool stores equal robots rules once: most sites of a crawl have no robots.txt or one of a few common files. The
// pool holds weak pointers, so rules that no site uses are garbage collected. Their map entries are removed by the next
// sweep. It is safe for concurrent use.
//
// The pool also measures the memory of all rules. Above MaxBytes, two things happen. The engine evicts idle hosts, with
// their rules, to disk. And rules larger than smallRulesMax are rejected: the robots.txt counts as unreachable. So an
// attacker with many host names and large files cannot exhaust the memory.
type RulesPool struct {
	MaxBytes int64        // memory limit in bytes; 0 for no limit
	Bytes    atomic.Int64 // bytes of rules in use at the last Recount plus those added since

	mu      sync.Mutex
	byHash  map[uint64]weak.Pointer[robots.Rules]
	sweepAt int // length of byHash at which the next sweep runs
}

const (
	sweepAtMin    = 1024
	smallRulesMax = 2 << 10 // bytes; larger than an ordinary robots.txt needs
)

// NewRulesPool returns an empty pool. max is the memory limit in bytes, 0 for none.
func NewRulesPool(max int64) *RulesPool {
	return &RulesPool{MaxBytes: max, byHash: make(map[uint64]weak.Pointer[robots.Rules]), sweepAt: sweepAtMin}
}

// IsOverLimit reports whether the rules use more than MaxBytes.
func (p *RulesPool) IsOverLimit() bool { return p.MaxBytes > 0 && p.Bytes.Load() > p.MaxBytes }

// Accepts reports whether the pool has memory for newly fetched rules.
func (p *RulesPool) Accepts(r *robots.Rules) bool {
	return r.Size() <= smallRulesMax || !p.IsOverLimit()
}

// Recount sets Bytes to the size of all rules that are still in memory. It visits every entry.
func (p *RulesPool) Recount() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sweep()
	var sum int64
	for _, held := range p.byHash {
		if r := held.Value(); r != nil {
			sum += int64(r.Size())
		}
	}
	p.Bytes.Store(sum)
}

// Share returns the stored rules that equal r. If there are none, it stores and returns r.
func (p *RulesPool) Share(r *robots.Rules) *robots.Rules {
	h := r.Hash()
	p.mu.Lock()
	defer p.mu.Unlock()
	held := p.byHash[h].Value()
	if held != nil && held.Equal(r) {
		return held
	}
	if held == nil { // else: two different rules with the same 64-bit hash; r stays unshared
		p.add(h, r)
	}
	return r
}

// Decode returns the rules whose encoded form (robots.Rules.Append) is b. It borrows b. The error is that of
// robots.Decode.
func (p *RulesPool) Decode(b []byte) (*robots.Rules, error) {
	h := robots.HashOf(b)
	p.mu.Lock()
	defer p.mu.Unlock()
	held := p.byHash[h].Value()
	if held != nil && held.HasEncoding(b) {
		return held, nil
	}
	r, err := robots.Decode(b)
	if err == nil && held == nil {
		p.add(h, r)
	}
	return r, err
}

// add stores r under its hash h. The caller holds mu.
func (p *RulesPool) add(h uint64, r *robots.Rules) {
	if len(p.byHash) >= p.sweepAt {
		p.sweep()
	}
	p.byHash[h] = weak.Make(r)
	p.Bytes.Add(int64(r.Size()))
}

// sweep removes map entries of rules that were garbage collected. The caller holds mu.
func (p *RulesPool) sweep() {
	for h, held := range p.byHash {
		if held.Value() == nil {
			delete(p.byHash, h)
		}
	}
	p.sweepAt = max(sweepAtMin, 2*len(p.byHash))
}
