package order

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"sort"
	"sync"

	"github.com/zeebo/xxh3"

	"orbweaver/engine/page/filter"
	"orbweaver/engine/state/queued"
	"orbweaver/internal/urlx"
)

// ranked is the policy Ranked of the package page. Safe for concurrent use.
type ranked struct {
	seed    uint64                    // of the keys, so that names cannot be chosen that displace others
	weights [supporterBits + 1]uint32 // by the number of bits of domain.supporters, in units of 1 / weightUnit
	budgets map[uint64]uint32         // by key, in the same units

	mu       sync.Mutex
	table    []domain // sets of setSize
	heap     []int32  // entries of the table that have queued URLs; the first one is next
	turns    uint64
	arrivals uint32
}

// domain is an entry of the table; the zero value is a free place.
type domain struct {
	key        uint64 // hash of the name, without the bits of wayMask; never 0
	supporters uint64 // a bit for each other domain that links to it
	pages      uint32 // URLs that have had their turn
	queued     uint32
	arrival    uint32 // when the first of the queued URLs came: a number that grows
	place      int32  // in the heap, if queued > 0
	budget     uint32 // its weight from outside; 0 if the supporters decide
}

const (
	tableSize     = 1 << 18
	setSize       = 8
	supporterBits = 64
	weightUnit    = 1 << 10
	weightPower   = 1.25
	// leastSupporters is what a domain has that no other links to, such as that of a seed.
	leastSupporters = 0.5
	// stateEntry is the size of a domain in State: key, supporters and pages, in little endian. wayMask are the bits of
	// the key that say which place of its set the domain has there.
	stateEntry = 20
	wayMask    = (setSize - 1) << 1
)

func newRanked(budgets Budgets, seed uint64, state []byte) *ranked {
	r := &ranked{seed: seed, table: make([]domain, tableSize), budgets: make(map[uint64]uint32, len(budgets))}
	for name, weight := range budgets {
		r.budgets[r.keyOf([]byte(name))] = weight
	}
	for n := range r.weights { // the number of domains is estimated from the bits (linear counting)
		free := max(float64(supporterBits-n), 1)
		supporters := -supporterBits * math.Log(free/supporterBits)
		r.weights[n] = uint32(weightUnit * math.Pow(max(supporters, leastSupporters), weightPower))
	}
	_, state = splitState(state)
	for ; len(state) >= stateEntry; state = state[stateEntry:] {
		way := binary.LittleEndian.Uint64(state)
		key := way&^wayMask | 1
		r.table[firstOfSet(key)+int(way&wayMask>>1)] = domain{
			key: key, supporters: binary.LittleEndian.Uint64(state[8:]),
			pages: binary.LittleEndian.Uint32(state[16:]), budget: r.budgets[key],
		}
	}
	return r
}

// firstOfSet is the first place of the set of a key.
func firstOfSet(key uint64) int { return int(key >> 8 % (tableSize / setSize) * setSize) }

// keyOf returns the key of the registrable domain of a host.
func (r *ranked) keyOf(host []byte) uint64 {
	return xxh3.HashSeed(filter.Domain(host), r.seed)&^wayMask | 1
}

// find returns the place of a domain, and makes an entry if there is none. The least domain of the set without queued
// URLs makes room. ok is false if all of them have some: place is that of one with which the domain shares its queue.
func (r *ranked) find(key uint64) (place int, ok bool) {
	from := firstOfSet(key)
	least := -1
	for i := from; i < from+setSize; i++ {
		d := &r.table[i]
		if d.key == key {
			return i, true
		}
		if d.queued == 0 && (least < 0 || d.size() < r.table[least].size()) {
			least = i
		}
	}
	if least < 0 {
		return from + int(key>>5%setSize), false
	}
	r.table[least] = domain{key: key, budget: r.budgets[key]}
	return least, true
}

// size decides which domain leaves a set.
func (d *domain) size() uint64 { return uint64(bits.OnesCount64(d.supporters)) + uint64(d.pages) }

// precedes reports whether the next URL of one domain comes before that of another: it has fewer pages for its weight,
// or as many and was first.
func (r *ranked) precedes(a, b *domain) bool {
	turnA, turnB := uint64(a.pages+1)*uint64(r.weightOf(b)), uint64(b.pages+1)*uint64(r.weightOf(a))
	return turnA < turnB || turnA == turnB && a.arrival < b.arrival
}

// weightOf is the weight of a domain, in units of 1 / weightUnit.
func (r *ranked) weightOf(d *domain) uint32 {
	if d.budget > 0 {
		return d.budget
	}
	return r.weights[bits.OnesCount64(d.supporters)]
}

