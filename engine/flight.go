package engine

import (
	"context"
	"sync"
	"time"

	"github.com/zeebo/xxh3"

	"orbweaver/engine/catalogue"
	"orbweaver/engine/fetch"
	"orbweaver/engine/outcome"
	"orbweaver/engine/seen"
	"orbweaver/engine/urlx"
	"orbweaver/warc"
)

// flight is what the engine knows about the exchange that a Page holds. It stays with its Page and is used again.
type flight struct {
	item []byte // own copy

	url     []byte // normal form, own copy
	fp      xxh3.Uint128
	robots  bool // a robots.txt, or a hop on the way to one
	retry   bool // to be tried again: the item went back with the Visit
	proof   bool // of the root page, to see whether a site in trouble serves pages; retry is true too
	listed  bool // as the item says
	seed    bool
	late    bool // the item was delayed
	first   bool // the first page of its site
	depth   int
	hops    int
	try     int
	outcome outcome.Outcome
	siteDue time.Time
	ipDue   time.Time
	worker  int

	rule     []byte // the line of robots.txt that allowed it, behind its number; empty if no line did. Own copy
	way, via []byte // as the item has them; they borrow it

	before earlier // what a conditional request asks about; zero for any other request
}

// earlier is the record of what a URL was before.
type earlier struct {
	seen.First
	digest *seen.Digest // of its payload; nil if it is not known
	at     catalogue.Place
}

func (e *earlier) none() bool { return e.RecordID == [16]byte{} }

// earlierOf describes a response that has its payload.
func earlierOf(rec *warc.RecordRead, at catalogue.Place) earlier {
	return earlier{
		First: seen.First{RecordID: rec.ID, URI: string(rec.TargetURI), Date: rec.Date}, digest: (*seen.Digest)(rec.PayloadDigest), at: at,
	}
}

// flightOf returns the Page's flight, making it at the Page's first use.
func flightOf(p *fetch.Page) *flight {
	f, ok := p.Engine.(*flight)
	if !ok {
		f = new(flight)
		p.Engine = f
	}
	return f
}

// board fills the flight for a new exchange.
func (f *flight) board(item, url []byte, it *Item) {
	f.item = append(f.item[:0], item...)
	f.url = append(f.url[:0], url...)
	f.proof = false
	f.robots, f.retry, f.listed, f.seed, f.late, f.first = false, false, it.Listed, it.Seed, it.Delayed, false
	f.depth, f.hops, f.try = it.Depth, it.Hops, it.Try
	f.rule, f.way, f.via, f.before = f.rule[:0], nil, nil, earlier{}
	if it.Via != nil {
		own := mustItem(f.item)
		f.way, f.via = own.Way, own.Via
	}
	f.outcome = outcome.None
	f.siteDue, f.ipDue = time.Time{}, time.Time{}
}

// aloft knows the flights whose item is nowhere but with them: one is added in the same step of the cut that gives its
// Visit back, and removed in the step that counts its URL as done. A cut saves their items.
type aloft struct {
	mu      sync.Mutex
	flights map[*flight]struct{}
	landed  chan struct{} // closed when the next one lands; nil if nobody waits for that
}

func newAloft() *aloft { return &aloft{flights: make(map[*flight]struct{})} }

func (a *aloft) add(f *flight) {
	a.mu.Lock()
	a.flights[f] = struct{}{}
	a.mu.Unlock()
}

func (a *aloft) remove(f *flight) {
	a.mu.Lock()
	delete(a.flights, f)
	if a.landed != nil {
		close(a.landed)
		a.landed = nil
	}
	a.mu.Unlock()
}

// await returns when none of some URLs is aloft, or with ctx.
func (a *aloft) await(ctx context.Context, urls map[string]struct{}) error {
	for {
		a.mu.Lock()
		var landed chan struct{}
		for f := range a.flights {
			if _, some := urls[string(f.url)]; some {
				if a.landed == nil {
					a.landed = make(chan struct{})
				}
				landed = a.landed
				break
			}
		}
		a.mu.Unlock()
		if landed == nil {
			return nil
		}
		select {
		case <-landed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// each calls f for all of them; the caller holds the exclusive cut.
func (a *aloft) each(f func(site, item []byte)) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for fl := range a.flights {
		site, _ := urlx.Split(fl.url)
		f(site, fl.item)
	}
}
