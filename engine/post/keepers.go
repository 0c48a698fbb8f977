package post

import (
	"errors"
	"fmt"
	"sync"
	"time"
)

// errReplaced is wrapped when a certificate is older than one that its agent has shown here.
var errReplaced = fmt.Errorf("%w: its certificate was replaced by a newer one", ErrIdentity)

// generations remembers the newest certificate of each agent, as long as the process lives.
type generations struct {
	mu     sync.Mutex
	newest map[string]uint64
}

func (g *generations) see(id string, generation uint64) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if generation < g.newest[id] {
		return fmt.Errorf("%w: agent %s", errReplaced, id)
	}
	g.newest[id] = generation
	return nil
}

// crowd bounds connections: so many of one agent, and so many in all.
type crowd struct {
	mu     sync.Mutex
	of     map[string]int // in plain text nobody has a name yet: all are ""
	all    int
	allMax int
}

// connsOfOne is one for letters and questions, and those that the other end has not yet noticed to be dead.
const connsOfOne = 4

func newCrowd(peers int) *crowd {
	return &crowd{of: make(map[string]int), allMax: peers * connsOfOne}
}

// enter takes a place, which leave gives back.
func (c *crowd) enter(id string) (leave func(), err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.all >= c.allMax || id != "" && c.of[id] >= connsOfOne {
		return nil, errors.New("it has too many connections, or all have")
	}
	c.all++
	c.of[id]++
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.all--
		if c.of[id]--; c.of[id] == 0 {
			delete(c.of, id)
		}
	}, nil
}

// bans are who is not spoken with, and until when. Ended ones leave when another comes.
type bans struct {
	mu    sync.Mutex
	until map[string]time.Time
	why   map[string]string
}

func (b *bans) add(id, why string, until time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := time.Now()
	for other, end := range b.until {
		if now.After(end) {
			delete(b.until, other)
			delete(b.why, other)
		}
	}
	b.until[id], b.why[id] = until, why
}

func (b *bans) check(id string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	left := time.Until(b.until[id])
	if left <= 0 {
		return nil
	}
	return fmt.Errorf("%w: for another %v: %s", ErrBanned, left.Round(time.Second), b.why[id])
}
