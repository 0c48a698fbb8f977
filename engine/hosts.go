package engine

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"orbweaver/engine/limits"
	"orbweaver/engine/novelty"
	"orbweaver/engine/outcome"
	"orbweaver/engine/settings"
	"orbweaver/engine/site"
	"orbweaver/engine/sites"
	"orbweaver/engine/traps"
	"orbweaver/engine/urlx"
	"orbweaver/engine/visit"
	"orbweaver/workbench"
	"orbweaver/workbench/cold"
)

// hosts is all that is known of hosts, wherever it is: on the bench or, of those that have been idle for long while
// memory was short, in the cold store. Each is in exactly one of them, at every cut, since it moves under the cut's
// shared lock. Whoever looks for a host by its key asks here, under that lock. Only the distributor lets hosts go
// (freeze), so it alone may hold a VisitState of an idle site for longer than a call of meet or look.
type hosts struct {
	bench      *visit.Workbench
	cold       *cold.Store
	rules      *site.RulesPool
	unresolved *sites.UnresolvedQueue
	live       *settings.Live
	quotas     *limits.Quotas
	traps      *traps.Detector
	frozen     atomic.Int64 // hosts that went to the store in this run
	thawed     atomic.Int64 // that came back
	resumed    time.Time    // when this run began, if the one before did not end in order; else zero

	mu        sync.Mutex // a host moves, or somebody uses one that may not move meanwhile
	nextShort time.Time  // the distributor's: when to look at the rules again
	excess    int64      // and how many bytes of them are to leave until then
	evicted   workbench.Evicted
	form      []byte
}

// siteRefusal is why a new site is refused. Its name is not looked up then.
type siteRefusal struct {
	outcome outcome.Outcome  // None if the site is accepted or waits
	why     novelty.Evidence // of the outcome Novelty
	waits   bool             // for its turn: see distributor.placeLateSite
}

// refusalOfNew returns why a new site is refused, or that it must wait for its turn first.
func (h *hosts) refusalOfNew(site []byte, waited bool) siteRefusal {
	if h.quotas.HostsReached(site) {
		return siteRefusal{outcome: outcome.QuotaDomain}
	}
	switch verdict, why := h.traps.AdmitSite(site, waited); verdict {
	case novelty.MemberSkipped:
		return siteRefusal{outcome: outcome.Novelty, why: why}
	case novelty.MemberDelayed:
		return siteRefusal{waits: true}
	default:
		return siteRefusal{}
	}
}

// countKnown counts the sites of a checkpoint in the quotas. Entries of the journal are counted as they are replayed.
// Nothing else may use the hosts meanwhile.
func (h *hosts) countKnown() error {
	if !h.quotas.AreSet() {
		return nil
	}
	var key []byte
	h.bench.Each(func(vs *visit.State, _ workbench.State) bool {
		stored := int32(0)
		h.bench.ReadSite(vs, func(s *site.State) { stored = s.Stored })
		key = h.bench.AppendKey(key[:0], vs)
		h.quotas.AddKnownSite(key, h.bench.Addr(vs), stored)
		return true
	})
	var bad error
	err := h.cold.Each(func(key, form []byte) bool {
		addr, s, err := workbench.ReadForm(form, func(b []byte) (site.State, error) { return site.Decode(b, h.rules) })
		if bad = err; err == nil {
			h.quotas.AddKnownSite(key, addr, s.Stored)
		}
		return bad == nil
	})
	if err = errors.Join(err, bad); err != nil {
		return fmt.Errorf("engine: resume: %w", err)
	}
	return nil
}

// getOrAdd finds a host or makes it. For the distributor, and for who is alone.
func (h *hosts) getOrAdd(key []byte) (vs *visit.State, added bool, err error) {
	if vs := h.bench.Get(key); vs != nil {
		return vs, false, nil
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.find(key, true)
}

// admit is getOrAdd, unless the host is not known and there is a reason not to make it, which for seeds there never is.
// For the distributor.
func (h *hosts) admit(key []byte, seed, waited bool) (vs *visit.State, added bool, refused siteRefusal, err error) {
	if vs := h.bench.Get(key); vs != nil {
		return vs, false, siteRefusal{}, nil
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if vs, _, err = h.find(key, false); vs != nil || err != nil {
		return vs, false, siteRefusal{}, err
	}
	if !seed {
		if refused = h.refusalOfNew(key, waited); refused.outcome != outcome.None || refused.waits {
			return nil, false, refused, nil
		}
	}
	vs, added, err = h.find(key, true)
	return vs, added, siteRefusal{}, err
}

// get finds a host; nil if it is not known. For the distributor, and for who is alone.
func (h *hosts) get(key []byte) (*visit.State, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	vs, _, err := h.find(key, false)
	return vs, err
}

// meet finds a host or makes it, and lets it stay on the bench while f runs. A new one is sent for its address after
// that.
func (h *hosts) meet(key []byte, f func(vs *visit.State)) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	vs, added, err := h.find(key, true)
	if err != nil {
		return err
	}
	f(vs)
	if added {
		h.unresolved.Put(vs)
	}
	return nil
}

// PutFront implements parsers.Sites.
func (h *hosts) PutFront(url, item []byte) (ok bool, err error) {
	site, _ := urlx.Split(url)
	err = h.meet(site, func(vs *visit.State) { ok = h.bench.PushFront(vs, item) })
	return ok, err
}

// look is meet without the making: f does not run if the host is not known.
func (h *hosts) look(key []byte, f func(vs *visit.State)) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	vs, _, err := h.find(key, false)
	if err == nil && vs != nil {
		f(vs)
	}
	return err
}

