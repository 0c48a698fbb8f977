package underway

import (
	"cmp"
	"net/netip"
	"slices"
	"sync/atomic"
	"time"
)

// Table has a slot for each fetch worker. Its methods are safe for concurrent use.
type Table struct {
	slots []Slot
	busy  atomic.Int64
}

// NewTable returns a table for workers that are numbered from 0.
func NewTable(workers int) *Table { return &Table{slots: make([]Slot, workers)} }

// Begin notes that a worker begins an exchange, in its slot. Only the worker itself may call it.
func (t *Table) Begin(worker int, e *Exchange) {
	t.busy.Add(1)
	t.slots[worker].begin(e)
}

// End notes that the exchange of a worker has ended. It returns the number of workers that were in an exchange,
// including this one. Only the worker itself may call it.
func (t *Table) End(worker int) (busy int64) {
	t.slots[worker].end()
	return t.busy.Add(-1) + 1
}

// Progress is where a worker counts the bytes that it receives. Only the worker itself may write to it.
func (t *Table) Progress(worker int) *Progress { return &t.slots[worker].progress }

// Received is how many bytes of responses have come in this run. Of these, underWay belong to exchanges that have not
// ended.
func (t *Table) Received() (all, underWay int64) {
	for i := range t.slots {
		s := &t.slots[i]
		n := s.progress.received.Load()
		if all += n; s.began.Load() != 0 {
			underWay += max(n-s.progress.before.Load(), 0) // an exchange may begin meanwhile
		}
	}
	return all, underWay
}

// Busy is the number of workers in an exchange.
func (t *Table) Busy() int64 { return t.busy.Load() }

// Oldest returns the exchange that began first; false if there is none.
func (t *Table) Oldest() (Exchange, bool) {
	const tries = 4 // the exchange that is oldest may end while it is read
	for range tries {
		oldest, began := -1, int64(0)
		for i := range t.slots {
			if at := t.slots[i].began.Load(); at != 0 && (oldest < 0 || at < began) {
				oldest, began = i, at
			}
		}
		if oldest < 0 {
			return Exchange{}, false
		}
		if e, ok := t.slots[oldest].read(); ok {
			e.Worker = oldest
			return e, true
		}
	}
	return Exchange{}, false
}

// List returns the exchanges under way, at most limit, those that began first at the front.
func (t *Table) List(limit int) []Exchange {
	type candidate struct {
		began  int64
		worker int
	}
	var found []candidate
	for i := range t.slots {
		if at := t.slots[i].began.Load(); at != 0 {
			found = append(found, candidate{at, i})
		}
	}
	slices.SortFunc(found, func(a, b candidate) int { return cmp.Compare(a.began, b.began) })
	var list []Exchange
	for _, c := range found {
		if len(list) == limit {
			break
		}
		if e, ok := t.slots[c.worker].read(); ok {
			e.Worker = c.worker
			list = append(list, e)
		}
	}
	return list
}

// Kind is what an exchange is for.
type Kind uint8

// The kinds of exchanges.
const (
	Page   Kind = iota // a URL of the crawl
	Robots             // a robots.txt
	Proof              // the root page of a site that fails, as a proof that it answers again
)

// String names a kind.
func (k Kind) String() string {
	return [...]string{"page", "robots.txt", "proof"}[k]
}

// Exchange is one exchange under way.
type Exchange struct {
	URL       []byte // normal form, up to URLMax bytes
	Truncated bool   // URL was longer
	Addr      netip.Addr
	Port      uint16 // of Addr; 0 behind a proxy
	Kind      Kind
	Tries     int // earlier tries
	Began     time.Time
	Worker    int   // set by Table
	Received  int64 // bytes of the response so far, head included; set by Table
	Length    int64 // of the response, if it has declared it; 0 if not; set by Table
}
