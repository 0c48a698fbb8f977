package dnsres

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"sync/atomic"
	"time"
)

// Resolver resolves names from its cache or by asking upstream servers. It is safe for concurrent use. No goroutine
// runs after Resolve returns.
type Resolver struct {
	o        Options
	udp, tcp asker
	file     hostsFile
	cache    *cache
	ups      []*upstream
	turn     atomic.Uint32 // counter that selects the first upstream of a question
	failures failureRow
	six      extra // questions for AAAA
	control  control
	hijack   hijack
	start    time.Time // base of ticks
	n        counters
}

type counters struct {
	lookups, literals, badNames, hits, faultHits, joined, found, notFound, faults atomic.Uint64
	exchanges, tcp, timeouts, mismatches                                          atomic.Uint64
}

// New returns a Resolver that asks through x. It returns an error if the options are invalid after defaults are set.
func New(o Options, x Exchanger) (*Resolver, error) {
	o = o.WithDefaults()
	if err := o.Validate(); err != nil {
		return nil, err
	}
	if x == nil {
		return nil, fmt.Errorf("%w: no Exchanger", ErrOptions)
	}
	r := &Resolver{
		o: o, udp: limited{x, false}, tcp: limited{x, true}, cache: newCache(o.CacheMax), start: time.Now(),
		file: hostsFile{path: o.HostsFile},
	}
	if n, ok := x.(NetExchanger); ok {
		r.udp = &sockets{dial: n.Dial}
	}
	for _, addr := range o.Upstreams {
		r.ups = append(r.ups, &upstream{addr: addr})
	}
	return r, nil
}

// Resolve resolves a name, with or without a trailing dot, or a literal address. If ctx ends, it returns the error of
// ctx, which is not cached.
func (r *Resolver) Resolve(ctx context.Context, name string) Answer {
	return r.ResolveHeard(ctx, name, nil)
}

// ResolveHeard is like Resolve, and stores in h the replies of the name servers. h may be nil and must be empty. It
// stays empty if the answer was in the cache or another caller asked.
func (r *Resolver) ResolveHeard(ctx context.Context, name string, h *Heard) Answer {
	r.n.lookups.Add(1)
	if addr, ok := literal(name); ok {
		r.n.literals.Add(1)
		return Answer{Addrs: []netip.Addr{addr}}
	}
	name, err := cleanName(name)
	if err != nil {
		r.n.badNames.Add(1)
		return Answer{Err: err}
	}
	if answer, ok := special(name, r.o.IPv6); ok {
		r.n.literals.Add(1)
		return answer
	}
	if answer, ok := r.file.answer(name, &r.o); ok {
		r.n.literals.Add(1)
		return answer
	}
	for {
		answer, known, f, leads := r.cache.begin(name, time.Now())
		switch {
		case known:
			if answer.Err != nil && !answer.Definite() {
				r.n.faultHits.Add(1)
			} else {
				r.n.hits.Add(1)
			}
			return answer
		case leads:
			return r.lead(ctx, name, f, h)
		}
		r.n.joined.Add(1)
		select {
		case <-f.done:
			if !f.abandoned {
				return f.answer
			}
			// The context of the leader ended, not ours: ask, or wait for a new leader.
		case <-ctx.Done():
			return Answer{Err: contextError(ctx)}
		}
	}
}

// lead asks for a name on behalf of all waiting callers.
func (r *Resolver) lead(ctx context.Context, name string, f *flight, h *Heard) Answer {
	answer, abandoned := Answer{Err: ErrServer}, true
	// Deferred, so that waiting callers continue if an Exchanger panics in a test that recovers.
	defer func() { r.cache.finish(name, f, answer, abandoned) }()
	if h != nil {
		h.At = time.Now()
	}
	out := r.ask(ctx, name, h)
	if ctx.Err() != nil && out.fault() {
		answer = Answer{Err: contextError(ctx)}
		return answer
	}
	abandoned = false
	now := time.Now()
	switch {
	case out.err == nil:
		r.n.found.Add(1)
		r.control.name.Store(&name)
		answer = Answer{Addrs: out.addrs, Expires: now.Add(clamp(out.ttl, r.o.TTLMin, r.o.TTLMax))}
		f.faults = 0
	case !out.fault():
		r.n.notFound.Add(1)
		answer = Answer{Err: out.err, Expires: now.Add(clamp(out.ttl, r.o.TTLMin, r.o.NegativeTTL))}
		f.faults = 0
	case errors.Is(out.err, ErrLocal):
		answer = Answer{Err: out.err, Expires: now.Add(localLife)}
	default:
		r.n.faults.Add(1)
		answer = Answer{Err: out.err, Expires: now.Add(r.faultLife(f))}
	}
	return answer
}

// localLife is the time until a question that could not be sent is tried again.
const localLife = time.Second

// faultLife returns how long a server fault is valid. It grows with each fault, because the zone itself may be broken.
// During an outage it does not grow.
func (r *Resolver) faultLife(f *flight) time.Duration {
	if r.Outage() {
		return min(r.o.OutageAfter, r.o.FaultMin)
	}
	life := r.o.FaultMin
	for range f.faults {
		if life *= 2; life >= r.o.FaultMax {
			life = r.o.FaultMax
			break
		}
	}
	f.faults = min(f.faults+1, 64)
	return life
}

func clamp(d, low, high time.Duration) time.Duration { return max(low, min(d, high)) }

func contextError(ctx context.Context) error {
	return fmt.Errorf("dnsres: %w", ctx.Err())
}

// tick returns a time as nanoseconds of the monotonic clock, never 0, so that steps of the wall clock have no effect.
func (r *Resolver) tick(now time.Time) int64 { return int64(now.Sub(r.start)) + 1 }

// Stats returns the counters.
func (r *Resolver) Stats() Stats {
	n := &r.n
	cached, evicted := r.cache.stats()
	return Stats{
		Lookups: n.lookups.Load(), Literals: n.literals.Load(), BadNames: n.badNames.Load(), Hits: n.hits.Load(),
		FaultHits: n.faultHits.Load(), Joined: n.joined.Load(), Found: n.found.Load(), NotFound: n.notFound.Load(),
		Faults: n.faults.Load(), Exchanges: n.exchanges.Load(), TCP: n.tcp.Load(), Timeouts: n.timeouts.Load(),
		Mismatches: n.mismatches.Load(), Evicted: evicted, Cached: cached, Outage: r.Outage(),
	}
}
