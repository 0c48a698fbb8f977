package order

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/bits"
	"sync"

	"github.com/zeebo/xxh3"

	"orbweaver/engine/page/filter"
	"orbweaver/internal/urlx"
)

// ranked is the policy Ranked of the package page. Safe for concurrent use.
type ranked struct {
	seed  uint64 // of the keys, so that names cannot be chosen that displace others
	mu    sync.Mutex
	table []domain // sets of setSize
}

// domain is an entry of the table; the zero value is a free place.
type domain struct {
	key        uint64 // hash of the name, never 0
	supporters uint64 // a bit for each other domain that links to it
	queued     uint32 // URLs that got a class
}

const (
	tableSize = 1 << 18
	setSize   = 8
	// stateEntry is the size of a domain in State: key, supporters and queued, in little endian.
	stateEntry = 20
)

func newRanked(seed uint64, state []byte) *ranked {
	r := &ranked{seed: seed, table: make([]domain, tableSize)}
	for ; len(state) >= stateEntry; state = state[stateEntry:] {
		e := r.entry(binary.LittleEndian.Uint64(state))
		e.supporters = binary.LittleEndian.Uint64(state[8:])
		e.queued = binary.LittleEndian.Uint32(state[16:])
	}
	return r
}

// weight is 1, and 1 for each other domain that links to it. The number is estimated from the bits (linear counting).
func (d *domain) weight() float64 {
	free := 64 - bits.OnesCount64(d.supporters)
	return 1 - 64*math.Log(max(float64(free), 1)/64)
}

// size decides which domain leaves a full set: the least one.
func (d *domain) size() uint64 { return uint64(bits.OnesCount64(d.supporters)) + uint64(d.queued) }

// entry returns the entry of a domain, and makes it if there is none. The caller holds mu, or has the only reference.
func (r *ranked) entry(key uint64) *domain {
	from := key % (tableSize / setSize) * setSize
	set := r.table[from : from+setSize]
	least := &set[0]
	for i := range set {
		e := &set[i]
		if e.key == key {
			return e
		}
		if e.size() < least.size() {
			least = e
		}
	}
	*least = domain{key: key}
	return least
}

// keyOf returns the key of the registrable domain of a host.
func (r *ranked) keyOf(host []byte) uint64 { return xxh3.HashSeed(filter.Domain(host), r.seed) | 1 }

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
		r.entry(to).supporters |= 1 << (from >> 58)
	}
}

// HasClasses implements Policy.
func (*ranked) HasClasses() bool { return true }

// Class implements Policy.
func (r *ranked) Class(url []byte) int {
	key := r.keyOf(urlx.Host(url))
	r.mu.Lock()
	defer r.mu.Unlock()
	d := r.entry(key)
	d.queued = min(d.queued, math.MaxUint32-1) + 1
	return classOf(d.queued, d.weight())
}

// classOf returns the class of the n-th URL of a domain.
func classOf(n uint32, weight float64) int {
	class := math.Ceil(math.Log2(float64(n) / weight))
	return int(min(max(class, 0), Classes-1))
}

// State implements Policy.
func (r *ranked) State() []byte {
	r.mu.Lock()
	defer r.mu.Unlock()
	state := []byte{}
	for i := range r.table {
		if d := &r.table[i]; d.key != 0 {
			state = binary.LittleEndian.AppendUint64(state, d.key)
			state = binary.LittleEndian.AppendUint64(state, d.supporters)
			state = binary.LittleEndian.AppendUint32(state, d.queued)
		}
	}
	return state
}