// NoteLinks implements Policy.
func (r *ranked) NoteLinks(page []byte, urls [][]byte) {
	home := urlx.Host(page)
	var from uint64
	var last []byte
	linked := make([]uint64, 0, 64) // most pages link to fewer domains
	for _, url := range urls {
		host := urlx.Host(url)
		if bytes.Equal(host, home) || bytes.Equal(host, last) {
			continue
		}
		if last = host; from == 0 {
			from = r.keyOf(home)
		}
		if to := r.keyOf(host); to != from {
			linked = append(linked, to)
		}
	}
	if len(linked) == 0 {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, to := range linked {
		if place, ok := r.find(to); ok {
			d := &r.table[place]
			if d.supporters |= 1 << (from >> 58); d.queued > 0 {
				r.raise(int(d.place))
			}
		}
	}
}

// HasQueues implements Policy.
func (*ranked) HasQueues() bool { return true }

// Owns implements Policy.
func (*ranked) Owns(queue int) bool { return queue >= Classes }

// QueueOf implements Policy.
func (r *ranked) QueueOf(url *queued.URL) int {
	key := r.keyOf(urlx.Host(url.Rest))
	r.mu.Lock()
	defer r.mu.Unlock()
	place, _ := r.find(key)
	return Classes + place
}

// Add implements Policy.
func (r *ranked) Add(queue int, n uint64) {
	place := queue - Classes
	r.mu.Lock()
	defer r.mu.Unlock()
	d := &r.table[place]
	if d.queued += uint32(n); d.queued > uint32(n) {
		return
	}
	r.arrivals++
	d.arrival, d.place = r.arrivals, int32(len(r.heap))
	r.heap = append(r.heap, int32(place))
	r.raise(int(d.place))
}

// Next implements Policy.
func (r *ranked) Next() (queue int, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.heap) == 0 {
		return 0, false
	}
	at := uint64(0)
	if r.turns++; r.turns%turnOfAny == 0 {
		at = r.turns / turnOfAny % uint64(len(r.heap))
	}
	return Classes + int(r.heap[at]), true
}

// Took implements Policy.
func (r *ranked) Took(queue int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	d := &r.table[queue-Classes]
	d.pages = min(d.pages, math.MaxUint32-2) + 1
	if d.queued--; d.queued > 0 {
		r.lower(int(d.place))
		return
	}
	at, last := int(d.place), len(r.heap)-1
	r.swap(at, last)
	if r.heap = r.heap[:last]; at < last {
		r.raise(at)
		r.lower(at)
	}
}

// Explain implements Policy.
func (r *ranked) Explain(url *queued.URL, _ bool) Explanation {
	return Explanation{Visit: Visit{Mode: ModeRanked}.String(), Place: r.explain(urlx.Host(url.Rest))}
}

// explain returns the domain of a host; nil if it is not known.
func (r *ranked) explain(host []byte) *Place {
	key := r.keyOf(host)
	r.mu.Lock()
	defer r.mu.Unlock()
	set := r.table[firstOfSet(key):][:setSize]
	at := slices.IndexFunc(set, func(d domain) bool { return d.key == key })
	if at < 0 {
		return nil
	}
	p := r.placeOf(firstOfSet(key) + at)
	p.Domain = string(filter.Domain(host))
	if d := &set[at]; d.queued > 0 {
		for _, other := range r.heap {
			if r.precedes(&r.table[other], d) {
				p.Before++
			}
		}
	}
	return &p
}

// placeOf says what an entry of the table has.
func (r *ranked) placeOf(entry int) Place {
	d := &r.table[entry]
	return Place{
		Weight: float64(r.weightOf(d)) / weightUnit, Budget: d.budget > 0, Pages: int64(d.pages), Queued: int64(d.queued),
		Queue: Classes + entry,
	}
}

// Largest implements Policy.
func (r *ranked) Largest(most int) []Place {
	r.mu.Lock()
	defer r.mu.Unlock()
	var largest []Place
	for _, entry := range r.heap {
		p := r.placeOf(int(entry))
		if len(largest) == most && p.Weight <= largest[most-1].Weight {
			continue
		}
		at := sort.Search(len(largest), func(i int) bool { return largest[i].Weight < p.Weight })
		if largest = slices.Insert(largest, at, p); len(largest) > most {
			largest = largest[:most]
		}
	}
	return largest
}

// raise moves the entry of a place of the heap up to where it belongs.
func (r *ranked) raise(at int) {
	for at > 0 && r.precedes(&r.table[r.heap[at]], &r.table[r.heap[(at-1)/2]]) {
		r.swap(at, (at-1)/2)
		at = (at - 1) / 2
	}
}

// lower moves it down.
func (r *ranked) lower(at int) {
	for {
		below := 2*at + 1
		if below >= len(r.heap) {
			return
		}
		if right := below + 1; right < len(r.heap) && r.precedes(&r.table[r.heap[right]], &r.table[r.heap[below]]) {
			below = right
		}
		if !r.precedes(&r.table[r.heap[below]], &r.table[r.heap[at]]) {
			return
		}
		r.swap(at, below)
		at = below
	}
}

func (r *ranked) swap(a, b int) {
	r.heap[a], r.heap[b] = r.heap[b], r.heap[a]
	r.table[r.heap[a]].place, r.table[r.heap[b]].place = int32(a), int32(b)
}

// State implements Policy.
func (r *ranked) State() []byte {
	r.mu.Lock()
	defer r.mu.Unlock()
	state := []byte{}
	for i := range r.table {
		if d := &r.table[i]; d.key != 0 {
			state = binary.LittleEndian.AppendUint64(state, d.key|uint64(i%setSize)<<1)
			state = binary.LittleEndian.AppendUint64(state, d.supporters)
			state = binary.LittleEndian.AppendUint32(state, d.pages)
		}
	}
	return state
}

// focused takes URLs with the largest score first. Seeds come before all others.
type focused struct {
	classes
	state []byte // of another order, kept for a later run
}

// QueueOf implements Policy.
func (*focused) QueueOf(url *queued.URL) int {
	if url.Seed {
		return 0
	}
	return Classes - 1 - min(url.Score, Classes-1)
}

// Explain implements Policy.
func (f *focused) Explain(url *queued.URL, isQueued bool) Explanation {
	e := Explanation{Visit: Visit{Mode: ModeFocused}.String(), Classes: Classes, By: "its score"}
	if isQueued {
		e.Class = f.QueueOf(url) + 1
		if e.By = fmt.Sprintf("its score %d", url.Score); url.Seed {
			e.By = "being a seed"
		}
	}
	return e
}

// State implements Policy.
func (f *focused) State() []byte { return f.state }
