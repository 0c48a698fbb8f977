package schedule

import (
	"time"

	"orbweaver/engine/frontier/sites"
	"orbweaver/engine/state/counters"
	"orbweaver/engine/state/queued"
	"orbweaver/engine/state/settings"
	"orbweaver/engine/state/visit"
	"orbweaver/engine/traps"
	"orbweaver/engine/traps/novelty"
	"orbweaver/internal/outcome"
	"orbweaver/internal/urlx"
)

// placer gives URLs to their sites: ready URLs, URLs that were skipped under a stricter setting, and URLs of delayed
// sites whose turn has come.
type placer struct {
	*Queues
	dead      *DeadSites
	counters  *counters.Live
	delayer   *delayer
	skips     *skipList
	rules     *settings.HostRules
	live      *settings.Live
	cluster   Cluster
	front     *Front
	isClosing func() bool
	options   Options
	ordered   *orderedURLs

	from     []source   // scratch of sources
	ahead    lookAhead  // of the source that is read
	nextTurn time.Time  // of the delayed sites
	held     []byte     // a URL that was taken from a queue and could not be placed, because the disk is full
	scratch  []byte     // a URL from a queue
	item     []byte     // an item of a site
	url      queued.URL // that is being placed: interfaces take it, so that as a variable it would be on the heap
}

const (
	distributeBatch = 256     // URLs of one queue in one step
	orderBatch      = 32      // the same in the order of visits: a better URL may come soon
	reloadBatch     = 16      // sites that are read from disk in one step: a checkpoint may have to wait for these reads
	siteItemsFull   = 2       // items of one site in memory when the workbench is full: the site keeps its turn
	urgentItemsFull = 8       // the same of urgent items: on disk they would wait until the pages in memory are fetched
	unresolvedMost  = 1 << 14 // sites that wait for an address; beyond that no ready URLs are moved

	// delayedSitePace is the time between two delayed sites, in IP delays. Each needs its robots.txt and a page, so at
	// least half of the time of their address is left to other sites.
	delayedSitePace = 4
)

// source is a queue of URLs to be placed.
type source struct {
	next func(scratch []byte) (item []byte, ok bool, err error)
	peek func(most int, f func(item []byte)) // at the items that next returns; nil if it cannot

	isTurn bool // the turn of delayed sites has come. Sites that are admitted already do not use it up, a new one does
	batch  int  // URLs in one step
}

// sources returns the queues from which URLs are placed now.
func (p *placer) sources(now time.Time) []source {
	from := p.from[:0]
	if p.skips.hasMore() && p.front.isSmall(now) {
		from = append(from, source{next: p.skips.next, batch: distributeBatch})
	}
	if ready := p.readyQueue(now); ready.batch > 0 {
		from = append(from, ready)
	}
	if p.OnDisk.DelayedSites() > 0 && !now.Before(p.nextTurn) && p.front.isSmall(now) {
		from = append(from, source{next: p.oldestOfDelayedSites, isTurn: true, batch: distributeBatch})
	}
	p.from = from
	return from
}

// readyQueue returns the ready URLs that are moved now: urgent ones, or others while the front is small. Its batch is 0
// if there are none. Urgent ones do not wait for demand, since their pages are stored.
func (p *placer) readyQueue(now time.Time) source {
	hasOthers := p.Ready.Others.Len() > 0 && !p.ordered.order.HasQueues()
	switch {
	case p.Unresolved.Len() >= unresolvedMost || !p.dead.hasRoom():
		return source{}
	case p.Ready.Urgent.Len() > 0:
		return source{next: p.Ready.Urgent.Read, peek: p.Ready.Urgent.Peek, batch: distributeBatch}
	case p.isClosing():
		return source{}
	case p.ordered.total > 0: // also those of a run with another order, which are older
		return source{next: p.nextInOrder, batch: int(min(p.front.room(now), orderBatch))}
	case !hasOthers || !p.front.isSmall(now):
		return source{}
	default:
		return source{next: p.Ready.Others.Read, peek: p.Ready.Others.Peek, batch: distributeBatch}
	}
}

// nextInOrder takes the ready URL that is next in the order of visits.
func (p *placer) nextInOrder(scratch []byte) (item []byte, ok bool, err error) {
	n, err := p.ordered.take(func(b []byte) { item = append(scratch, b...) })
	if n > 0 && err != nil {
		p.held = append([]byte(nil), item...)
	}
	return item, n > 0 && err == nil, err
}

// sortReady moves ready URLs to the queues of the order, if it has any. A URL that finds no room on the disk is held.
func (p *placer) sortReady() (n int, err error) {
	if !p.ordered.order.HasQueues() {
		return 0, nil
	}
	for ; n < distributeBatch; n++ {
		item, ok, err := p.Ready.Others.Read(p.scratch[:0])
		if err != nil || !ok {
			return n, err
		}
		p.scratch = item
		if err := p.ordered.add(item); err != nil {
			p.held = append([]byte(nil), item...)
			return n, err
		}
	}
	return n, nil
}

// placeHeld places the URL that could not be placed before. Until that is done no other URL can be placed.
func (p *placer) placeHeld() error {
	if p.held == nil {
		return nil
	}
	_, err := p.place(p.held, false)
	if err == nil {
		p.held = nil
	}
	return err
}

