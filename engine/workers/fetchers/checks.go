package fetchers

import (
	"bytes"
	"context"
	"net/netip"
	"time"

	"github.com/zeebo/xxh3"

	"orbweaver/engine/net/outage"
	"orbweaver/engine/net/robots"
	"orbweaver/engine/state/cluster"
	"orbweaver/engine/state/queued"
	"orbweaver/engine/state/site"
	"orbweaver/engine/store/crawllog"
	"orbweaver/engine/store/journal"
	"orbweaver/internal/outcome"
	"orbweaver/internal/urlx"
)

// A verdict is what follows from a check.
type verdict uint8

const (
	pass          verdict = iota // the next check decides; after the last one the request is made
	refuse                       // the item has its outcome without a request; the next item follows
	giveBack                     // the Visit returns with all its items
	fetchRedirect                // the item is the target of a robots.txt redirect: fetch it
	fetchRobots                  // fetch the robots.txt of the site first
	fetchRoot                    // fetch the root page of the site first
	waitForWay                   // the Visit returns with all its items, after a rest of the worker
)

// A check is a row of the table: if the condition is true, the consequence follows and no later row is asked.
type check struct {
	name        string
	condition   string
	consequence string
	test        func(k *checker, ctx context.Context, c *current) (verdict, error)
}

// A checkTable is a list of checks in their order.
type checkTable []check

// ask asks the checks in order, until one has a verdict.
func (t checkTable) ask(ctx context.Context, k *checker, c *current) (verdict, error) {
	for i := range t {
		if v, err := t[i].test(k, ctx, c); v != pass || err != nil {
			return v, err
		}
	}
	return pass, nil
}

// visitChecks are asked once for a Visit, before its first item. The order matters:
//
//   - "stopping" first: a stop must not wait for anything, and no site dies in it.
//   - "excluded" before "recent owner": an excluded site dies at once, whichever agent owned it.
//   - "recent owner" before "address expired": no agent resolves a name for a site that it may not visit yet.
func visitChecks() checkTable {
	return checkTable{
		{
			"stopping", "the crawl stops", "the Visit returns",
			(*checker).isStopping,
		},
		{
			"excluded", "the operator has blocked the site, or a host rule excludes it",
			"the site is dead; its URLs get the outcome Blocked",
			(*checker).isExcluded,
		},
		{
			"postponed", "a host rule has not-before, and the time has not come",
			"the Visit returns; the site is due then",
			(*checker).isPostponed,
		},
		{
			"group", "the site, or another site of its address, is in another group of hosts than its place says",
			"the Visit returns; the site has its place in that group",
			(*checker).hasOtherGroup,
		},
		{
			"recent owner", "another agent owned the site recently and may still be in an exchange with it",
			"the Visit returns; the site is due when that agent has certainly ended",
			(*checker).hasRecentOwner,
		},
		{
			"address expired", "the address is older than the TTL of its DNS record",
			"the Visit returns; the site is resolved again",
			(*checker).isAddrExpired,
		},
	}
}

