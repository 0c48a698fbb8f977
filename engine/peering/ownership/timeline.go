package ownership

import (
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/zeebo/xxh3"
)

// handoffTime is how long after its arrival an agent believes what the former owners of its sites say of them.
const handoffTime = 10 * time.Minute

// Timeline holds the view in force and the views that were in force recently. A host that another agent owned recently
// may have an exchange of that agent in flight: so it rests for a grace period, unless its former owner has handed it
// over. Views are replaced by one goroutine, while all steps of the journal stand still; everything else is safe for
// concurrent use.
type Timeline struct {
	Current
	// Grace is how long a host rests that another agent owned. It is set before the first view.
	Grace time.Duration

	previous      History[*View]
	handedOver    handovers
	cautiousUntil atomic.Int64 // until then, in Unix ns, another agent may have contacted any host recently; see Arrive
}

// NewTimeline is a Timeline without a view, of an agent that has not arrived among the others.
func NewTimeline(grace time.Duration) *Timeline {
	t := &Timeline{Grace: grace}
	t.cautiousUntil.Store(math.MaxInt64)
	return t
}

// Replace puts a view in force. No host is handed over to it yet.
func (t *Timeline) Replace(v *View, now time.Time) {
	if was := t.Load(); was != nil {
		t.previous.Add(was, now, t.Grace)
	}
	t.Store(v)
	t.handedOver.clear()
}

// Arrive notes that this agent is among the others. Until the given time other agents may have contacted any of its
// hosts recently; the zero time says that none has.
func (t *Timeline) Arrive(cautiousUntil time.Time) {
	if cautiousUntil.IsZero() {
		t.cautiousUntil.Store(0)
		return
	}
	t.cautiousUntil.Store(cautiousUntil.UnixNano())
}

// HasArrived says that Arrive was called.
func (t *Timeline) HasArrived() bool { return t.cautiousUntil.Load() != math.MaxInt64 }

// CautiousUntil is the time of Arrive: 1970 for none, far in the future before Arrive.
func (t *Timeline) CautiousUntil() time.Time { return time.Unix(0, t.cautiousUntil.Load()) }

// NotBefore is when a site may be visited that another agent owned recently; zero if it may be visited now. A site that
// was handed over waits until its former owner said.
func (t *Timeline) NotBefore(site []byte) time.Time {
	now := time.Now()
	due := t.previous.SettledAt(t.CautiousUntil(), now, t.Grace, func(v *View) bool { return v.Owns(site) })
	if !now.Before(due) {
		return time.Time{}
	}
	if agreed, ok := t.handedOver.get(site); ok {
		due = agreed
	}
	if !now.Before(due) {
		return time.Time{}
	}
	return due
}

// IsSettled says that no other view was in force within the grace period before now: what agents have begun by such a
// view has ended.
func (t *Timeline) IsSettled(now time.Time) bool {
	return !slices.ContainsFunc(t.previous.All(), func(p Previous[*View]) bool { return now.Sub(p.Until) < t.Grace })
}

// NoteHandedOver notes that the former owner of a site has handed it over, and when the site may be visited.
func (t *Timeline) NoteHandedOver(site []byte, due time.Time) { t.handedOver.add(site, due) }

// HasMember says that an agent is a member of the view in force, or of a recent one.
func (t *Timeline) HasMember(id string) bool {
	is := func(a Agent) bool { return a.ID == id }
	if v := t.Load(); v != nil && slices.ContainsFunc(v.Agents, is) {
		return true
	}
	return slices.ContainsFunc(t.previous.All(),
		func(p Previous[*View]) bool { return slices.ContainsFunc(p.Value.Agents, is) })
}

// HadView says that a recent view with this agent as a member has a hash.
func (t *Timeline) HadView(hash uint64) bool {
	return slices.ContainsFunc(t.previous.All(),
		func(p Previous[*View]) bool { return p.Value.Self >= 0 && p.Value.Hash() == hash })
}

