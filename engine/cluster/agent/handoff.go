package agent

import (
	"log/slog"
	"time"

	"orbweaver/engine/cluster/message"
	"orbweaver/engine/frontier/order"
	"orbweaver/engine/frontier/schedule"
	"orbweaver/engine/frontier/sites"
	"orbweaver/engine/peering/outbox"
	"orbweaver/engine/peering/ownership"
	"orbweaver/engine/state/counters"
	"orbweaver/engine/state/queued"
	"orbweaver/engine/state/site"
	"orbweaver/engine/state/visit"
	"orbweaver/engine/store/journal"
	"orbweaver/internal/outcome"
	"orbweaver/internal/urlx"
	"orbweaver/workbench"
)

// giver gives sites to other agents that own them now: first what is known of each, with what is in memory of its
// queue; and when all of them are that far, what they have on disk, in steps beside the crawl. A site with a Visit that
// is out goes when the Visit is back, so that no two agents visit it. Only the distributor calls Step.
type giver struct {
	views    *ownership.Timeline
	outbox   *outbox.Outbox
	sites    *sites.Table
	queues   sites.DiskQueues
	dead     *schedule.DeadSites
	counters *counters.Live
	log      *slog.Logger
	order    *order.Current
	// route sends a redirect of a robots.txt to the agent that it concerns. It returns scratch, perhaps grown.
	route func(scratch []byte, it *queued.URL) []byte
	// forget ends the wait of a site for a robots.txt.
	forget func(site []byte)

	isAsked     bool              // guarded by the steps: the view has changed
	recentViews []*ownership.View // guarded by the steps: in force since the last whole walk

	isWalking bool
	chunk     int            // of the workbench, to look at next; -1 after the last
	found     []*visit.State // to be given; none is dropped meanwhile, see schedule.Distributor
	withDisk  []*visit.State // of these, those that have something on disk
	visited   [][]byte       // keys of those whose Visit was out
	nextLook  time.Time      // at visited
	walk      struct {       // the current walk over the sites
		began time.Time
		sites int
		urls  int64
	}

	item, key, state, path []byte
	held                   int // URLs in item
	batch                  struct {
		bytes []byte // items to be sent
		ends  []int  // of each
	}
}

const (
	stepTime      = 5 * time.Millisecond  // of one step, which keeps the view from changing
	takeMax       = 256                   // items that are read from disk in one go
	siteItemBytes = 32 << 10              // an item of a message is no longer than that and one URL
	lookPeriod    = 50 * time.Millisecond // between two looks at sites whose Visit is out
	// recentViewsMax is how many former views are remembered. An agent whose sites come later is not told what is known
	// of them, and asks the sites.
	recentViewsMax = 16
)

// NoteView says that another view is in force in place of was. All steps stand still.
func (m *giver) NoteView(was *ownership.View) {
	m.isAsked = true
	if was != nil && len(m.recentViews) < recentViewsMax {
		m.recentViews = append(m.recentViews, was)
	}
}

// Step does a part, within a step of the journal, and says whether there is more to do now.
func (m *giver) Step(now time.Time) (more bool, err error) {
	if m.isAsked {
		m.isAsked, m.chunk = false, 0
		if !m.isWalking {
			m.isWalking, m.walk.began, m.walk.sites, m.walk.urls = true, now, 0, 0
		}
	}
	if len(m.visited) > 0 && !now.Before(m.nextLook) {
		if err := m.giveVisited(now); err != nil {
			return m.isWalking, err
		}
	}
	for end := time.Now().Add(stepTime); m.isWalking && time.Now().Before(end); {
		if m.outbox.HasOverflow() {
			if err := m.outbox.Spill(); err != nil {
				return true, err
			}
		}
		if err := m.continueWalk(now); err != nil {
			return true, err
		}
	}
	return m.isWalking, nil
}