// itemChecks are asked for each item of a Visit, until one is fetched. The order matters:
//
//   - "foreign" first: this agent decides nothing about an item of another agent, and fetches no redirect for it.
//   - "redirect decided" before "redirect": no site makes this agent break the rules of another one.
//   - "redirect" before all others: the item is no URL of this site, so its filters, rules and quotas do not apply.
//   - "filters" before "site unreachable" and "robots.txt missing": a site is not asked for rules that no URL needs.
//   - "site unreachable" before "robots.txt missing": it ends the attempts at robots.txt.
//   - "robots.txt missing" before "proof by robots.txt": a new copy is also a proof.
//   - "recovery pending" and "recovered" after the robots rows: they may wait for other agents.
//   - "recovered" and "finished" may change places: "recovered" leaves a URL that is finished to "finished".
//   - "finished" before "disallowed" and the quotas: a URL keeps the outcome that the journal has.
func itemChecks() checkTable {
	return checkTable{
		{
			"foreign", "another agent owns the site",
			"the item goes to that agent with the outcome HandedOver",
			(*checker).isForeign,
		},
		{
			"redirect decided", "the item is the target of another site's robots.txt redirect, and the rules of this site, " +
				"which are known, are this target or disallow it",
			"they are the answer; or the redirect fails without a request",
			(*checker).isTargetDecided,
		},
		{
			"redirect", "the item is the target of a robots.txt redirect",
			"it is fetched for the site that it came from",
			(*checker).isRobotsRedirect,
		},
		{
			"filters", "the lists or the fetch filter in force refuse the URL",
			"outcome Filtered, unless the URL is finished",
			(*checker).isFiltered,
		},
		{
			"site unreachable", "no rules after site.RobotsTriesMax attempts, and the site has never answered",
			"the site is dead; its URLs get the outcome RobotsUnreachable",
			(*checker).isUnreachable,
		},
		{
			"robots.txt missing", "the site has no rules, or they expire soon",
			"its robots.txt is fetched first",
			(*checker).needsRobots,
		},
		{
			"proof needed", "the site fails, and a proof is due (see site.State.NextProbe)",
			"its robots.txt or its root page is fetched first",
			(*checker).needsProof,
		},
		{
			"recovery pending", "another agent that may have the page has not answered",
			"the Visit returns; the site is due when that agent can be asked again",
			(*checker).awaitsRecovery,
		},
		{
			"recovered", "another agent, or an earlier run, has the page",
			"outcome Recovered, unless the URL is finished",
			(*checker).isRecovered,
		},
		{
			"finished", "the journal of an unclean run has the outcome of the URL",
			"that outcome",
			(*checker).isFinished,
		},
		{
			"disallowed", "robots.txt disallows the URL",
			"outcome RobotsDenied",
			(*checker).isDisallowed,
		},
		{
			"host quota", "as many pages of the site are stored as may be",
			"outcome QuotaHost",
			(*checker).isHostFull,
		},
		{
			"domain quota", "as many pages of the domain are stored as may be",
			"outcome QuotaDomain",
			(*checker).isDomainFull,
		},
	}
}

// exchangeChecks are asked before each exchange, of whatever kind. The order matters: the ownership view may change
// while the agents are asked for the lease, so the owner is asked for again after it.
func exchangeChecks() checkTable {
	return checkTable{
		{
			"way down", "a proxy or another gateway keeps all sites from answering, and another exchange is the probe",
			"the Visit returns; the site is due after outage.NetworkRetryWait",
			(*checker).isWayDown,
		},
		{
			"address lease", "another agent may contact the address, or the group of hosts, now",
			"the Visit returns; the address is due when the lease can be asked for again",
			(*checker).isAddrDenied,
		},
		{
			"owner changed", "the site went to another agent meanwhile",
			"the Visit returns",
			(*checker).hasNewOwner,
		},
		{
			"owner returned", "the site went to another agent and came back meanwhile",
			"the Visit returns; the site is due when that agent has certainly ended",
			(*checker).hasRecentOwner,
		},
	}
}

// A checker has the conditions of the checks. It is the only place that decides whether an item is fetched.
type checker struct {
	Settings
	cluster  cluster.VisitGate
	cancel   *cluster.Exchange // the exchange that the end of an address lease cancels
	finished *journal.FinishedURLs
	log      *crawllog.Log
	way      *outage.Way
	stopping <-chan struct{}
	hashSeed uint64
	worker   int

	visit, item, exchange checkTable
}

// when returns v if the condition is true, and pass if not.
func (v verdict) when(condition bool) (verdict, error) {
	if condition {
		return v, nil
	}
	return pass, nil
}

func (k *checker) isStopping(context.Context, *current) (verdict, error) {
	select {
	case <-k.stopping:
		return giveBack, nil
	default:
		return pass, nil
	}
}

func (k *checker) hasRecentOwner(_ context.Context, c *current) (verdict, error) {
	if c.foreign {
		return pass, nil
	}
	due := k.cluster.NotBefore(c.result.Visit.Key)
	if due.IsZero() {
		return pass, nil
	}
	c.result.Release.SiteDue = due
	return giveBack, nil
}

func (k *checker) isAddrExpired(_ context.Context, c *current) (verdict, error) {
	if c.foreign || !c.site.Addrs().Expired(c.now) {
		return pass, nil
	}
	c.result.Release.Unresolved = true
	return giveBack, nil
}

func (k *checker) isForeign(_ context.Context, c *current) (verdict, error) {
	if !c.foreign {
		return pass, nil
	}
	if c.queued.RobotsOf != nil { // not a URL of the crawl
		c.refuse(refusal{routed: c.wholeURL()})
	} else if fp, o := k.finished.OutcomeOf(k.hashSeed, c.url); o != outcome.None {
		k.refuseFinished(c, fp, o)
	} else {
		c.refuse(refusal{outcome: outcome.HandedOver, routed: c.wholeURL()})
	}
	return refuse, nil
}

