package engine

import (
	"context"
	"errors"
	"net/netip"
	"time"

	"github.com/zeebo/xxh3"

	"orbweaver/dnsres"
	"orbweaver/engine/dnsrecords"
	"orbweaver/engine/fetch/addrguard"
	"orbweaver/engine/journal"
	"orbweaver/engine/limits"
	"orbweaver/engine/outage"
	"orbweaver/engine/outcome"
	"orbweaver/engine/politeness"
	"orbweaver/engine/site"
	"orbweaver/engine/sites"
	"orbweaver/engine/urlx"
	"orbweaver/engine/visit"
)

// resolveLoop finds the addresses of newborn sites. Several goroutines run the same loop; each has one site in hand.
type resolveLoop struct {
	ledger     *journal.Store
	bench      *visit.Workbench
	unresolved *sites.UnresolvedQueue
	under      *undertaker
	quotas     *limits.Quotas
	keys       politeness.AddrKeys
	names      dnsrecords.Source
	servers    *outage.NameServers
	scarce     *outage.Shortage
	allowed    func(netip.AddrPort) error // may it be connected to; nil if everything may
	feed       func()
	giveUp     time.Duration
	hashSeed   uint64
	wake       func() // of the distributor
}

const (
	nameTries      = 7                // failures of the name servers before a site is given up that has never answered: three quarters of an hour
	nameWaitMost   = time.Hour        // longest wait after a failure
	nameWaitMin    = 10 * time.Second // least wait after a failure; mostly it is the resolver that says how long
	nameWaitOutage = 10 * time.Second // wait while all name servers are down: nobody is blamed
)

func (l *resolveLoop) run(ctx context.Context) error {
	for {
		vs, err := l.unresolved.TakeOldest(ctx)
		if err != nil {
			return nil //nolint:nilerr // ctx ended: the loop's ordinary end
		}
		host := string(urlx.Host(l.bench.AppendKey(nil, vs)))
		ans, err := l.resolve(ctx, vs, host)
		if ctx.Err() == nil && err == nil {
			l.settle(vs, ans)
		}
		l.unresolved.Done()
		l.wake()
		if err != nil {
			return err
		}
	}
}

// resolve resolves the name of a site. An error is one of the archive.
func (l *resolveLoop) resolve(ctx context.Context, vs *visit.State, host string) (dnsres.Answer, error) {
	return l.names.Resolve(ctx, host, func() (isFirst bool) {
		l.bench.ReadSite(vs, func(s *site.State) { isFirst = s.FailureStreak().NameFailures == 0 })
		return isFirst
	})
}

// settle places, defers or gives up one site.
func (l *resolveLoop) settle(vs *visit.State, ans dnsres.Answer) {
	l.ledger.Steps.Begin()
	defer l.ledger.Steps.End()
	now := time.Now()
	down := l.servers.Check()
	switch {
	case ans.Err == nil && len(ans.Addrs) > 0:
		addrs, fate := l.reachable(vs, ans.Addrs)
		if len(addrs) == 0 {
			l.failed(vs, now, ans.Expires, fate)
			return
		}
		key := l.keys.KeyOf(addrs[0])
		if !l.bench.Addr(vs).IsValid() && !l.quotas.AddHostAt(key) {
			l.under.Bury(vs, outcome.QuotaAddress)
			return
		}
		l.bench.WithSite(vs, func(s *site.State) {
			s.SetAddrs(addrs, key, ans.Expires)
			s.NoteNameFound()
		})
		l.bench.Place(vs, key, now)
		l.feed()
	case errors.Is(ans.Err, dnsres.ErrLocal):
		l.scarce.Note(now, ans.Err.Error())
		l.bench.Defer(vs, now.Add(outage.ShortageWait))
	case ans.Err == nil, errors.Is(ans.Err, dnsres.ErrNotFound):
		l.failed(vs, now, ans.Expires, outcome.NameNotFound)
	case down:
		l.bench.WithSite(vs, (*site.State).NoteNameServersDown)
		l.bench.Defer(vs, now.Add(nameWaitOutage))
	default:
		l.failed(vs, now, ans.Expires, outcome.NameFault)
	}
}

// failed gives a site up that has no address, or lets it wait, at least until the resolver asks again. A site that has
// answered before waits ever longer, for --give-up at most; one that has not waits only for name servers that fail,
// which say nothing about the name.
func (l *resolveLoop) failed(vs *visit.State, now, again time.Time, why outcome.Outcome) {
	var fails int
	var answered, overdue bool
	l.bench.WithSite(vs, func(s *site.State) {
		fails = s.NoteNameFailure(why, now)
		answered, overdue = s.HasAnswered, s.FailingFor(now) >= l.giveUp
	})
	switch {
	case answered && overdue:
		l.under.Bury(vs, outcome.GivenUp)
		return
	case !answered && (why != outcome.NameFault || fails >= nameTries):
		l.under.Bury(vs, why)
		return
	}
	wait := nameWaitMin
	if answered {
		for n := 1; n < fails && wait < nameWaitMost; n++ {
			wait *= 2
		}
		wait = min(wait, nameWaitMost)
		wait += wait / 4 * time.Duration(xxh3.HashSeed(l.bench.AppendKey(nil, vs), l.hashSeed+uint64(fails))%256) / 256 // not all at once
	}
	if least := now.Add(wait); again.Before(least) {
		again = least
	}
	l.bench.Defer(vs, again)
}

// reachable keeps the addresses that may be connected to; fate says why there is none.
func (l *resolveLoop) reachable(vs *visit.State, addrs []netip.Addr) (kept []netip.Addr, fate outcome.Outcome) {
	if l.allowed == nil {
		return addrs[:1:1], outcome.None
	}
	port := uint16(urlx.Port(l.bench.AppendKey(nil, vs)))
	fate = outcome.BlockedAddress
	for _, a := range addrs {
		switch err := l.allowed(netip.AddrPortFrom(a, port)); {
		case err == nil:
			kept = append(kept, a)
		case errors.Is(err, addrguard.ErrBlockedPort):
			fate = outcome.BlockedPort
		}
	}
	return kept, fate
}