// continueWalk does the next part of a walk.
func (m *giver) continueWalk(now time.Time) error {
	switch {
	case len(m.found) > 0:
		m.giveSite(m.found[len(m.found)-1], now)
		m.found = m.found[:len(m.found)-1]
	case m.chunk >= 0:
		m.findSites()
	case len(m.withDisk) > 0:
		over, err := m.giveDisk(m.withDisk[len(m.withDisk)-1], now)
		if over {
			m.withDisk = m.withDisk[:len(m.withDisk)-1]
		}
		return err
	default:
		m.isWalking = false
		if len(m.visited) == 0 {
			m.recentViews = nil
		}
		if m.walk.sites > 0 {
			m.log.Info("sites were given to the agents that they belong to now",
				"sites", m.walk.sites, "urls", m.walk.urls, "took", time.Since(m.walk.began).String())
		}
	}
	return nil
}

// findSites looks at the next 1,024 sites. Those go that have something queued, and those that this agent owned.
func (m *giver) findSites() {
	v := m.views.Load()
	sites := m.sites.Workbench.Listing()
	more := sites.Keys(m.chunk, func(vs *visit.State, key []byte, state workbench.State, held uint64) {
		if !v.Owns(key) && (held > 0 && state != workbench.Dead || m.hasOwned(key)) {
			m.found = append(m.found, vs)
		}
	})
	m.chunk++
	if !more {
		m.chunk = -1
	}
}

// hasOwned says that this agent owned a site since the last whole walk.
func (m *giver) hasOwned(key []byte) bool {
	for _, v := range m.recentViews {
		if v.Owns(key) {
			return true
		}
	}
	return false
}

// giveSite sends what is known of a site, and what it has in memory.
func (m *giver) giveSite(vs *visit.State, now time.Time) {
	b := m.sites.Workbench
	m.key = b.Site(vs).AppendKey(m.key[:0])
	m.state = m.state[:0]
	if m.views.Load().Owns(m.key) {
		return // the view has changed again
	}
	if !b.Site(vs).Read(func(s *site.State) { m.state = message.AppendState(m.state, s, now) }) {
		m.visited = append(m.visited, append([]byte(nil), m.key...))
		m.nextLook = now.Add(lookPeriod)
		return
	}
	var ok bool
	if m.batch.bytes, m.batch.ends, ok = b.Memory().Drain(vs, m.batch.bytes[:0], m.batch.ends[:0]); !ok {
		m.visited = append(m.visited, append([]byte(nil), m.key...))
		return
	}
	b.Unpark(vs, nil) // what it waits for goes to its new owner
	m.forget(m.key)
	m.giveDepth(m.key)
	m.beginItem(vs, now)
	m.addURLs(vs, now)
	if m.held > 0 || len(m.state) > 0 || b.Site(vs).Due().After(now) {
		m.sendItem()
		m.walk.sites++
	}
	if b.Site(vs).OnDisk() > 0 {
		m.withDisk = append(m.withDisk, vs)
	}
}

// giveDepth tells the owner of a site, by key or URL, from which depth of its host the order of visits counts. So its
// URLs get the same classes there.
func (m *giver) giveDepth(site []byte) {
	least, v := m.order.LeastDepth(site), m.views.Load()
	if owner := v.OwnerOf(site); least > 0 && owner != v.Self {
		key, _ := urlx.Split(site)
		m.outbox.PutBacklog(v.Instances[owner], message.AppendDepth(nil, key, least))
	}
}

// giveDisk sends a part of what a site has on disk, and says whether it was the last.
func (m *giver) giveDisk(vs *visit.State, now time.Time) (over bool, err error) {
	m.key = m.sites.Workbench.Site(vs).AppendKey(m.key[:0])
	if m.views.Load().Owns(m.key) {
		return true, nil
	}
	m.batch.bytes, m.batch.ends = m.batch.bytes[:0], m.batch.ends[:0]
	n, err := m.queues.Take(vs, takeMax, func(item []byte) {
		m.batch.bytes = append(m.batch.bytes, item...)
		m.batch.ends = append(m.batch.ends, len(m.batch.bytes))
	})
	m.state = m.state[:0]
	m.beginItem(vs, now)
	m.addURLs(vs, now) // also before an error: they are not on disk any more
	if m.held > 0 {
		m.sendItem()
	}
	m.sites.Workbench.Site(vs).SetOnDisk(m.queues.Len(vs))
	return err == nil && n < takeMax, err
}

