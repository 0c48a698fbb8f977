package transport

import (
	"fmt"
	"sync"
	"time"

	"orbweaver/engine/peering"
)

// connsPerAgent is one connection in use, and others whose loss this end has not noticed yet.
const connsPerAgent = 4

// connLimit bounds the accepted connections, of one agent and in all.
type connLimit struct {
	allMax int

	mu struct {
		sync.Mutex
		byID map[string]int // in plain text all connections count for ""
		all  int
	}
}

func newConnLimit(peers int) *connLimit {
	l := &connLimit{allMax: peers * connsPerAgent}
	l.mu.byID = make(map[string]int)
	return l
}

// enter counts a connection until leave is called.
func (l *connLimit) enter(id string) (leave func(), err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.mu.all >= l.allMax || id != "" && l.mu.byID[id] >= connsPerAgent {
		return nil, fmt.Errorf("%w: the agent has %d connections, all agents have %d", errTooMany, l.mu.byID[id], l.mu.all)
	}
	l.mu.all++
	l.mu.byID[id]++
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.mu.all--
		if l.mu.byID[id]--; l.mu.byID[id] == 0 {
			delete(l.mu.byID, id)
		}
	}, nil
}

// banList holds the agents whose messages are refused. Ended bans are removed when another begins.
type banList struct {
	mu struct {
		sync.Mutex
		bans map[string]ban
	}
}

type ban struct {
	until  time.Time
	reason string
}

func (b *banList) add(id, reason string, until time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := time.Now()
	for other, old := range b.mu.bans {
		if now.After(old.until) {
			delete(b.mu.bans, other)
		}
	}
	if len(b.mu.bans) == 0 {
		b.mu.bans = make(map[string]ban)
	}
	b.mu.bans[id] = ban{until, reason}
}

// check returns an error that wraps peering.ErrBanned if the agent is banned.
func (b *banList) check(id string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	remaining := time.Until(b.mu.bans[id].until)
	if remaining <= 0 {
		return nil
	}
	return fmt.Errorf("%w: for another %v: %s", peering.ErrBanned, remaining.Round(time.Second), b.mu.bans[id].reason)
}
