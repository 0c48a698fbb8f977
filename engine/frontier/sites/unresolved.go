package sites

import (
	"bytes"
	"container/list"
	"context"
	"sync"
)

// UnresolvedQueue has the keys of the sites that wait for an address: a site may die and leave the workbench meanwhile.
// Put never blocks, so that a caller never waits for name servers while it holds a lock. The distributor limits the
// number of sites. Safe for concurrent use.
type UnresolvedQueue struct {
	mu        sync.Mutex
	sites     list.List // of []byte
	resolving int       // sites that were taken and are not yet Done
	puts      int       // number of calls of Put
	signal    chan struct{}
}

// NewUnresolvedQueue returns an empty queue.
func NewUnresolvedQueue() *UnresolvedQueue { return &UnresolvedQueue{signal: make(chan struct{}, 1)} }

// Put adds a site. It borrows the key.
func (q *UnresolvedQueue) Put(site []byte) {
	q.mu.Lock()
	q.sites.PushBack(bytes.Clone(site))
	q.puts++
	q.mu.Unlock()
	q.wake()
}

// wake wakes one resolver.
func (q *UnresolvedQueue) wake() {
	select {
	case q.signal <- struct{}{}:
	default:
	}
}

// TakeOldest waits for a site, removes the oldest and returns its key. The site counts in Len until Done.
func (q *UnresolvedQueue) TakeOldest(ctx context.Context) ([]byte, error) {
	for {
		if key := q.tryTake(); key != nil {
			return key, nil
		}
		select {
		case <-q.signal:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

func (q *UnresolvedQueue) tryTake() []byte {
	q.mu.Lock()
	defer q.mu.Unlock()
	oldest := q.sites.Front()
	if oldest == nil {
		return nil
	}
	key := q.sites.Remove(oldest).([]byte)
	q.resolving++
	if q.sites.Len() > 0 {
		q.wake() // for the next site
	}
	return key
}

// Done reports that a taken site has been placed, deferred or given up.
func (q *UnresolvedQueue) Done() {
	q.mu.Lock()
	q.resolving--
	q.mu.Unlock()
}

// Puts returns the number of calls of Put, so that a caller can find out whether a site came between two looks.
func (q *UnresolvedQueue) Puts() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.puts
}

// Len returns the number of sites that wait or are being resolved.
func (q *UnresolvedQueue) Len() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.sites.Len() + q.resolving
}