// HasOwned says that an agent owns a site or owned it recently. newcomer says that the crawl ran without this agent
// before it arrived: then another agent owned its hosts.
func (t *Timeline) HasOwned(id string, site []byte, newcomer bool) bool {
	v := t.Load()
	if v.Agents[v.OwnerOf(site)].ID == id {
		return true
	}
	for _, p := range t.previous.All() {
		if p.Value.Agents[p.Value.OwnerOf(site)].ID == id {
			return true
		}
	}
	arrived := t.cautiousUntil.Load()
	if !newcomer || arrived == 0 || time.Now().UnixNano()-arrived > int64(handoffTime) {
		return false
	}
	return t.successor(site) == id
}

// LastOwner is the agent that owned a site before this one, the last time that another did; empty if none is known.
func (t *Timeline) LastOwner(site []byte) (id string) {
	if time.Now().UnixNano() < t.cautiousUntil.Load() {
		return t.successor(site)
	}
	if was, ok := t.previous.Last(); ok {
		return was.Agents[was.OwnerOf(site)].ID
	}
	return ""
}

// successor is the agent that would own a site without this one; empty if there is none.
func (t *Timeline) successor(site []byte) (id string) {
	v := t.Load()
	if next := v.Successors(site, 1); len(next) > 0 {
		return v.Agents[next[0]].ID
	}
	return ""
}

// handovers are sites that were handed over since the view in force began. The workbench has their delay, too; a Visit
// that was out when they came does not know it. The zero value is empty.
type handovers struct {
	mu  sync.Mutex
	due map[uint64]time.Time // guarded by mu: by the hashes of their keys
}

// handoversMax is how many sites are kept. Others rest for the grace period.
const handoversMax = 1 << 20

func (h *handovers) add(site []byte, due time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.due == nil {
		h.due = make(map[uint64]time.Time)
	}
	if len(h.due) < handoversMax {
		h.due[xxh3.Hash(site)] = due
	}
}

func (h *handovers) get(site []byte) (due time.Time, ok bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	due, ok = h.due[xxh3.Hash(site)]
	return due, ok
}

func (h *handovers) clear() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.due = nil
}

// History keeps former values, the last of them last, for as long as agents may still act by them. The zero value is
// empty. Safe for concurrent use.
type History[T any] struct {
	values atomic.Pointer[[]Previous[T]]
}

// Previous is a value that was in force until a time.
type Previous[T any] struct {
	Value T
	Until time.Time
}

// Add appends a value that was in force until now, and drops those that ended longer than grace ago.
func (h *History[T]) Add(value T, now time.Time, grace time.Duration) {
	h.update(func(all []Previous[T]) []Previous[T] {
		all = slices.DeleteFunc(all, func(f Previous[T]) bool { return now.Sub(f.Until) >= grace })
		return append(all, Previous[T]{value, now})
	})
}

// Last is the former value that was in force last.
func (h *History[T]) Last() (value T, ok bool) {
	if all := h.All(); len(all) > 0 {
		return all[len(all)-1].Value, true
	}
	return value, false
}

// SettledAt is grace after the end of the last former value for which holds is false, if that is later than both from
// and after; otherwise from.
func (h *History[T]) SettledAt(from, after time.Time, grace time.Duration, holds func(value T) bool) time.Time {
	for _, f := range h.All() {
		if due := f.Until.Add(grace); due.After(after) && due.After(from) && !holds(f.Value) {
			from = due
		}
	}
	return from
}

// All are the former values. The slice must not be changed.
func (h *History[T]) All() []Previous[T] {
	if all := h.values.Load(); all != nil {
		return *all
	}
	return nil
}

// update replaces the values by what change makes of a copy.
func (h *History[T]) update(change func(all []Previous[T]) []Previous[T]) {
	for {
		before := h.values.Load()
		all := change(slices.Clone(h.All()))
		if h.values.CompareAndSwap(before, &all) {
			return
		}
	}
}
