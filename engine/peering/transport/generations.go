package transport

import (
	"fmt"
	"log/slog"
	"maps"
	"sync"
)

// errReplaced is wrapped when a certificate is older than another one that its agent has shown here.
var errReplaced = fmt.Errorf("%w: its certificate was replaced by a newer one", ErrIdentity)

// generations remembers the newest certificate generation of each agent, and the open connections on which agents have
// shown certificates. It has as many names as the authority has issued.
type generations struct {
	mu      sync.Mutex
	newest  map[string]uint64
	open    map[string]map[*certified]bool // by agent
	save    func(map[string]uint64) error
	unsaved bool // the last save failed
	log     *slog.Logger
}

// certified is a connection on which an agent has shown a certificate.
type certified struct {
	generation uint64
	close      func() // may be called again
}

// enter adds a connection until leave is called. It refuses a certificate that was replaced. A newer generation than
// the known one is durable when enter returns, and ends the connections with older ones.
func (g *generations) enter(id string, generation uint64, closeConn func()) (leave func(), err error) {
	g.mu.Lock()
	if generation < g.newest[id] {
		g.mu.Unlock()
		return nil, fmt.Errorf("%w: agent %s", errReplaced, id)
	}
	g.note(id, generation)
	var replaced []*certified
	for c := range g.open[id] {
		if c.generation < generation {
			replaced = append(replaced, c)
		}
	}
	own := &certified{generation, closeConn}
	if g.open[id] == nil {
		g.open[id] = make(map[*certified]bool)
	}
	g.open[id][own] = true
	g.mu.Unlock()
	for _, c := range replaced { // they call leave
		c.close()
	}
	return func() { g.leave(id, own) }, nil
}

func (g *generations) leave(id string, own *certified) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if delete(g.open[id], own); len(g.open[id]) == 0 {
		delete(g.open, id)
	}
}

// note takes a generation that is not older than the known one. If it cannot be saved, agents communicate anyway: the
// generation is valid as long as the process runs, and is saved with the next connection. The caller holds the lock.
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
		g.log.Warn("the certificate generations of the agents could not be saved; the agent tries again", "error", err)
	}
	g.unsaved = err != nil
}

// renew takes a certificate of this agent. It reports whether it differs from the one before.
func (g *generations) renew(self string, generation uint64) (changed bool, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if generation < g.newest[self] {
		return false, fmt.Errorf("%w: this agent has used a newer one: "+
			"give the newest file of %s (\"orbweaver ca issue %s --force\" makes one)", errReplaced, self, self)
	}
	changed = generation != g.newest[self]
	g.note(self, generation)
	return changed, nil
}
