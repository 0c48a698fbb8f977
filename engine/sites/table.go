package sites

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
	"orbweaver/engine/traps"
	"orbweaver/engine/urlx"
	"orbweaver/engine/visit"
	"orbweaver/workbench"
	"orbweaver/workbench/cold"
)

// Table is all that is known of hosts, wherever it is: on the bench or, of those that have been idle for long while
// memory was short, in the cold store. Each is in exactly one of them, at every cut, since it moves under the cut's
// shared lock. Whoever looks for a host by its key asks here, under that lock. Only the distributor lets hosts go
// (freeze), so it alone may hold a VisitState of an idle site for longer than a call of meet or look.
type Table struct {
	Workbench  *visit.Workbench
	Cold       *cold.Store
	Rules      *site.RulesPool
	Unresolved *UnresolvedQueue
	Live       *settings.Live
	Quotas     *limits.Quotas
	Traps      *traps.Detector
	Evicted    atomic.Int64 // Table that went to the store in this run
	Reloaded   atomic.Int64 // that came back
	Resumed    time.Time    // when this run began, if the one before did not end in order; else zero

	mu          sync.Mutex // a host moves, or somebody uses one that may not move meanwhile
	nextRecount time.Time  // the distributor's: when to look at the rules again
	excess      int64      // and how many bytes of them are to leave until then
	batch       workbench.Evicted
	form        []byte
}

// Refusal is why a new site is refused. Its name is not looked up then.
type Refusal struct {
	Outcome  outcome.Outcome  // None if the site is accepted or waits
	Evidence novelty.Evidence // of the outcome Novelty
	Waits    bool             // for its turn: see schedule.Distributor
}

// refusalOfNew returns why a new site is refused, or that it must wait for its turn first.
func (h *Table) refusalOfNew(site []byte, waited bool) Refusal {
	if h.Quotas.HostsReached(site) {
		return Refusal{Outcome: outcome.QuotaDomain}
	}
	switch verdict, why := h.Traps.AdmitSite(site, waited); verdict {
	case novelty.MemberSkipped:
		return Refusal{Outcome: outcome.Novelty, Evidence: why}
	case novelty.MemberDelayed:
		return Refusal{Waits: true}
	default:
		return Refusal{}
	}
}

// CountInQuotas counts the sites of a checkpoint in the quotas. Entries of the journal are counted as they are
// replayed. Nothing else may use the hosts meanwhile.
func (h *Table) CountInQuotas() error {
	if !h.Quotas.AreSet() {
		return nil
	}
	var key []byte
	h.Workbench.Each(func(vs *visit.State, _ workbench.State) bool {
		stored := int32(0)
		h.Workbench.ReadSite(vs, func(s *site.State) { stored = s.Stored })
		key = h.Workbench.AppendKey(key[:0], vs)
		h.Quotas.AddKnownSite(key, h.Workbench.Addr(vs), stored)
		return true
	})
	var bad error
	err := h.Cold.Each(func(key, form []byte) bool {
		addr, s, err := workbench.ReadForm(form, func(b []byte) (site.State, error) { return site.Decode(b, h.Rules) })
		if bad = err; err == nil {
			h.Quotas.AddKnownSite(key, addr, s.Stored)
		}
		return bad == nil
	})
	if err = errors.Join(err, bad); err != nil {
		return fmt.Errorf("engine: resume: %w", err)
	}
	return nil
}

// GetOrAdd finds a host or makes it. For the distributor, and for who is alone.
func (h *Table) GetOrAdd(key []byte) (vs *visit.State, added bool, err error) {
	if vs := h.Workbench.Get(key); vs != nil {
		return vs, false, nil
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.find(key, true)
}

// Admit is GetOrAdd, unless the host is not known and there is a reason not to make it, which for seeds there never is.
// For the distributor.
func (h *Table) Admit(key []byte, seed, waited bool) (vs *visit.State, added bool, refused Refusal, err error) {
	if vs := h.Workbench.Get(key); vs != nil {
		return vs, false, Refusal{}, nil
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if vs, _, err = h.find(key, false); vs != nil || err != nil {
		return vs, false, Refusal{}, err
	}
	if !seed {
		if refused = h.refusalOfNew(key, waited); refused.Outcome != outcome.None || refused.Waits {
			return nil, false, refused, nil
		}
	}
	vs, added, err = h.find(key, true)
	return vs, added, Refusal{}, err
}

// Get finds a host; nil if it is not known. For the distributor, and for who is alone.
func (h *Table) Get(key []byte) (*visit.State, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	vs, _, err := h.find(key, false)
	return vs, err
}

// UseOrAdd finds a host or makes it, and lets it stay on the bench while f runs. A new one is sent for its address
// after that.
func (h *Table) UseOrAdd(key []byte, f func(vs *visit.State)) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	vs, added, err := h.find(key, true)
	if err != nil {
		return err
	}
	f(vs)
	if added {
		h.Unresolved.Put(vs)
	}
	return nil
}

// PutFront implements parsers.Sites.
func (h *Table) PutFront(url, item []byte) (ok bool, err error) {
	site, _ := urlx.Split(url)
	err = h.UseOrAdd(site, func(vs *visit.State) { ok = h.Workbench.PushFront(vs, item) })
	return ok, err
}

// Use is meet without the making: f does not run if the host is not known.
func (h *Table) Use(key []byte, f func(vs *visit.State)) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	vs, _, err := h.find(key, false)
	if err == nil && vs != nil {
		f(vs)
	}
	return err
}

