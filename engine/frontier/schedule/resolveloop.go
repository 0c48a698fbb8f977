package schedule

import (
	"context"
	"errors"
	"net/netip"
	"time"

	"github.com/zeebo/xxh3"

	"orbweaver/dnsres"
	"orbweaver/engine/frontier/sites"
	"orbweaver/engine/net/fetch/addrguard"
	"orbweaver/engine/net/outage"
	"orbweaver/engine/net/politeness"
	"orbweaver/engine/state/limits"
	"orbweaver/engine/state/settings"
	"orbweaver/engine/state/site"
	"orbweaver/engine/state/visit"
	"orbweaver/engine/store/journal"
	"orbweaver/internal/outcome"
	"orbweaver/internal/urlx"
)

// ResolveLoop finds the addresses of new sites, and of known sites whose addresses have expired. Several goroutines
// call ResolveNames; each resolves one site at a time.
type ResolveLoop struct {
	Steps           *journal.Steps
	Workbench       *visit.Workbench
	Sites           *sites.Table
	Unresolved      *sites.UnresolvedQueue
	Dead            *DeadSites
	Quotas          *limits.Quotas
	AddrKeys        politeness.AddrKeys
	Names           journal.DNSSource
	NameServers     *outage.NameServers
	Shortage        *outage.Shortage
	Choose          AddrChooser
	WakeFeeder      func()
	Live            *settings.Live
	HashSeed        uint64
	WakeDistributor func()
}

// AddrChooser returns the addresses of a site that may be connected to, in order of preference. If there is none,
// refusal says why.
type AddrChooser func(port uint16, addrs []netip.Addr) (allowed []netip.Addr, refusal outcome.Outcome)

// FirstAddr is the AddrChooser of a crawl that may connect to every address.
func FirstAddr(_ uint16, addrs []netip.Addr) ([]netip.Addr, outcome.Outcome) {
	return addrs[:1:1], outcome.None
}

// AllowedAddrs returns the AddrChooser of a crawl that may connect to the addresses for which check returns no error.
// Errors of check wrap addrguard.ErrBlockedAddress or addrguard.ErrBlockedPort.
func AllowedAddrs(check func(netip.AddrPort) error) AddrChooser {
	return func(port uint16, addrs []netip.Addr) (allowed []netip.Addr, refusal outcome.Outcome) {
		refusal = outcome.BlockedAddress
		for _, a := range addrs {
			switch err := check(netip.AddrPortFrom(a, port)); {
			case err == nil:
				allowed = append(allowed, a)
			case errors.Is(err, addrguard.ErrBlockedPort):
				refusal = outcome.BlockedPort
			}
		}
		return allowed, refusal
	}
}

const (
	nameTries      = 7                // failures before a site that never answered is given up: 45 minutes
	nameWaitMost   = time.Hour        // longest wait after a failure
	nameWaitMin    = 10 * time.Second // least wait after a failure; mostly the resolver names a longer one
	nameWaitOutage = 10 * time.Second // wait while all name servers are down, which is no fault of the site
)

// ResolveNames resolves names until ctx ends.
func (l *ResolveLoop) ResolveNames(ctx context.Context) error {
	for {
		key, err := l.Unresolved.TakeOldest(ctx)
		if err != nil {
			return nil //nolint:nilerr // ctx ended: the loop's ordinary end
		}
		ans, err := l.resolve(ctx, key)
		if ctx.Err() == nil && err == nil {
			l.settle(key, ans)
		}
		l.Unresolved.Done()
		l.WakeDistributor()
		if err != nil {
			return err
		}
		l.NameServers.CheckHijack(ctx)
	}
}

// resolve resolves the name of a site. An error is of the archive.
func (l *ResolveLoop) resolve(ctx context.Context, key []byte) (dnsres.Answer, error) {
	return l.Names.Resolve(ctx, string(urlx.Host(key)), func() (isFirst bool) {
		l.Sites.UseLoaded(key, func(vs *visit.State) {
			l.Workbench.Site(vs).Read(func(s *site.State) { isFirst = s.FailureStreak().NameFailures == 0 })
		})
		return isFirst
	})
}

