package schedule

import (
	"orbweaver/engine/frontier/sites"
	"orbweaver/engine/state/queued"
	"orbweaver/engine/state/settings"
	"orbweaver/engine/state/visit"
	"orbweaver/engine/traps/novelty"
	"orbweaver/engine/traps/skipped"
	"orbweaver/internal/outcome"
	"orbweaver/internal/urlx"
	"orbweaver/virtualize/diskq"
)

// placer gives ready URLs to their sites, for the Distributor.
type placer struct {
	workbench  *visit.Workbench
	sites      *sites.Table
	queues     sites.DiskQueues
	unresolved *sites.UnresolvedQueue
	dead       *DeadSites
	delayed    *delayedURLs
	skips      *skipList
	rules      *settings.HostRules
	cluster    Cluster
	options    Options

	held    []byte     // a URL that was taken from a queue and could not be placed, because the disk is full
	scratch []byte     // a URL from the ready queue
	item    []byte     // an item of a site
	url     queued.URL // that is being placed: interfaces take it, so that as a variable it would be on the heap
}

const (
	distributeBatch = 256 // ready URLs in one step
	reloadBatch     = 16  // sites that are read from disk in one step: a checkpoint may have to wait for these reads
	siteItemsFull   = 2   // items of one site in memory when the workbench is full: the site keeps its turn
	urgentItemsFull = 8   // the same of urgent items: on disk they would wait until the pages in memory are fetched
)

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

// placeOrHold places a URL, or holds it after an error. It copies item.
func (p *placer) placeOrHold(item []byte, waited bool) (isNewSite bool, err error) {
	isNewSite, err = p.place(item, waited)
	if err != nil {
		p.held = append([]byte(nil), item...)
	}
	return isNewSite, err
}

// placeReady places a batch of ready URLs of one queue and returns how many.
func (p *placer) placeReady(from *diskq.Queue) (n int, err error) {
	for reloaded := p.sites.Reloaded.Load(); n < distributeBatch; n++ {
		if p.sites.Reloaded.Load()-reloaded >= reloadBatch {
			return n, nil
		}
		item, ok, err := from.Read(p.scratch[:0])
		if err != nil || !ok {
			return n, err
		}
		p.scratch = item
		if _, err := p.placeOrHold(item, false); err != nil {
			return n, err
		}
	}
	return n, nil
}

// place gives one ready URL to its site: to the workbench, or to disk if the site has items there already, which are
// older, or has its share of memory. waited says that the URL is of a delayed site whose turn has come. isNewSite: its
// site was unknown, and is admitted.
func (p *placer) place(item []byte, waited bool) (isNewSite bool, err error) {
	it := &p.url
	*it = queued.MustDecode(item)
	key, path := urlx.Split(it.Rest)
	if p.rules.Excludes(key) {
		it.Rest = path
		p.item = queued.Append(p.item[:0], it)
		p.dead.DropUnlessFinished(key, p.item, outcome.Blocked)
		return false, nil
	}
	if !p.cluster.Owns(key) {
		p.handOver(key, path, it)
		return false, nil
	}
	if it.Excess {
		return false, p.skips.skip(key, it, skipped.RuleRequisitesOfPage, novelty.Evidence{})
	}
	if p.delayed.traps.RepeatsFolders(it.Rest, it) {
		return false, p.skips.skip(key, it, skipped.RulePathRepeats, novelty.Evidence{})
	}
	vs, added, refused, err := p.sites.Admit(key, it.Seed, waited)
	switch {
	case err != nil:
		return false, err
	case refused.Waits:
		it.Delayed = true
		return false, p.queues.AppendOfDelayedSite(queued.Append(nil, it))
	case refused.Outcome == outcome.Novelty:
		return false, p.skips.skip(key, it, skipped.RuleEndlessSites, refused.Evidence)
	case refused.Outcome == outcome.None && queued.IsRequisite(it.Embeds):
		if n, full := p.hasAllRequisites(vs); full {
			return false, p.skips.skip(key, it, skipped.RuleRequisitesOfSite, novelty.Evidence{Fetched: n})
		}
	}
	it.Rest = path
	p.item = queued.Append(p.item[:0], it)
	if refused.Outcome != outcome.None {
		p.dead.DropUnlessFinished(key, p.item, refused.Outcome)
		return false, nil
	}
	if added {
		defer p.unresolved.Put(key)
	}
	return added, p.queue(vs, key, it)
}

// queue puts an item behind all others of its site. p.item is its code. Requisites that precede pages are not delayed:
// a page that is stored needs them.
func (p *placer) queue(vs *visit.State, key []byte, it *queued.URL) error {
	isRequisite := it.Embeds > 0 && it.Tries == 0
	surplus := isRequisite && p.isSurplus(vs, it.Embeds)
	if p.delayed.traps.Enabled() && (surplus || !isRequisite) {
		if delayed, err := p.delayed.delay(vs, p.delayed.traps.GroupOf(key), key, it); delayed || err != nil {
			p.workbench.Site(vs).SetOnDisk(p.queues.Len(vs))
			return err
		}
	}
	if surplus {
		if err := p.queues.AppendSurplus(vs, p.item); err != nil {
			return err
		}
		p.workbench.Site(vs).SetOnDisk(p.queues.Len(vs))
		return nil
	}
	limit := p.options.SiteItems
	if p.workbench.Memory().Full() {
		limit = siteItemsFull
		if queued.IsUrgent(p.item) {
			limit = urgentItemsFull
		}
	}
	if !p.hasRoom(vs, limit) {
		if err := p.queues.Append(vs, p.item); err != nil {
			return err
		}
		p.workbench.Site(vs).SetOnDisk(p.queues.Len(vs))
	} else if !p.workbench.Push(vs, p.item) {
		p.dead.Drop(key, p.item, p.dead.outcomeOf(vs))
	}
	return nil
}

// hasRoom reports whether p.item goes to memory: its site has fewer items there than limit, and none of the same class
// on disk, which are older. Pages do not take the room of page requisites.
func (p *placer) hasRoom(vs *visit.State, limit int) bool {
	if !queued.IsUrgent(p.item) {
		return p.workbench.Site(vs).OnDisk() == 0 && p.workbench.Site(vs).Queued() < limit
	}
	_, urgent := p.queues.Len(vs)
	return urgent == 0 && p.workbench.Site(vs).Urgent() < limit
}

// handOver gives a ready URL to the agent that owns its host now, unless it was finished before a kill.
func (p *placer) handOver(key, path []byte, it *queued.URL) {
	if o := p.dead.FinishedAs(it.Rest); o != outcome.None {
		it.Rest = path
		p.item = queued.Append(p.item[:0], it)
		p.dead.DropUnlessFinished(key, p.item, o)
		return
	}
	p.item = p.cluster.Route(p.item, it)
	p.dead.Counters.Finish(outcome.HandedOver, 1)
}
