package engine

import (
	"container/list"
	"context"
	"sync"

	"orbweaver/engine/visit"
)

// siteQueue holds sites that wait for an address. Put never blocks, so that nobody waits for the name system while he
// holds something; the bound is the number of newborn sites, which the distributor keeps in check.
type siteQueue struct {
	mu     sync.Mutex
	items  list.List // of *State
	out    int       // taken and not yet Done
	puts   int       // ever
	signal chan struct{}
}

func newSiteQueue() *siteQueue { return &siteQueue{signal: make(chan struct{}, 1)} }

// Put adds a site.
func (q *siteQueue) Put(vs *visit.State) {
	q.mu.Lock()
	q.items.PushBack(vs)
	q.puts++
	q.mu.Unlock()
	q.poke()
}

func (q *siteQueue) poke() {
	select {
	case q.signal <- struct{}{}:
	default:
	}
}

// Take removes the oldest site, waiting for one; it counts as out until Done.
func (q *siteQueue) Take(ctx context.Context) (*visit.State, error) {
	for {
		if vs := q.tryTake(); vs != nil {
			return vs, nil
		}
		select {
		case <-q.signal:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

func (q *siteQueue) tryTake() *visit.State {
	q.mu.Lock()
	defer q.mu.Unlock()
	oldest := q.items.Front()
	if oldest == nil {
		return nil
	}
	vs := q.items.Remove(oldest).(*visit.State)
	q.out++
	if q.items.Len() > 0 {
		q.poke() // another worker may take the next
	}
	return vs
}

// Done says that a taken site has been placed, deferred or killed.
func (q *siteQueue) Done() {
	q.mu.Lock()
	q.out--
	q.mu.Unlock()
}

// Puts is how many sites were ever put, so that two looks can tell whether one came between them.
func (q *siteQueue) Puts() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.puts
}

// Len counts the waiting and those in the hands of the resolvers.
func (q *siteQueue) Len() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.items.Len() + q.out
}