// giveVisited gives the sites whose Visit has come back.
func (m *giver) giveVisited(now time.Time) error {
	keys := m.visited
	m.visited, m.nextLook = nil, now.Add(lookPeriod)
	for _, key := range keys {
		vs, err := m.sites.Get(key)
		if err != nil {
			m.visited = append(m.visited, key)
			return err
		}
		if vs != nil {
			m.giveSite(vs, now)
		}
	}
	if len(m.withDisk) > 0 {
		m.isWalking = true
	} else if len(m.visited) == 0 && !m.isWalking && !m.isAsked {
		m.recentViews = nil
	}
	return nil
}

// beginItem begins an item of a message.
func (m *giver) beginItem(vs *visit.State, now time.Time) {
	m.item, m.held = message.AppendSite(m.item[:0], m.key, m.sites.Workbench.Site(vs).Due().Sub(now), m.state, now), 0
}

// addURLs adds the items that were taken from a site.
func (m *giver) addURLs(vs *visit.State, now time.Time) {
	from := 0
	for _, end := range m.batch.ends {
		m.addURL(vs, m.batch.bytes[from:end], now)
		from = end
	}
}

// addURL adds one queued URL to the item, and gives it its outcome, unless it was done before a kill.
func (m *giver) addURL(vs *visit.State, raw []byte, now time.Time) {
	it := queued.MustDecode(raw)
	if it.RobotsOf != nil {
		it.Rest = append(append([]byte(nil), m.key...), it.Rest...)
		m.path = m.route(m.path, &it)
		return
	}
	m.path = append(append(m.path[:0], m.key...), it.Rest...)
	if m.dead.DropIfFinished(m.path, &it) {
		return
	}
	if len(m.item) > siteItemBytes {
		m.sendItem()
		m.state = m.state[:0] // it has gone
		m.beginItem(vs, now)
	}
	m.item = outbox.AppendItem(m.item, raw)
	m.held++
	m.counters.Finish(outcome.HandedOver, 1)
	m.walk.urls++
}

// sendItem puts the item into the outbox. One without URLs is not sent to another agent if its receiver is lost.
func (m *giver) sendItem() {
	v := m.views.Load()
	put := m.outbox.Put
	if m.held == 0 {
		put = m.outbox.PutBacklog
	}
	put(v.Instances[v.OwnerOf(m.key)], m.item)
}

// takeSite sets the clocks and rules of a site that another agent had. from is the ID of the sender, empty if unknown;
// the item arrived at most delay ago. The site must have no URL yet: then no fetch worker visits it.
func takeSite(
	table *sites.Table, views *ownership.Timeline, move *message.SiteMove, from string, delay time.Duration,
) error {
	known, now, due := move.Known, time.Now(), time.Time{}
	if move.Due > 0 {
		due = now.Add(min(move.Due, journal.DueMax))
	}
	life := time.Duration(known.RulesUntil)*time.Second - move.Age - delay
	known.SetAddrsAndFailures(nil, known.FailureStreak().FromAges(now, move.Age+delay))
	if known.Rules != nil && !table.Rules.Accepts(known.Rules) {
		known.Rules = nil
	}
	err := table.UseOrAdd(move.Key, func(vs *visit.State) {
		// an agent that visits the site knows better
		table.Workbench.Site(vs).Update(func(s *site.State) { s.Merge(&known, life, now) })
		table.Workbench.Site(vs).Postpone(due, time.Time{})
	})
	if err == nil && from != "" && from == views.LastOwner(move.Key) {
		views.NoteHandedOver(move.Key, due)
	}
	return err
}