func (k *checker) isTargetDecided(_ context.Context, c *current) (verdict, error) {
	origin := c.queued.RobotsOf
	if origin == nil || bytes.Equal(origin, c.result.Visit.Key) || c.site.NeedsRobots(c.now) {
		return pass, nil
	}
	answer := &site.RobotsAnswer{URL: bytes.Clone(c.url), Item: bytes.Clone(c.item)}
	if string(c.queued.Rest) == robots.FilePath {
		answer.Rules, answer.Age = c.site.Rules, c.now.Sub(site.RulesFetchedAt(&c.site))
	} else {
		if c.isAllowed(c.queued.Rest) {
			return pass, nil
		}
		answer.Failed = true
	}
	if c.result.RobotsAnswer != nil {
		return giveBack, nil // one for each Visit
	}
	c.result.RobotsAnswer = answer
	c.refuse(refusal{})
	return refuse, nil
}

func (k *checker) isRobotsRedirect(_ context.Context, c *current) (verdict, error) {
	return fetchRedirect.when(c.queued.RobotsOf != nil)
}

func (k *checker) isFiltered(_ context.Context, c *current) (verdict, error) {
	if k.Live.Passes(c.url, &c.queued) || k.isKnownFinished(c.url) {
		return pass, nil
	}
	return k.logRefusal(c, outcome.Filtered)
}

func (k *checker) isKnownFinished(url []byte) bool {
	_, o := k.finished.OutcomeOf(k.hashSeed, url)
	return o != outcome.None
}

func (k *checker) isUnreachable(_ context.Context, c *current) (verdict, error) {
	s := &c.site
	if !s.NeedsRobots(c.now) || s.Rules != nil || s.RobotsTries < site.RobotsTriesMax || s.HasAnswered ||
		c.settings.IgnoreRobots {
		return pass, nil
	}
	c.giveUpSite(outcome.RobotsUnreachable)
	return giveBack, nil
}

func (k *checker) needsRobots(_ context.Context, c *current) (verdict, error) {
	if c.settings.IgnoreRobots && c.site.RobotsTries > 0 { // it was for the archive alone
		return pass, nil
	}
	return fetchRobots.when(c.site.NeedsRobots(c.now))
}

func (k *checker) needsProof(_ context.Context, c *current) (verdict, error) {
	s := &c.site
	streak := s.FailureStreak()
	if streak == (site.FailureStreak{}) {
		return pass, nil
	}
	items := c.result.Visit.Items[c.index:]
	areBroken := c.result.Visit.More == 0 && areSuspect(items)
	early := !areBroken && streak.FailingFor(c.now) < site.ProbeWait(k.Live.Bounds().StallWait)
	switch s.NextProbe(len(items), early) {
	case site.RobotsProbe:
		return fetchRobots, nil
	case site.RootProbe:
		root := append(append([]byte(nil), c.result.Visit.Key...), '/')
		if k.Live.Passes(root, &queued.URL{Depth: c.queued.Depth}) {
			return fetchRoot, nil
		}
		s.SetFailureStreak(streak.WithRootFiltered())
	default:
	}
	return pass, nil
}

// fewItems is how many URLs of a site one suspect among them may put at risk.
const fewItems = 3

// areSuspect reports whether the last URLs of a site are likely broken. A URL is suspect if it has failed in a way that
// counted as a try: the site had answered another request just before, or the URL is a page requisite. In an outage
// only the first URL that fails is suspect, and requisites. So the answer is yes if all are suspect, or one of a few.
// Then the site need not fail for long before its root page is asked for a proof: if it serves that page, these URLs
// are broken.
func areSuspect(items [][]byte) bool {
	suspect := 0
	for _, item := range items {
		suspect += min(queued.MustDecode(item).Tries, 1)
	}
	return suspect == len(items) || suspect > 0 && len(items) <= fewItems
}

func (k *checker) awaitsRecovery(ctx context.Context, c *current) (verdict, error) {
	if c.holders == nil {
		var err error
		if c.holders, err = k.cluster.Recover(ctx, c.result.Visit.Key, c.result.Visit.Items); err != nil {
			return pass, err
		}
	}
	if c.holders == nil || c.holders[c.index].RetryAt.IsZero() {
		return pass, nil
	}
	c.result.Release.SiteDue = c.holders[c.index].RetryAt
	return giveBack, nil
}