// placeFrom places a batch of URLs, and holds the last one after an error.
func (p *placer) placeFrom(from source, now time.Time) (n int, err error) {
	defer p.ahead.reset()
	for before := p.Sites.Reloaded.Load(); n < from.batch && p.Sites.Reloaded.Load()-before < reloadBatch; n++ {
		if from.peek != nil {
			p.ahead.advance(p.Workbench, from)
		}
		item, ok, err := from.next(p.scratch[:0])
		if err != nil || !ok {
			return n, err
		}
		p.scratch = item
		isNewSite, err := p.place(item, from.isTurn)
		if err != nil {
			p.held = append([]byte(nil), item...)
			return n, err
		}
		if from.isTurn && isNewSite {
			p.nextTurn = now.Add(delayedSitePace * p.live.Policy().IPDelay)
			return n + 1, nil
		}
	}
	return n, nil
}

// oldestOfDelayedSites takes the oldest URL of a delayed site from disk.
func (p *placer) oldestOfDelayedSites(scratch []byte) (item []byte, ok bool, err error) {
	n, err := p.OnDisk.TakeOfDelayedSite(func(b []byte) { item = append(scratch, b...) })
	if n > 0 && err != nil {
		p.held = append([]byte(nil), item...)
	}
	return item, n > 0 && err == nil, err
}

// place gives one URL to its site: to the workbench, or to disk if the site has items there already, which are older,
// or has its share of memory. isTurn is that of its source. isNewSite: its site was
// unknown, and is admitted.
func (p *placer) place(item []byte, isTurn bool) (isNewSite bool, err error) {
	it := &p.url
	*it = queued.MustDecode(item)
	key, path := urlx.Split(it.Rest)
	if p.rules.Excludes(key) {
		it.Rest = path
		p.item = queued.Append(p.item[:0], it)
		p.dead.Drop(key, p.item, outcome.Blocked)
		return false, nil
	}
	if !p.cluster.Owns(key) {
		p.handOver(it)
		return false, nil
	}
	if it.Excess {
		return false, p.skips.skip(it, traps.RuleRequisitesOfPage, novelty.Evidence{})
	}
	if p.delayer.traps.RepeatsFolders(it.Rest, it) {
		return false, p.skips.skip(it, traps.RulePathRepeats, novelty.Evidence{})
	}
	vs, added, refused := p.ahead.known, false, sites.Refusal{}
	if vs == nil {
		vs, added, refused, err = p.Sites.Admit(key, it.Seed, isTurn)
	}
	switch {
	case err != nil:
		return false, err
	case refused.Waits:
		it.Delayed = true
		return false, p.OnDisk.AppendOfDelayedSite(queued.Append(nil, it))
	case refused.Outcome == outcome.Novelty:
		return false, p.skips.skip(it, traps.RuleEndlessSites, refused.Evidence)
	case refused.Outcome == outcome.None && queued.IsRequisite(it.Embeds):
		if n, full := p.hasAllRequisites(vs); full {
			return false, p.skips.skip(it, traps.RuleRequisitesOfSite, novelty.Evidence{Fetched: n})
		}
	}
	it.Rest = path
	p.item = queued.Append(p.item[:0], it)
	if refused.Outcome != outcome.None {
		p.dead.Drop(key, p.item, refused.Outcome)
		return false, nil
	}
	if added {
		defer p.Unresolved.Put(key)
	}
	return added, p.queue(vs, key, it)
}

// queue puts an item behind all others of its site. p.item is its code. Requisites that precede pages are not delayed:
// a page that is stored needs them.
func (p *placer) queue(vs *visit.State, key []byte, it *queued.URL) error {
	isRequisite := it.Embeds > 0 && it.Tries == 0
	surplus := isRequisite && p.isSurplus(vs, it.Embeds)
	if traps := p.delayer.traps; it.Mined || traps.Enabled() && (surplus || !isRequisite) {
		if delayed, err := p.delayer.delay(vs, traps.GroupOf(key), key, it); delayed || err != nil {
			p.noteOnDisk(vs)
			return err
		}
	}
	var err error
	switch {
	case surplus:
		err = p.OnDisk.AppendSurplus(vs, p.item)
	case p.push(vs):
		return nil
	default:
		err = p.OnDisk.Append(vs, p.item)
	}
	if err == nil {
		p.noteOnDisk(vs)
	}
	return err
}

// push puts p.item on the workbench, if its site has room: fewer items there than it may have, and none of the same
// class on disk, which are older. Pages do not take the room of page requisites.
func (p *placer) push(vs *visit.State) (hasRoom bool) {
	full := siteItemsFull
	if queued.IsUrgent(p.item) {
		if _, urgent := p.OnDisk.Len(vs); urgent > 0 {
			return false
		}
		full = urgentItemsFull
	}
	hasRoom, pushed := p.Workbench.PushWithin(vs, p.item, p.options.SiteItems, full)
	if hasRoom && !pushed {
		p.dead.push(vs, p.item) // the outcome of its site
	}
	return hasRoom
}

// handOver gives a ready URL to the agent that owns its host now, unless it was finished before a kill.
func (p *placer) handOver(it *queued.URL) {
	if !p.dead.DropIfFinished(it.Rest, it) {
		p.cluster.GiveDepth(it.Rest)
		p.item = p.cluster.Route(p.item, it)
		p.counters.Finish(outcome.HandedOver, 1)
	}
}