// find brings a host to the bench, if it is known or is to be made. The caller holds mu.
func (h *hosts) find(key []byte, orMake bool) (vs *visit.State, added bool, err error) {
	if vs = h.bench.Get(key); vs != nil {
		return vs, false, nil
	}
	form, found, err := h.cold.Take(h.form[:0], key)
	h.form = form
	switch {
	case err != nil:
		return nil, false, fmt.Errorf("engine: host %.200q: %w", key, err)
	case found:
		vs, err = h.thaw(key, form)
		return vs, false, err
	case !orMake:
		return nil, false, nil
	}
	vs, added = h.bench.GetOrAdd(key)
	h.quotas.AddSite(key)
	return vs, added, nil
}

// thaw puts a host from the store on the bench.
func (h *hosts) thaw(key, form []byte) (*visit.State, error) {
	now, delay := time.Now(), time.Duration(0)
	vs, err := h.bench.Admit(key, form, func(b []byte) (site.State, error) {
		s, err := site.Decode(b, h.rules)
		delay = s.CrawlDelay()
		return s, err
	}, now)
	if err != nil {
		return nil, fmt.Errorf("engine: host %.200q: %w", key, err)
	}
	h.thawed.Add(1)
	if !h.resumed.IsZero() { // it may have been asked for something just before the kill: see keepDelays
		if due := h.resumed.Add(h.live.SiteDelay(key, delay)); due.After(now) {
			h.bench.Postpone(vs, due, time.Time{})
		}
	}
	return vs, nil
}

// rulesRest is the time between two looks at the memory that rules take, while it is short.
const rulesRest = 500 * time.Millisecond

// freezeBatch is how many hosts go to the store in one step: more than come to be known in one.
const freezeBatch = 2 * distributeBatch

// freeze moves hosts that have been idle for long to the store, while the bench has not enough room. It returns how
// many moved.
func (h *hosts) freeze(now time.Time) (n int, err error) {
	if h.cold.Buffered() {
		if err := h.cold.Flush(); err != nil {
			return 0, fmt.Errorf("engine: cold hosts: %w", err)
		}
	}
	if !h.cold.Room() || !h.bench.MemoryShort() && !h.rulesAreShort(now) {
		return 0, nil
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.bench.Evict(now, freezeBatch, site.Append, &h.evicted)
	n = h.evicted.Len()
	for i := range n {
		key, form := h.evicted.At(i)
		h.cold.Put(key, form)
		h.excess -= int64(len(form))
	}
	h.frozen.Add(int64(n))
	return n, nil
}

// rulesAreShort says that hosts should leave since their rules take too much memory: as many as take what is too much.
// What has left is not free before the collector has been there, so that is looked at again only after a rest.
func (h *hosts) rulesAreShort(now time.Time) bool {
	if now.Before(h.nextShort) {
		return h.excess > 0
	}
	h.excess = 0
	if h.rules.IsOverLimit() {
		h.rules.Recount()
		h.excess = h.rules.Bytes.Load() - h.rules.MaxBytes
		h.nextShort = now.Add(rulesRest)
	}
	return h.excess > 0
}

// counts is how many hosts are known, and how many of them are in the store.
func (h *hosts) counts() (known, inStore int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	inStore = h.cold.Len()
	return h.bench.Counts().Sites + inStore, inStore
}

// countGivenUp counts the sites that failed for --give-up, on the workbench and in the cold store. All loops have ended.
func (h *hosts) countGivenUp() (sites int, err error) {
	h.bench.Each(func(vs *visit.State, state workbench.State) bool {
		if state == workbench.Dead {
			h.bench.ReadSite(vs, func(s *site.State) {
				if s.DeadOutcome == outcome.GivenUp {
					sites++
				}
			})
		}
		return true
	})
	var bad error
	err = h.cold.Each(func(_, form []byte) bool {
		_, s, err := workbench.ReadForm(form, func(b []byte) (site.State, error) { return site.Decode(b, h.rules) })
		if bad = err; s.DeadOutcome == outcome.GivenUp {
			sites++
		}
		return bad == nil
	})
	return sites, errors.Join(err, bad)
}

// UseLoaded calls f with a site that is on the workbench, which does not leave it meanwhile.
func (h *hosts) UseLoaded(key []byte, f func(vs *visit.State)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if vs := h.bench.Get(key); vs != nil {
		f(vs)
	}
}
