package lease

import (
	"slices"
	"sync"
	"time"
)

// The terms of leases.
const (
	// LongTerm is how long a lease is that nobody else waits for.
	LongTerm = 8 * time.Second
	// HoldTerm is by how much an exchange that goes on is prolonged at a time.
	HoldTerm = 5 * time.Second
	// slotLeast and slotMost are the shortest and the longest lease that others wait for: eight delays, between the two.
	slotLeast = 4 * time.Second
	slotMost  = 6 * time.Second
	slotGaps  = 8
	// patience is for how long a turn is kept for one who was told when to come.
	patience = time.Second
	// contestedFor is how long an address is shared after two have wanted it at a time.
	contestedFor = time.Minute
	// soon is how long before its beginning a lease is granted.
	soon = time.Second
	// usualFirst is how long a shared lease is used, as long as nothing is known of that.
	usualFirst = 300 * time.Millisecond
	// waitLeast and waitMost are the shortest and the longest time after which somebody is told to come again: things may be otherwise by then.
	waitLeast = 50 * time.Millisecond
	waitMost  = 10 * time.Second
	// holdMost is how long one exchange may take: whoever says that it goes on for longer does not tell the truth.
	holdMost = time.Hour
	// entriesMost is how many addresses a Keeper has in its book. While it is full nobody gets another one.
	entriesMost = 1 << 20
	// entriesOfOne is how many of these may be there by the wishes of one agent: an agent asks a few thousand addresses a second at most.
	entriesOfOne = entriesMost / 8
	// fullWait is after how long to ask again then.
	fullWait = 5 * time.Second
)

// Keeper has the book of some addresses. The zero value is an empty one. It is safe for concurrent use.
type Keeper struct {
	mu    sync.Mutex
	book  table[entry]   // guarded by mu, with all that is in it
	begun map[string]int // guarded by mu: entries by the agent that wished for the address first
}

// entry is what the book says of an address.
type entry struct {
	first     string // who wished for it first
	holder    string // who has the lease, or "" if it is known to be over
	last      string // who had it last, if nobody has it; it knows itself when it may ask again
	since     time.Time
	from      time.Time // the beginning of the lease
	until     time.Time
	long      bool // nobody else wanted it at its beginning
	gap       time.Duration
	free      time.Time     // nobody but last before then
	contested time.Time     // until then, leases are shared ones
	usual     time.Duration // for how long these are used, of late
	turns     []turn        // who waits, in order
}

// turn is somebody who waits.
type turn struct {
	who string
	at  time.Time // when it was told to come
}

// slot is how long a lease is that others wait for.
func slot(gap time.Duration) time.Duration { return min(max(slotGaps*gap, slotLeast), slotMost) }

// Ask answers a wish of an agent. Before notBefore nobody gets the address; what is under way may be prolonged.
func (k *Keeper) Ask(who string, w Wish, notBefore, now time.Time) Answer {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.book.turn(now, func(e *entry) bool {
		over := now.After(e.until) && now.After(e.free) && len(e.turns) == 0
		if over {
			k.forget(e)
		}
		return over
	})
	e := k.book.get(w.Addr)
	if e == nil {
		if k.book.len() >= entriesMost || k.begun[who] >= entriesOfOne {
			return Answer{For: fullWait}
		}
		if k.begun == nil {
			k.begun = make(map[string]int)
		}
		k.begun[who]++
		e = &entry{first: who}
		k.book.put(w.Addr, e)
	}
	e.expire(now)
	switch w.Kind {
	case Free:
		return e.leave(who, w.For, now)
	case Hold:
		return e.hold(who, w.For, now)
	default:
		return e.want(who, w.For, notBefore, now)
	}
}

// forget takes an entry from the account of the agent that began it.
func (k *Keeper) forget(e *entry) {
	if k.begun[e.first]--; k.begun[e.first] == 0 {
		delete(k.begun, e.first)
	}
}

// Knows says that an agent has the lease of an address, or had it last.
func (k *Keeper) Knows(who string, a Addr) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	e := k.book.get(a)
	return e != nil && (e.holder == who || e.holder == "" && e.last == who)
}

// Held is how many addresses are leased.
func (k *Keeper) Held(now time.Time) (n int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, m := range [...]map[Addr]*entry{k.book.young, k.book.old} {
		for _, e := range m {
			if e.expire(now); e.holder != "" {
				n++
			}
		}
	}
	return n
}

