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
	slotLeast = 2 * time.Second
	slotMost  = 5 * time.Second
	slotGaps  = 8
	// patience is for how long a turn is kept for one who was told when to come.
	patience = 2 * time.Second
	// waitMost is the longest time after which somebody is told to come again: things may be otherwise by then.
	waitMost = 10 * time.Second
	// holdMost is how long one exchange may take: whoever says that it goes on for longer does not tell the truth.
	holdMost = time.Hour
	// entriesMost is how many addresses a Keeper has in its book. While it is full nobody gets another one.
	entriesMost = 1 << 22
	// fullWait is after how long to ask again then.
	fullWait = 5 * time.Second
)

// Keeper has the book of some addresses. The zero value is an empty one. It is safe for concurrent use.
type Keeper struct {
	mu   sync.Mutex
	book table[entry] // guarded by mu, with all that is in it
}

// entry is what the book says of an address.
type entry struct {
	holder string // who has the lease, or "" if it is known to be over
	last   string // who had it last, if nobody has it; it knows itself when it may ask again
	since  time.Time
	until  time.Time
	gap    time.Duration
	free   time.Time // nobody but last before then
	turns  []turn    // who waits, in order
}

// turn is somebody who waits.
type turn struct {
	who string
	by  time.Time // it is kept until then
}

// slot is how long a lease is that others wait for.
func slot(gap time.Duration) time.Duration { return min(max(slotGaps*gap, slotLeast), slotMost) }

// Ask answers a wish of an agent. Before notBefore nobody gets the address; what is under way may be prolonged.
func (k *Keeper) Ask(who string, w Wish, notBefore, now time.Time) Answer {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.book.turn(now, func(e *entry) bool { return now.After(e.until) && now.After(e.free) && len(e.turns) == 0 })
	e := k.book.get(w.Addr)
	if e == nil {
		if k.book.len() >= entriesMost {
			return Answer{For: fullWait}
		}
		e = new(entry)
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
		e.last, e.holder = e.holder, ""
	}
	e.turns = slices.DeleteFunc(e.turns, func(t turn) bool { return now.After(t.by) })
}

func (e *entry) want(who string, gap time.Duration, notBefore, now time.Time) Answer {
	if e.holder == who && !now.Before(notBefore) { // its answer was lost, or it does not know any more that it has it
		if len(e.turns) == 0 {
			e.grant(who, LongTerm, gap, now)
		}
		return Answer{true, e.until.Sub(now)}
	}
	at := now // from when on somebody may have it
	if e.holder != "" || e.last != who {
		at = latest(at, e.free)
	}
	at = latest(at, notBefore)
	place := slices.IndexFunc(e.turns, func(t turn) bool { return t.who == who })
	if place < 0 {
		place = len(e.turns)
		e.turns = append(e.turns, turn{who: who})
	}
	if e.holder == "" && place == 0 && !at.After(now) {
		e.turns = slices.Delete(e.turns, 0, 1)
		term := LongTerm
		if len(e.turns) > 0 {
			term = slot(gap)
		}
		e.since = now
		e.grant(who, term, gap, now)
		return Answer{true, term}
	}
	wait := max(at.Sub(now)+time.Duration(place)*(slot(gap)+gap), time.Millisecond)
	wait = min(wait, waitMost)
	e.turns[place].by = now.Add(wait + patience)
	return Answer{For: wait}
}

// hold prolongs an exchange. One that is not in the book began when another had the book.
func (e *entry) hold(who string, gap time.Duration, now time.Time) Answer {
	if e.holder == "" && (e.last == who || e.last == "") {
		if e.last == "" {
			e.since = now
		}
		e.holder = who
	}
	if e.holder != who || now.Sub(e.since) > holdMost {
		return Answer{For: time.Second}
	}
	e.grant(who, HoldTerm, gap, now)
	return Answer{true, e.until.Sub(now)}
}

// leave ends a lease before its time, and says how long nobody may ask.
func (e *entry) leave(who string, rest time.Duration, now time.Time) Answer {
	if e.holder == who || e.holder == "" && (e.last == who || e.last == "") {
		e.last, e.holder, e.until = who, "", now
		e.free = now.Add(rest)
	}
	return Answer{Granted: true}
}

// grant lets somebody have it for so long at least.
func (e *entry) grant(who string, term, gap time.Duration, now time.Time) {
	e.holder, e.gap = who, gap
	e.until = latest(e.until, now.Add(term))
	e.free = e.until.Add(gap)
}

func latest(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
