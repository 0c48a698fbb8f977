package dnsres

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"strings"
	"sync/atomic"
	"time"

	"github.com/miekg/dns"
)

// Health is what a Resolver knows about its name servers.
type Health struct {
	Servers      []netip.AddrPort
	FailingSince time.Time  // the first failure after the last usable reply; zero if there is none
	HasAnswered  bool       // some name had an address
	Down         bool       // result of Outage
	Hijack       netip.Addr // with which names are answered that do not exist; see CheckHijack
}

// Health returns what is known now.
func (r *Resolver) Health() Health {
	h := Health{Servers: r.o.Upstreams, HasAnswered: r.control.name.Load() != nil, Down: r.Outage()}
	if since := r.failures.first.Load(); since != 0 {
		h.FailingSince = r.start.Add(time.Duration(since))
	}
	if addr := r.hijack.addr.Load(); addr != nil {
		h.Hijack = *addr
	}
	return h
}

// control decides whether failures are those of the servers or of the names: a row of names whose own servers are
// broken looks like an outage. A control question asks for a name that does not exist, below a name that had an
// address. No cache knows it, so a usable reply shows that the servers and the network work.
type control struct {
	name   atomic.Pointer[string] // the last name that had an address
	next   atomic.Int64           // no control question before this tick
	failed atomic.Bool            // the last control question had no usable reply
}

// hijack is what is known of answers to names that do not exist.
type hijack struct {
	isChecked atomic.Bool
	addr      atomic.Pointer[netip.Addr]
}

// failureRow counts failures in a row.
type failureRow struct {
	count atomic.Int64 // since the last usable reply
	first atomic.Int64 // tick of the first of them; 0 if there is none
}

func (f *failureRow) add(tick int64) {
	f.first.CompareAndSwap(0, tick)
	f.count.Add(1)
}

// isLong reports whether the row is long enough for an outage.
func (f *failureRow) isLong(tick int64, o *Options) bool {
	first := f.first.Load()
	return first != 0 && f.count.Load() >= int64(o.OutageRow) && tick-first >= int64(o.OutageAfter)
}

// endFailures notes a usable reply.
func (r *Resolver) endFailures() {
	if r.failures.count.Load() != 0 {
		r.failures.count.Store(0)
		r.failures.first.Store(0)
		r.control.failed.Store(false)
	}
}

// Outage reports whether no upstream has given a usable reply for OutageAfter, with at least OutageRow failures. If a
// name had an address before, a control question must have failed too. Then the name servers or the network are down,
// and nothing is known about any name. The first usable reply ends the outage.
func (r *Resolver) Outage() bool {
	return r.failures.isLong(r.tick(time.Now()), &r.o) && (r.control.name.Load() == nil || r.control.failed.Load())
}

// askControl asks a control question if failures look like an outage, at most one per OutageAfter.
func (r *Resolver) askControl(ctx context.Context) {
	name := r.control.name.Load()
	now, next := r.tick(time.Now()), r.control.next.Load()
	if name == nil || !r.failures.isLong(now, &r.o) {
		return
	}
	if now < next || !r.control.next.CompareAndSwap(next, now+int64(r.o.OutageAfter)) {
		return
	}
	unknown := fmt.Sprintf("%08x.%s.", rand.Uint32(), *name)
	if _, err := cleanName(unknown); err != nil {
		r.control.failed.Store(true) // the name is too long to ask below it
		return
	}
	for _, up := range r.order(time.Now()) {
		f := new(attempts).form(up, r.tick(time.Now()))
		reply, err := r.exchange(ctx, up, question(unknown, dns.TypeA, f), f)
		if ctx.Err() != nil {
			return
		}
		if err == nil && (reply.Rcode == dns.RcodeSuccess || reply.Rcode == dns.RcodeNameError) {
			r.endFailures()
			return
		}
	}
	r.control.failed.Store(true)
}

// hijackNames is how many random names must have an address. One might exist.
const hijackNames = 2

// CheckHijack finds out whether the name servers answer names that do not exist with an address, as those of some
// networks do, to show advertisements. It asks for two random names, as browsers did. Health has the result. Only
// the first call asks, once a name had an address: then the crawl has names to ask for, and the network works.
func (r *Resolver) CheckHijack(ctx context.Context) {
	if r.control.name.Load() == nil || r.hijack.isChecked.Load() || !r.hijack.isChecked.CompareAndSwap(false, true) {
		return
	}
	var found netip.Addr
	for range hijackNames {
		answer := r.chase(ctx, randomName(), dns.TypeA, nil)
		if answer.err != nil || len(answer.addrs) == 0 {
			return
		}
		found = answer.addrs[0]
	}
	r.hijack.addr.Store(&found)
}

// randomName returns a name of com that is not registered.
func randomName() string {
	var b strings.Builder
	for range 20 {
		b.WriteByte(byte('a' + rand.IntN(26)))
	}
	return b.String() + ".com"
}