// expire ends what is over.
func (e *entry) expire(now time.Time) {
	if e.holder != "" && !now.Before(e.until) {
		e.vacate(e.until)
	}
	e.turns = slices.DeleteFunc(e.turns, func(t turn) bool { return now.Sub(t.at) > patience })
}

// vacate takes the address from its holder.
func (e *entry) vacate(at time.Time) {
	if e.usual == 0 {
		e.usual = usualFirst
	}
	if !e.long {
		used := min(max(at.Sub(e.from), 0), slotMost)
		e.usual += (used - e.usual) / 4
	}
	e.last, e.holder = e.holder, ""
}

func (e *entry) want(who string, gap time.Duration, notBefore, now time.Time) Answer {
	if e.holder == who && !now.Before(notBefore) { // its answer was lost, or it does not know any more that it has it
		if e.long && len(e.turns) == 0 {
			e.grant(who, LongTerm, gap, now)
		}
		return e.lease(now)
	}
	place := slices.IndexFunc(e.turns, func(t turn) bool { return t.who == who })
	if place < 0 {
		place = len(e.turns)
		e.turns = append(e.turns, turn{who, now})
	}
	if e.holder != "" || len(e.turns) > 1 {
		e.contested = now.Add(contestedFor)
	}
	from := now
	if e.last != who {
		from = latest(from, e.free)
	}
	if e.holder == "" && !now.Before(notBefore) && from.Sub(now) <= soon && e.isTurnOf(who, place, from) {
		e.turns = slices.Delete(e.turns, place, place+1)
		term := LongTerm
		if e.long = !now.Before(e.contested); !e.long {
			term = slot(gap)
		}
		e.since, e.from = now, from
		e.grant(who, term, gap, from)
		return e.lease(now)
	}
	at := latest(e.vacant(now).Add(time.Duration(place)*(e.usual+gap)), notBefore)
	wait := min(max(at.Sub(now), waitLeast), waitMost)
	e.turns[place].at = now.Add(wait)
	return Answer{For: wait}
}

// isTurnOf says that nobody who waits for longer is to come by then. Whoever had the address last has to let all others pass.
func (e *entry) isTurnOf(who string, place int, from time.Time) bool {
	if who == e.last {
		return place == 0
	}
	return !slices.ContainsFunc(e.turns[:place], func(t turn) bool { return !t.at.After(from) })
}

// vacant is when the address may be asked for with success, about: when its holder has said that it is done, and the delay runs.
func (e *entry) vacant(now time.Time) time.Time {
	switch {
	case e.holder == "":
		return latest(now, e.free.Add(-soon/2))
	case e.long:
		return e.until // the holder does not know that others wait
	default:
		if over := now.Sub(e.from) - e.usual; over > 0 { // what has taken long takes longer
			return now.Add(max(e.gap/4, over/8))
		}
		return e.from.Add(e.usual + e.gap/4)
	}
}

// lease is what the holder has.
func (e *entry) lease(now time.Time) Answer {
	return Answer{Granted: true, Shared: !e.long, From: max(e.from.Sub(now), 0), For: e.until.Sub(now)}
}

// hold prolongs an exchange. One that is not in the book began when another had the book.
func (e *entry) hold(who string, gap time.Duration, now time.Time) Answer {
	if e.holder == "" && (e.last == who || e.last == "") {
		if e.last == "" {
			e.since, e.from, e.long = now, now, false
		}
		e.holder = who
	}
	if e.holder != who || now.Sub(e.since) > holdMost {
		return Answer{For: time.Second}
	}
	e.grant(who, HoldTerm, gap, now)
	return e.lease(now)
}

// leave ends a lease before its time, and says how long nobody may ask.
func (e *entry) leave(who string, rest time.Duration, now time.Time) Answer {
	if e.holder == who {
		e.vacate(now)
	}
	if e.holder == "" && (e.last == who || e.last == "") {
		e.last, e.until, e.free = who, now, now.Add(rest)
	}
	return Answer{Granted: true}
}

// grant lets somebody have it for so long at least.
func (e *entry) grant(who string, term, gap time.Duration, from time.Time) {
	e.holder, e.gap = who, gap
	e.until = latest(e.until, from.Add(term))
	e.free = e.until.Add(gap)
}

func latest(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
