package sites

import (
	"errors"
	"fmt"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"orbweaver/engine/state/addrgroup"
	"orbweaver/engine/state/limits"
	"orbweaver/engine/state/settings"
	"orbweaver/engine/state/site"
	"orbweaver/engine/state/visit"
	"orbweaver/engine/traps"
	"orbweaver/engine/traps/novelty"
	"orbweaver/internal/outcome"
	"orbweaver/internal/urlx"
	"orbweaver/workbench"
	"orbweaver/workbench/cold"
)

// Table finds a site by its key, in the workbench or in the cold store, which has sites that were idle for long while
// memory was short. A site is in exactly one of them at every checkpoint, since it moves within a step. All methods are
// called within a step, except as they say. Only the Distributor of package schedule calls Evict, so only it may keep
// a *visit.State of an idle or dead site for longer than a call of Use or UseOrAdd. For longer than a step it keeps the
// key instead, or evicts no site meanwhile.
type Table struct {
	Workbench     *visit.Workbench
	Cold          *cold.Store
	Rules         *site.RulesPool
	Unresolved    *UnresolvedQueue
	Live          *settings.Live
	Quotas        *limits.Quotas
	Groups        *addrgroup.Groups
	Traps         *traps.Detector
	WakeFeeder    func()
	Evicted       atomic.Int64 // moves of sites to the cold store, in this run
	Reloaded      atomic.Int64 // moves back
	UncleanResume time.Time    // when the crawl was last resumed after a kill; zero if it never was

	mu      sync.Mutex // held while a site moves, and while a caller uses one that must not move
	form    []byte     // scratch, guarded by mu
	recount recount    // the count of CountKnown; guarded by mu

	// Of Evict.
	nextRecount time.Time // the memory of robots.txt rules is not counted before this time
	excess      int64     // bytes of rules that must leave before that
	batch       workbench.Evicted
}

// Refusal is why a new site is refused. Its name is not looked up then.
type Refusal struct {
	Outcome  outcome.Outcome  // None if the site is accepted or waits
	Evidence novelty.Evidence // of the outcome Novelty
	Waits    bool             // for its turn: see schedule.Distributor
}

// refusalOfNew returns why a new site is refused, or that it must wait for its turn first.
func (t *Table) refusalOfNew(site []byte, waited bool) Refusal {
	if t.Quotas.HostsReached(site) {
		return Refusal{Outcome: outcome.QuotaDomain}
	}
	switch verdict, why := t.Traps.AdmitSite(site, waited); verdict {
	case novelty.MemberSkipped:
		return Refusal{Outcome: outcome.Novelty, Evidence: why}
	case novelty.MemberDelayed:
		return Refusal{Waits: true}
	default:
		return Refusal{}
	}
}

// GetOrAdd finds a site or adds it. The caller is the Distributor, or no other goroutine runs.
func (t *Table) GetOrAdd(key []byte) (vs *visit.State, added bool, err error) {
	if vs := t.Workbench.Get(key); vs != nil {
		return vs, false, nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.find(key, true)
}

// Admit is GetOrAdd, but a new site may be refused, unless the URL is a seed. waited says that the site was refused
// before with Waits, and that its turn has come. The caller is the Distributor.
func (t *Table) Admit(key []byte, seed, waited bool) (vs *visit.State, added bool, refused Refusal, err error) {
	if vs := t.Workbench.Get(key); vs != nil {
		return vs, false, Refusal{}, nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if vs, _, err = t.find(key, false); vs != nil || err != nil {
		return vs, false, Refusal{}, err
	}
	if !seed {
		if refused = t.refusalOfNew(key, waited); refused.Outcome != outcome.None || refused.Waits {
			return nil, false, refused, nil
		}
	}
	vs, added = t.add(key)
	return vs, added, Refusal{}, nil
}

// Get finds a site; nil if it is not known. The caller is the Distributor, or no other goroutine runs.
func (t *Table) Get(key []byte) (*visit.State, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	vs, _, err := t.find(key, false)
	return vs, err
}

// UseOrAdd finds a site or adds it, and calls f with it. The site stays on the workbench while f runs. A new site goes
// to Unresolved after that.
func (t *Table) UseOrAdd(key []byte, f func(vs *visit.State)) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	vs, added, err := t.find(key, true)
	if err != nil {
		return err
	}
	f(vs)
	if added {
		t.Unresolved.Put(key)
	}
	return nil
}

// PutFront implements parsers.Sites.
func (t *Table) PutFront(url, item []byte) (ok bool, err error) {
	site, _ := urlx.Split(url)
	err = t.UseOrAdd(site, func(vs *visit.State) { ok = t.Workbench.PushFront(vs, item) })
	t.WakeFeeder() // the site may have had nothing else to fetch
	return ok, err
}

// Use is UseOrAdd, but it does not call f if the site is not known.
func (t *Table) Use(key []byte, f func(vs *visit.State)) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	vs, _, err := t.find(key, false)
	if err == nil && vs != nil {
		f(vs)
	}
	return err
}

