package post

import (
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"sync"
	"time"
)

// errReplaced is wrapped when a certificate is older than one that its agent has shown here.
var errReplaced = fmt.Errorf("%w: its certificate was replaced by a newer one", ErrIdentity)

// generations remembers the newest certificate of each agent, and the connections on which agents have shown theirs. It has as many names as the
// authority has issued.
type generations struct {
	mu      sync.Mutex
	newest  map[string]uint64
	shown   map[string]map[*showing]bool // by agent
	save    func(map[string]uint64) error
	unsaved bool // the last save failed
	log     *slog.Logger
}

// showing is a connection on which an agent has shown its certificate.
type showing struct {
	generation uint64
	end        func() // closes it; may be called again
}

// enter notes a connection whose other end has shown a certificate. It refuses a certificate that was replaced. A newer one than was
// known is durable when enter returns, and ends the connections with older ones. leave takes the connection out again.
func (g *generations) enter(id string, generation uint64, end func()) (leave func(), err error) {
	g.mu.Lock()
	if generation < g.newest[id] {
		g.mu.Unlock()
		return nil, fmt.Errorf("%w: agent %s", errReplaced, id)
	}
	g.note(id, generation)
	var replaced []*showing
	for s := range g.shown[id] {
		if s.generation < generation {
			replaced = append(replaced, s)
		}
	}
	own := &showing{generation, end}
	if g.shown[id] == nil {
		g.shown[id] = make(map[*showing]bool)
	}
	g.shown[id][own] = true
	g.mu.Unlock()
	for _, s := range replaced { // they call leave
		s.end()
	}
	return func() { g.leave(id, own) }, nil
}

func (g *generations) leave(id string, own *showing) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if delete(g.shown[id], own); len(g.shown[id]) == 0 {
		delete(g.shown, id)
	}
}

// note takes a generation that is not older than the one known. A fault of the disk does not keep agents from talking: the generation
// holds as long as the process lives, and is saved with the next connection. The caller holds the lock.
func (g *generations) note(id string, generation uint64) {
	if generation == g.newest[id] && !g.unsaved {
		return
	}
	g.newest[id] = generation
	if g.save == nil {
		return
	}
	err := g.save(maps.Clone(g.newest))
	if err != nil && !g.unsaved {
		g.log.Warn("the generations of the agents' certificates could not be saved; it is tried again", "error", err)
	}
	g.unsaved = err != nil
}

// renew takes this agent's own certificate. It reports whether it is another one than before.
func (g *generations) renew(self string, generation uint64) (changed bool, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if generation < g.newest[self] {
		return false, fmt.Errorf("%w: this agent has used a newer one: give the newest file of %s (\"orbweaver ca issue %s --force\" makes one)", errReplaced, self, self)
	}
	changed = generation != g.newest[self]
	g.note(self, generation)
	return changed, nil
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