func (k *checker) isRecovered(_ context.Context, c *current) (verdict, error) {
	if c.holders == nil || c.holders[c.index].Instance == "" || k.isKnownFinished(c.url) {
		return pass, nil
	}
	c.refuse(refusal{outcome: outcome.Recovered, routed: c.wholeURL(), holder: c.holders[c.index].Instance})
	return refuse, nil
}

func (k *checker) isFinished(_ context.Context, c *current) (verdict, error) {
	fp, o := k.finished.OutcomeOf(k.hashSeed, c.url)
	if o == outcome.None {
		return pass, nil
	}
	if o.Class() == outcome.ClassAnswer && o != outcome.Redirect && o != outcome.ClientError {
		countStored(c)
		if queued.IsRequisite(c.queued.Embeds) {
			site.CountRequisite(&c.site, c.queued.Embeds)
		}
		k.Quotas.AddPage(c.url)
	}
	k.refuseFinished(c, fp, o)
	return refuse, nil
}

// refuseFinished gives an item the outcome that an earlier run gave it, with a line in crawl.log if a kill has lost it.
func (k *checker) refuseFinished(c *current, fp xxh3.Uint128, o outcome.Outcome) {
	if k.finished.IsUnlogged(fp) {
		c.lines = crawllog.AppendRefusal(c.lines, c.url, &c.queued, o, k.worker)
	}
	c.refuse(refusal{outcome: o, finished: fp})
}

func (k *checker) isDisallowed(_ context.Context, c *current) (verdict, error) {
	_, path := urlx.Split(c.url)
	if c.settings.IgnoreRobots || c.isAllowed(path) {
		return pass, nil
	}
	return k.logRefusal(c, outcome.RobotsDenied)
}

func (k *checker) isHostFull(_ context.Context, c *current) (verdict, error) {
	limit := k.Live.Bounds().MaxPerHost
	if c.settings.HasCap {
		limit = c.settings.MaxPerHost
	}
	if limit <= 0 || int(c.site.Stored) < limit {
		return pass, nil
	}
	return k.logRefusal(c, outcome.QuotaHost)
}

func (k *checker) isDomainFull(_ context.Context, c *current) (verdict, error) {
	if !k.Quotas.PagesReached(c.url) {
		return pass, nil
	}
	return k.logRefusal(c, outcome.QuotaDomain)
}

// logRefusal refuses the item with a line in crawl.log, which is written when the outcome is counted.
func (k *checker) logRefusal(c *current, o outcome.Outcome) (verdict, error) {
	c.lines = crawllog.AppendRefusal(c.lines, c.url, &c.queued, o, k.worker)
	k.log.NoteRefusal(c.url, &c.queued, o)
	c.refuse(refusal{outcome: o})
	return refuse, nil
}

func (k *checker) isAddrDenied(ctx context.Context, c *current) (verdict, error) {
	var retryAt time.Time
	c.leased, retryAt = k.cluster.AcquireAddress(ctx, k.stopping, c.result.Visit.Addr, k.cancel)
	if !c.leased {
		c.result.Release.IPDue = retryAt
		return giveBack, nil
	}
	own := k.Groups.SharedAddr(c.site.Addrs().Current(c.result.Visit.Addr), c.result.Visit.Addr)
	if !own.IsValid() {
		return pass, nil
	}
	return k.shareAddr(ctx, c, own)
}

// shareAddr takes the address of a site of a group, beside the place of the group.
func (k *checker) shareAddr(ctx context.Context, c *current, own netip.Addr) (verdict, error) {
	granted, retryAt := k.Groups.BeginExchange(own, time.Now())
	if !granted {
		c.postponeSite(retryAt)
		return giveBack, nil
	}
	held := k.cancel.Context
	if granted, retryAt = k.cluster.AcquireAddress(ctx, k.stopping, own, k.cancel); !granted {
		k.Groups.EndExchange(own, time.Time{}, time.Now())
		c.postponeSite(retryAt)
		return giveBack, nil
	}
	c.shared = own
	return giveBack.when(k.cancel.Context != held) // the lease of the group has ended meanwhile
}

func (k *checker) hasNewOwner(_ context.Context, c *current) (verdict, error) {
	return giveBack.when(!k.cluster.Owns(c.result.Visit.Key))
}