// find finds a site and moves it to the workbench; orAdd says that an unknown site is added. The caller holds mu.
func (t *Table) find(key []byte, orAdd bool) (vs *visit.State, added bool, err error) {
	if vs = t.Workbench.Get(key); vs != nil {
		return vs, false, nil
	}
	isCounted := t.recount.hasPassed(key)
	form, found, err := t.Cold.Take(t.form[:0], key)
	t.form = form
	switch {
	case err != nil:
		return nil, false, fmt.Errorf("sites: host %.200q: %w", key, err)
	case found:
		if isCounted {
			t.recount.markCounted(key)
		}
		vs, err = t.reload(key, form)
		return vs, false, err
	case !orAdd:
		return nil, false, nil
	}
	vs, added = t.add(key)
	return vs, added, nil
}

// add adds a site that is in neither place. The caller holds mu.
func (t *Table) add(key []byte) (vs *visit.State, added bool) {
	vs, added = t.Workbench.GetOrAdd(key)
	t.Quotas.AddSite(key)
	t.recount.markCounted(key)
	return vs, added
}

// reload moves a site from the cold store to the workbench.
func (t *Table) reload(key, form []byte) (*visit.State, error) {
	now, delay := time.Now(), time.Duration(0)
	vs, err := t.Workbench.Memory().Admit(key, form, func(b []byte) (site.State, error) {
		s, err := site.Decode(b, t.Rules)
		delay = s.CrawlDelay()
		return s, err
	}, now)
	if err != nil {
		return nil, fmt.Errorf("sites: host %.200q: %w", key, err)
	}
	t.Reloaded.Add(1)
	if !t.UncleanResume.IsZero() { // the site may have been asked just before the kill
		if due := t.UncleanResume.Add(t.Live.SiteDelay(key, delay)); due.After(now) {
			t.Workbench.Site(vs).Postpone(due, time.Time{})
		}
	}
	return vs, nil
}

// recountPause is the time between two counts of the memory of rules, while it is short.
const recountPause = 500 * time.Millisecond

// evictBatch is the number of sites that move in one step: more than a step of the Distributor adds.
const evictBatch = 512

// Evict moves sites that were idle for long to the cold store, while memory is short. It returns how many.
func (t *Table) Evict(now time.Time) (n int, err error) {
	if t.Cold.Buffered() {
		if err := t.Cold.Flush(); err != nil {
			return 0, fmt.Errorf("sites: cold hosts: %w", err)
		}
	}
	if !t.Cold.Room() || !t.Workbench.Memory().Short() && !t.rulesAreShort(now) {
		return 0, nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.recount.mayEvict() {
		return 0, nil
	}
	t.Workbench.Memory().Evict(now, evictBatch, site.Append, &t.batch)
	n = t.batch.Len()
	for i := range n {
		key, form := t.batch.At(i)
		t.Cold.Put(key, form)
		if t.recount.isActive {
			err = errors.Join(err, t.recount.countEvicted(t, key, form))
		}
		t.excess -= int64(len(form))
	}
	t.Evicted.Add(int64(n))
	return n, err
}

// rulesAreShort reports whether sites must leave because their robots.txt rules take too much memory. Memory that has
// left is free only after a garbage collection, so it is counted again only after recountPause.
func (t *Table) rulesAreShort(now time.Time) bool {
	if now.Before(t.nextRecount) {
		return t.excess > 0
	}
	t.excess = 0
	if t.Rules.IsOverLimit() {
		t.Rules.Recount()
		t.excess = t.Rules.Bytes.Load() - t.Rules.MaxBytes
		t.nextRecount = now.Add(recountPause)
	}
	return t.excess > 0
}

// Counts returns how many sites are known, and how many of them are in the cold store. Safe for concurrent use.
func (t *Table) Counts() (known, inStore int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	inStore = t.Cold.Len()
	return t.Workbench.Counts().Sites + inStore, inStore
}

// CountGivenUp counts the sites that failed for --give-up, on the workbench and in the cold store. All loops have
// ended.
func (t *Table) CountGivenUp() (sites int, err error) {
	t.Workbench.Listing().Each(func(vs *visit.State, state workbench.State) bool {
		if state == workbench.Dead {
			t.Workbench.Site(vs).Read(func(s *site.State) {
				if s.DeadOutcome == outcome.GivenUp {
					sites++
				}
			})
		}
		return true
	})
	var bad error
	err = t.Cold.Each(func(_, form []byte) bool {
		_, s, err := workbench.ReadForm(form, func(b []byte) (site.State, error) { return site.Decode(b, t.Rules) })
		if bad = err; s.DeadOutcome == outcome.GivenUp {
			sites++
		}
		return bad == nil
	})
	return sites, errors.Join(err, bad)
}

// Evicted is a site in the cold store.
type Evicted struct {
	Addr  netip.Addr // not valid if the site has none
	State site.State
}

// ReadEvicted calls f with a site of the cold store, which stays there. It reports whether there is one.
func (t *Table) ReadEvicted(key []byte, f func(Evicted)) (known bool, err error) {
	form, known, err := t.Cold.Read(nil, key)
	if err != nil || !known {
		return false, err
	}
	addr, s, err := workbench.ReadForm(form, func(b []byte) (site.State, error) { return site.Decode(b, t.Rules) })
	if err != nil {
		return false, fmt.Errorf("sites: host %.200q: %w", key, err)
	}
	f(Evicted{addr, s})
	return true, nil
}

// UseLoaded calls f with a site that is on the workbench, which does not leave it meanwhile.
func (t *Table) UseLoaded(key []byte, f func(vs *visit.State)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if vs := t.Workbench.Get(key); vs != nil {
		f(vs)
	}
}
