package lease

import (
	"context"
	"sync"
	"time"
)

const (
	// spare is how much of a lease must be left for an exchange to begin: most are over by then.
	spare = 1500 * time.Millisecond
	// prolongAt is how long before its end a lease is prolonged under whose cover an exchange goes on.
	prolongAt = 2500 * time.Millisecond
	// abortAt is how long before its end the exchange is aborted, if nobody has prolonged it.
	abortAt = 300 * time.Millisecond
	// Watch is how often Ending is to be asked: more often than abortAt.
	Watch = 250 * time.Millisecond
)

// Holder is what an agent knows of the addresses that it asks, or would. The zero value knows none. It is safe for concurrent use; one
// address has one exchange at a time.
type Holder struct {
	mu   sync.Mutex
	held table[hold]    // guarded by mu
	busy map[Addr]*hold // guarded by mu: of these, with an exchange under way
}

// hold is what a holder knows of an address.
type hold struct {
	keeper  string    // who granted it
	from    time.Time // its beginning
	until   time.Time // its end
	shared  bool      // others want it, too
	former  string    // another keeper, who does not know yet that it is none, perhaps, and may give the address to others after ...
	bound   time.Time // ... this; "" if not
	again   time.Time // before this it is of no use to ask
	freed   time.Time // what was wished before this is over
	gap     time.Duration
	grown   bool // it is longer than it was at first
	asking  bool // to prolong it was wished, and is not answered
	abort   context.CancelFunc
	aborted bool
}

// Begin says whether an exchange may begin, by what this keeper granted; if not, when it is of use to ask it. Then the exchange is
// under way until End; abort ends it when the lease does.
func (h *Holder) Begin(a Addr, keeper string, abort context.CancelFunc, now time.Time) (ok bool, again time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.held.turn(now, func(o *hold) bool { return o.abort == nil && now.After(o.until) && now.After(o.again) })
	o := h.held.get(a)
	switch {
	case o == nil:
		return false, time.Time{}
	case o.abort != nil:
		panic("BUG: lease: two exchanges of one address at a time")
	case o.keeper != keeper:
		return false, time.Time{}
	case now.Before(o.from):
		return false, o.from
	case o.until.Sub(now) < spare:
		return false, o.again
	}
	if h.busy == nil {
		h.busy = make(map[Addr]*hold)
	}
	o.abort, o.aborted, o.grown, o.asking = abort, false, false, false
	h.busy[a] = o
	return true, time.Time{}
}

// End ends an exchange. Nobody may ask the address before due; more says that this agent would do so again right then. End says whether
// the keeper must be told that the address is free, since it does not follow from the lease, or others wait for it.
func (h *Holder) End(a Addr, due time.Time, more bool, now time.Time) (tell bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	o := h.busy[a]
	if o == nil {
		panic("BUG: lease: the end of an exchange that did not begin")
	}
	delete(h.busy, a)
	o.abort, o.former = nil, ""
	if tell = o.grown || o.shared && !more || due.After(o.until.Add(o.gap)); tell {
		o.until, o.freed = time.Time{}, now // the keeper gives it to others
	}
	return tell
}

// Take notes what a keeper has answered to wishes that were made at asked, in their order.
func (h *Holder) Take(keeper string, wishes []Wish, answers []Answer, asked, now time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for i, w := range wishes {
		h.take(keeper, w, answers[i], asked, now)
	}
}

// Fail notes that a keeper has not answered, so that it is of no use to ask before again.
func (h *Holder) Fail(keeper string, wishes []Wish, again time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, w := range wishes {
		o := h.find(keeper, w)
		if w.Kind == Want && o.abort == nil {
			o.again = again
		}
		o.asking = false
	}
}

// find finds or makes what is known of an address by a wish.
func (h *Holder) find(keeper string, w Wish) *hold {
	o := h.held.get(w.Addr)
	if o == nil {
		o = &hold{keeper: keeper}
		h.held.put(w.Addr, o)
	}
	if o.keeper != keeper && o.abort == nil { // another one has the book
		*o = hold{keeper: keeper}
	}
	return o
}

func (h *Holder) take(keeper string, w Wish, a Answer, asked, now time.Time) {
	o := h.find(keeper, w)
	over := !asked.After(o.freed)
	switch w.Kind {
	case Free:
		if o.abort == nil {
			o.until = time.Time{} // for what was wished just before
		}
	case Hold:
		if o.abort == nil || over {
			return // the exchange is over: it runs out
		}
		if keeper == o.former {
			if a.Granted {
				o.former = "" // until that is over it will know
			}
			return
		}
		o.asking = false
		if a.Granted && o.keeper == keeper {
			o.grown, o.until = true, latest(o.until, asked.Add(a.For))
		}
	default:
		switch {
		case o.keeper != keeper, over:
		case a.Granted:
			o.gap, o.again, o.shared = w.For, time.Time{}, a.Shared
			o.from, o.until = now.Add(a.From), latest(o.until, asked.Add(a.For))
			if o.until.Sub(latest(now, o.from)) < spare { // the end of one that others wait for
				o.from, o.again = time.Time{}, o.until
			}
		default:
			o.again = now.Add(a.For)
		}
	}
}

// Prolong is an exchange under way that goes on for longer than its lease.
type Prolong struct {
	Addr   Addr
	Keeper string // who is to be asked
}

// Ending says which leases are to be prolonged, since exchanges go on, and aborts those for which that was of no use; their number is
// aborted.
func (h *Holder) Ending(now time.Time) (prolong []Prolong, aborted int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for a, o := range h.busy {
		end := o.until
		if o.former != "" && o.bound.Before(end) {
			end = o.bound
		}
		switch left := end.Sub(now); {
		case o.aborted || left >= prolongAt:
		case left < abortAt:
			o.abort()
			o.aborted = true
			aborted++
		default:
			if !o.asking {
				o.asking = true
				prolong = append(prolong, Prolong{a, o.keeper})
			}
			if o.former != "" {
				prolong = append(prolong, Prolong{a, o.former})
			}
		}
	}
	return prolong, aborted
}

// Moved says that other agents have the books now: keeper says who has that of an address, and there, who still is one of the agents. The
// exchanges under way are to be prolonged by the new keepers, and by the former ones who are there, which may not know yet that they
// are none. They have HoldTerm for it at most, and no more than their leases by then.
func (h *Holder) Moved(keeper func(a Addr) string, there func(keeper string) bool, now time.Time) (prolong []Prolong) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for a, o := range h.busy {
		is := keeper(a)
		if is == o.keeper {
			continue
		}
		if o.former == "" {
			o.former, o.bound = o.keeper, o.until
		}
		if !there(o.former) || o.former == is {
			o.former = ""
		}
		o.keeper, o.asking = is, true
		if most := now.Add(HoldTerm); o.until.After(most) {
			o.until = most
		}
		prolong = append(prolong, Prolong{a, is})
		if o.former != "" {
			prolong = append(prolong, Prolong{a, o.former})
		}
	}
	return prolong
}

// Busy is how many exchanges are under way.
func (h *Holder) Busy() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.busy)
}