// find brings a host to the bench, if it is known or is to be made. The caller holds mu.
func (h *Table) find(key []byte, orMake bool) (vs *visit.State, added bool, err error) {
	if vs = h.Workbench.Get(key); vs != nil {
		return vs, false, nil
	}
	form, found, err := h.Cold.Take(h.form[:0], key)
	h.form = form
	switch {
	case err != nil:
		return nil, false, fmt.Errorf("engine: host %.200q: %w", key, err)
	case found:
		vs, err = h.reload(key, form)
		return vs, false, err
	case !orMake:
		return nil, false, nil
	}
	vs, added = h.Workbench.GetOrAdd(key)
	h.Quotas.AddSite(key)
	return vs, added, nil
}

// reload puts a host from the store on the bench.
func (h *Table) reload(key, form []byte) (*visit.State, error) {
	now, delay := time.Now(), time.Duration(0)
	vs, err := h.Workbench.Admit(key, form, func(b []byte) (site.State, error) {
		s, err := site.Decode(b, h.Rules)
		delay = s.CrawlDelay()
		return s, err
	}, now)
	if err != nil {
		return nil, fmt.Errorf("engine: host %.200q: %w", key, err)
	}
	h.Reloaded.Add(1)
	if !h.Resumed.IsZero() { // it may have been asked for something just before the kill: see keepDelays
		if due := h.Resumed.Add(h.Live.SiteDelay(key, delay)); due.After(now) {
			h.Workbench.Postpone(vs, due, time.Time{})
		}
	}
	return vs, nil
}

// recountPause is the time between two looks at the memory that rules take, while it is short.
const recountPause = 500 * time.Millisecond

// evictBatch is how many hosts go to the store in one step: more than come to be known in one.
const evictBatch = 512

// Evict moves hosts that have been idle for long to the store, while the bench has not enough room. It returns how
// many moved.
func (h *Table) Evict(now time.Time) (n int, err error) {
	if h.Cold.Buffered() {
		if err := h.Cold.Flush(); err != nil {
			return 0, fmt.Errorf("engine: cold hosts: %w", err)
		}
	}
	if !h.Cold.Room() || !h.Workbench.MemoryShort() && !h.rulesAreShort(now) {
		return 0, nil
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.Workbench.Evict(now, evictBatch, site.Append, &h.batch)
	n = h.batch.Len()
	for i := range n {
		key, form := h.batch.At(i)
		h.Cold.Put(key, form)
		h.excess -= int64(len(form))
	}
	h.Evicted.Add(int64(n))
	return n, nil
}

// rulesAreShort says that hosts should leave since their rules take too much memory: as many as take what is too much.
// What has left is not free before the collector has been there, so that is looked at again only after a rest.
func (h *Table) rulesAreShort(now time.Time) bool {
	if now.Before(h.nextRecount) {
		return h.excess > 0
	}
	h.excess = 0
	if h.Rules.IsOverLimit() {
		h.Rules.Recount()
		h.excess = h.Rules.Bytes.Load() - h.Rules.MaxBytes
		h.nextRecount = now.Add(recountPause)
	}
	return h.excess > 0
}

// Counts is how many hosts are known, and how many of them are in the store.
func (h *Table) Counts() (known, inStore int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	inStore = h.Cold.Len()
	return h.Workbench.Counts().Sites + inStore, inStore
}

// CountGivenUp counts the sites that failed for --give-up, on the workbench and in the cold store. All loops have
// ended.
func (h *Table) CountGivenUp() (sites int, err error) {
	h.Workbench.Each(func(vs *visit.State, state workbench.State) bool {
		if state == workbench.Dead {
			h.Workbench.ReadSite(vs, func(s *site.State) {
				if s.DeadOutcome == outcome.GivenUp {
					sites++
				}
			})
		}
		return true
	})
	var bad error
	err = h.Cold.Each(func(_, form []byte) bool {
		_, s, err := workbench.ReadForm(form, func(b []byte) (site.State, error) { return site.Decode(b, h.Rules) })
		if bad = err; s.DeadOutcome == outcome.GivenUp {
			sites++
		}
		return bad == nil
	})
	return sites, errors.Join(err, bad)
}

// UseLoaded calls f with a site that is on the workbench, which does not leave it meanwhile.
func (h *Table) UseLoaded(key []byte, f func(vs *visit.State)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if vs := h.Workbench.Get(key); vs != nil {
		f(vs)
	}
}