// settle places, defers or gives up one site, unless it has died meanwhile.
func (l *ResolveLoop) settle(key []byte, ans dnsres.Answer) {
	l.Steps.Begin()
	defer l.Steps.End()
	down := l.NameServers.Check()
	l.Sites.UseLoaded(key, func(vs *visit.State) {
		if !l.Workbench.Site(vs).IsDead() {
			l.settleSite(vs, uint16(urlx.Port(key)), ans, down)
		}
	})
}

// settleSite is settle for a site that stays on the workbench meanwhile. down says that all name servers are.
func (l *ResolveLoop) settleSite(vs *visit.State, port uint16, ans dnsres.Answer, down bool) {
	now := time.Now()
	switch {
	case ans.Err == nil && len(ans.Addrs) > 0:
		addrs, refusal := l.Choose(port, ans.Addrs)
		if len(addrs) == 0 {
			l.fail(vs, now, ans.Expires, refusal)
			return
		}
		before := l.Workbench.Site(vs).Addr()
		l.Workbench.Site(vs).Read(func(s *site.State) { addrs = s.Addrs().CurrentFirst(addrs, before) })
		key := l.AddrKeys.KeyOf(addrs[0])
		if !l.Workbench.Site(vs).Addr().IsValid() && !l.Quotas.AddHostAt(key) {
			l.Dead.GiveUp(vs, outcome.QuotaAddress)
			return
		}
		l.Workbench.Site(vs).Update(func(s *site.State) {
			s.SetAddrs(addrs, key, ans.Expires)
			s.SetFailureStreak(s.FailureStreak().WithNameFound())
		})
		l.Workbench.Place(vs, key, now)
		l.WakeFeeder()
	case errors.Is(ans.Err, dnsres.ErrLocal):
		l.Shortage.Note(now, ans.Err.Error())
		l.Workbench.Defer(vs, now.Add(outage.ShortageWait))
	case ans.Err == nil, errors.Is(ans.Err, dnsres.ErrNotFound):
		l.fail(vs, now, ans.Expires, outcome.NameNotFound)
	case down:
		l.Workbench.Site(vs).Update(func(s *site.State) {
			s.SetFailureStreak(s.FailureStreak().WithNameServersDown())
		})
		l.Workbench.Defer(vs, now.Add(nameWaitOutage))
	default:
		l.fail(vs, now, ans.Expires, outcome.NameFault)
	}
}

// triesOfNames returns how often the name of a site that has never answered is asked for. --tries shortens it.
func (l *ResolveLoop) triesOfNames() int {
	if tries := l.Live.Policy().Tries; tries > 0 {
		return min(tries, nameTries)
	}
	return nameTries
}

// fail gives a site up that has no address, or lets it wait, at least until retryAt, when the answer expires. A site
// that has answered before waits longer each time, and is given up after --give-up. Another site waits only if name
// servers failed, which says nothing about the name.
func (l *ResolveLoop) fail(vs *visit.State, now, retryAt time.Time, why outcome.Outcome) {
	var fails int
	var answered, overdue bool
	l.Workbench.Site(vs).Update(func(s *site.State) {
		streak := s.FailureStreak().WithNameFailure(why, now)
		s.SetFailureStreak(streak)
		fails = int(streak.NameFailures)
		answered, overdue = s.HasAnswered, streak.FailingFor(now) >= l.Live.Bounds().GiveUp
	})
	switch {
	case answered && overdue:
		l.Dead.GiveUp(vs, outcome.GivenUp)
		return
	case !answered && (why != outcome.NameFault || fails >= l.triesOfNames()):
		l.Dead.GiveUp(vs, why)
		return
	}
	wait := nameWaitMin
	if answered {
		for n := 1; n < fails && wait < nameWaitMost; n++ {
			wait *= 2
		}
		wait = min(wait, nameWaitMost)
		spread := xxh3.HashSeed(l.Workbench.Site(vs).AppendKey(nil), l.HashSeed+uint64(fails)) % 256
		wait += wait / 4 * time.Duration(spread) / 256 // so that not all sites come at once
	}
	if least := now.Add(wait); retryAt.Before(least) {
		retryAt = least
	}
	l.Workbench.Defer(vs, retryAt)
}
