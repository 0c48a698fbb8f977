package consensus

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"
)

// calls are the questions to other nodes. They know which agents were heard lately.
type calls struct {
	self  string // the line of this agent
	run   uint64 // tells this process from earlier ones
	store *store
	ask   func(ctx context.Context, line string, question []byte) ([]byte, error)
	log   *slog.Logger

	mu       sync.Mutex
	contacts map[string]time.Time // guarded by mu: when agents were heard last, by line
	warned   map[string]bool      // guarded by mu: agents of another log, by raft ID
}

// contactsMost is of how many agents it is remembered when they were heard.
const contactsMost = 4096

// call puts a question to the agent of a line and reads its answer.
func (c *calls) call(ctx context.Context, line string, q *question, wait time.Duration) (*answer, error) {
	if c.store.silent() {
		return nil, errClosed
	}
	now := time.Now()
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	q.Run = c.run
	q.From, q.Cluster, _ = c.store.names()
	raw, err := c.ask(ctx, line, encode(q))
	if err != nil {
		return nil, err
	}
	a := new(answer)
	if err := decode(raw, a); err != nil {
		return nil, err
	}
	if lineOf(a.ID) != line {
		return nil, fmt.Errorf("%w: %q answers for %q", ErrMessage, a.ID, line)
	}
	c.note(now, append(a.Contacts, line)...)
	return a, nil
}

// callAll asks some agents for their state at the same time. The answers are by line.
func (c *calls) callAll(ctx context.Context, lines []string) map[string]*answer {
	var mu sync.Mutex
	var all sync.WaitGroup
	answers := make(map[string]*answer)
	for _, line := range lines {
		if line == c.self {
			continue
		}
		all.Go(func() {
			a, err := c.call(ctx, line, &question{Kind: kindState}, rpcTime)
			if err != nil {
				return
			}
			mu.Lock()
			defer mu.Unlock()
			answers[line] = a
		})
	}
	all.Wait()
	return answers
}

// note notes that agents were heard.
func (c *calls) note(at time.Time, lines ...string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, line := range lines {
		if _, known := c.contacts[line]; known || len(c.contacts) < contactsMost {
			c.contacts[line] = at
		}
	}
}

// recent are the lines of the agents that were heard within Lease, this one among them, sorted.
func (c *calls) recent(now time.Time) (lines []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	lines = append(lines, c.self)
	for line, at := range c.contacts {
		if ageOf(now, at) < Lease {
			lines = append(lines, line)
		}
	}
	slices.Sort(lines)
	return slices.Compact(lines)
}

// warnOfOther logs once that an agent of another log was met.
func (c *calls) warnOfOther(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.warned[id] {
		c.warned[id] = true
		c.log.Warn("an agent began this crawl apart from the others and has no part in it: "+
			"stop it, run it once without --quorum, and then with it again", "agent", lineOf(id))
	}
}
