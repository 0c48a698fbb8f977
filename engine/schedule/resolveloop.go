package schedule

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

// ResolveLoop finds the addresses of newborn sites. Several goroutines run the same loop; each has one site in hand.
type ResolveLoop struct {
	Journal         *journal.Store
	Workbench       *visit.Workbench
	Unresolved      *sites.UnresolvedQueue
	Dead            *DeadSites
	Quotas          *limits.Quotas
	AddrKeys        politeness.AddrKeys
	Names           dnsrecords.Source
	NameServers     *outage.NameServers
	Shortage        *outage.Shortage
	Allowed         func(netip.AddrPort) error // may it be connected to; nil if everything may
	WakeFeeder      func()
	GiveUp          time.Duration
	HashSeed        uint64
	WakeDistributor func() // of the distributor
}

const (
	nameTries      = 7                // failures before a site that never answered is given up: 45 minutes
	nameWaitMost   = time.Hour        // longest wait after a failure
	nameWaitMin    = 10 * time.Second // least wait after a failure; mostly it is the resolver that says how long
	nameWaitOutage = 10 * time.Second // wait while all name servers are down: nobody is blamed
)

// Run resolves names until ctx ends.
func (l *ResolveLoop) Run(ctx context.Context) error {
	for {
		vs, err := l.Unresolved.TakeOldest(ctx)
		if err != nil {
			return nil //nolint:nilerr // ctx ended: the loop's ordinary end
		}
		host := string(urlx.Host(l.Workbench.AppendKey(nil, vs)))
		ans, err := l.resolve(ctx, vs, host)
		if ctx.Err() == nil && err == nil {
			l.settle(vs, ans)
		}
		l.Unresolved.Done()
		l.WakeDistributor()
		if err != nil {
			return err
		}
	}
}

// resolve resolves the name of a site. An error is one of the archive.
func (l *ResolveLoop) resolve(ctx context.Context, vs *visit.State, host string) (dnsres.Answer, error) {
	return l.Names.Resolve(ctx, host, func() (isFirst bool) {
		l.Workbench.ReadSite(vs, func(s *site.State) { isFirst = s.FailureStreak().NameFailures == 0 })
		return isFirst
	})
}

// settle places, defers or gives up one site.
func (l *ResolveLoop) settle(vs *visit.State, ans dnsres.Answer) {
	l.Journal.Steps.Begin()
	defer l.Journal.Steps.End()
	now := time.Now()
	down := l.NameServers.Check()
	switch {
	case ans.Err == nil && len(ans.Addrs) > 0:
		addrs, fate := l.reachable(vs, ans.Addrs)
		if len(addrs) == 0 {
			l.failed(vs, now, ans.Expires, fate)
			return
		}
		key := l.AddrKeys.KeyOf(addrs[0])
		if !l.Workbench.Addr(vs).IsValid() && !l.Quotas.AddHostAt(key) {
			l.Dead.GiveUp(vs, outcome.QuotaAddress)
			return
		}
		l.Workbench.WithSite(vs, func(s *site.State) {
			s.SetAddrs(addrs, key, ans.Expires)
			s.NoteNameFound()
		})
		l.Workbench.Place(vs, key, now)
		l.WakeFeeder()
	case errors.Is(ans.Err, dnsres.ErrLocal):
		l.Shortage.Note(now, ans.Err.Error())
		l.Workbench.Defer(vs, now.Add(outage.ShortageWait))
	case ans.Err == nil, errors.Is(ans.Err, dnsres.ErrNotFound):
		l.failed(vs, now, ans.Expires, outcome.NameNotFound)
	case down:
		l.Workbench.WithSite(vs, (*site.State).NoteNameServersDown)
		l.Workbench.Defer(vs, now.Add(nameWaitOutage))
	default:
		l.failed(vs, now, ans.Expires, outcome.NameFault)
	}
}

// failed gives a site up that has no address, or lets it wait, at least until the resolver asks again. A site that has
// answered before waits ever longer, for --give-up at most; one that has not waits only for name servers that fail,
// which say nothing about the name.
func (l *ResolveLoop) failed(vs *visit.State, now, again time.Time, why outcome.Outcome) {
	var fails int
	var answered, overdue bool
	l.Workbench.WithSite(vs, func(s *site.State) {
		fails = s.NoteNameFailure(why, now)
		answered, overdue = s.HasAnswered, s.FailingFor(now) >= l.GiveUp
	})
	switch {
	case answered && overdue:
		l.Dead.GiveUp(vs, outcome.GivenUp)
		return
	case !answered && (why != outcome.NameFault || fails >= nameTries):
		l.Dead.GiveUp(vs, why)
		return
	}
	wait := nameWaitMin
	if answered {
		for n := 1; n < fails && wait < nameWaitMost; n++ {
			wait *= 2
		}
		wait = min(wait, nameWaitMost)
		spread := xxh3.HashSeed(l.Workbench.AppendKey(nil, vs), l.HashSeed+uint64(fails)) % 256
		wait += wait / 4 * time.Duration(spread) / 256 // not all at once
	}
	if least := now.Add(wait); again.Before(least) {
		again = least
	}
	l.Workbench.Defer(vs, again)
}

// reachable keeps the addresses that may be connected to; fate says why there is none.
func (l *ResolveLoop) reachable(vs *visit.State, addrs []netip.Addr) (kept []netip.Addr, fate outcome.Outcome) {
	if l.Allowed == nil {
		return addrs[:1:1], outcome.None
	}
	port := uint16(urlx.Port(l.Workbench.AppendKey(nil, vs)))
	fate = outcome.BlockedAddress
	for _, a := range addrs {
		switch err := l.Allowed(netip.AddrPortFrom(a, port)); {
		case err == nil:
			kept = append(kept, a)
		case errors.Is(err, addrguard.ErrBlockedPort):
			fate = outcome.BlockedPort
		}
	}
	return kept, fate
}
