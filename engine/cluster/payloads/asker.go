package payloads

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"orbweaver/engine/cluster/message"
	"orbweaver/engine/peering"
	"orbweaver/engine/peering/ownership"
	"orbweaver/engine/records/dedup"
	"orbweaver/engine/state/cluster"
	"orbweaver/internal/vfs"
)

// Times of an Asker.
const (
	// Period is the time between two looks at the lists of other agents.
	Period = 10 * time.Second
	// Patience is how long a page waits for the answer about its payload.
	Patience = 250 * time.Millisecond
	// Silence is how long an agent that has not answered is not asked.
	Silence = 10 * time.Second
	// listPatience is how long a part of a list is waited for.
	listPatience = 5 * time.Second
)

// partsPerRound is how many parts of the list of one agent are read before it is the turn of the next agent.
const partsPerRound = 64

// Options are what an Asker needs of its agent.
type Options struct {
	Least       int64  // bytes of a payload that is asked for; 0 asks nothing
	Dir         string // for the table
	MemoryBytes int64  // of the table

	FS     vfs.FS
	Self   string                   // instance of this agent
	Agents func() []ownership.Agent // those that are there
	Ask    func(ctx context.Context, agent string, question []byte) ([]byte, error)
	Log    *slog.Logger
}

// Counters are the numbers of a run.
type Counters struct {
	Known      atomic.Int64 // digests in the table
	Questions  atomic.Int64 // about a payload
	Unanswered atomic.Int64 // of these
	Found      atomic.Int64 // payloads that another agent has
	FoundBytes atomic.Int64 // of these
}

// Asker knows what other agents have stored. Without Options.Least it does nothing.
type Asker struct {
	Counters

	o        Options
	isOpen   bool
	known    *table // if it is open
	isLogged bool   // the log says that the table is full; of Refresh

	mu      sync.Mutex
	silent  map[string]time.Time // guarded by mu: until when an instance is not asked
	refuses map[string]bool      // guarded by mu: instances that do not know the questions
}

// NewAsker returns an Asker, which must be opened.
func NewAsker(o Options) *Asker {
	return &Asker{o: o, silent: map[string]time.Time{}, refuses: map[string]bool{}}
}

// Open opens the table.
func (a *Asker) Open() (err error) {
	if a.o.Least == 0 {
		return nil
	}
	if a.known, err = openTable(a.o.FS, a.o.Dir, a.o.MemoryBytes); err != nil {
		return fmt.Errorf("payloads: --dedup-agents: %w", err)
	}
	a.isOpen = true
	a.Known.Store(int64(a.known.known.Len()))
	return nil
}

// Close closes the table.
func (a *Asker) Close() error {
	if !a.isOpen {
		return nil
	}
	return a.known.known.Close()
}

// IsOn says whether other agents are asked.
func (a *Asker) IsOn() bool { return a.o.Least > 0 }

// Refresh reads what other agents have stored since the last time. An error is that of the disk of this agent.
func (a *Asker) Refresh(ctx context.Context) error {
	isNew := false
	for _, other := range a.o.Agents() {
		if other.Instance() == a.o.Self || !a.mayAsk(other.Instance()) {
			continue
		}
		added, err := a.read(ctx, other)
		isNew = isNew || added
		switch {
		case errors.Is(err, errFull):
			if !a.isLogged {
				a.isLogged = true
				a.o.Log.Warn("no more payloads of other agents are noted (--dedup-agents): raise --dedup-memory",
					"payloads", a.known.known.Len())
			}
		case err != nil:
			return err
		}
	}
	a.Known.Store(int64(a.known.known.Len()))
	if !isNew {
		return nil
	}
	return a.known.save()
}

// read reads some of the list of an agent. If it does not answer, the next Refresh goes on.
func (a *Asker) read(ctx context.Context, other ownership.Agent) (added bool, err error) {
	number, next, err := a.known.source(other.Instance())
	for range partsPerRound {
		if err != nil {
			return added, err
		}
		if a.known.isFull() {
			return added, errFull
		}
		d, ok := a.ask(ctx, other, next)
		if !ok || len(d.Digest) == 0 && d.Next == next {
			return added, nil
		}
		err, added, next = a.known.add(number, d.Digest, d.Next), true, d.Next
		if err == nil && !d.More {
			return added, nil
		}
	}
	return added, err
}

// ask asks for a part of a list.
func (a *Asker) ask(ctx context.Context, other ownership.Agent, from int64) (d message.Digests, ok bool) {
	ctx, cancel := context.WithTimeout(ctx, listPatience)
	defer cancel()
	answer, err := a.o.Ask(ctx, other.ID, message.AppendDigestsQuestion(nil, from))
	if err == nil {
		d, err = message.ReadDigests(answer)
	}
	a.note(other.Instance(), err, false)
	return d, err == nil
}

// FindPayload implements cluster.PayloadSharing.
func (a *Asker) FindPayload(
	ctx context.Context, digest dedup.Digest, size int64,
) (r cluster.PayloadRecord, ok bool, err error) {
	if !a.isOpen || size < a.o.Least {
		return r, false, nil
	}
	instance, err := a.known.find(digest)
	if err != nil || instance == "" || !a.mayAsk(instance) {
		return r, false, err
	}
	agents := a.o.Agents()
	i := slices.IndexFunc(agents, func(other ownership.Agent) bool { return other.Instance() == instance })
	if i < 0 {
		return r, false, nil // it is lost, or has left: its archive may be lost, too
	}
	r, ok = a.askRecord(ctx, agents[i], digest)
	if ok {
		a.Found.Add(1)
		a.FoundBytes.Add(size)
	}
	return r, ok, nil
}

// askRecord asks an agent for the record with a payload.
func (a *Asker) askRecord(
	ctx context.Context, other ownership.Agent, digest dedup.Digest,
) (r cluster.PayloadRecord, ok bool) {
	ctx, cancel := context.WithTimeout(ctx, Patience)
	defer cancel()
	a.Questions.Add(1)
	answer, err := a.o.Ask(ctx, other.ID, message.AppendPayloadQuestion(nil, digest))
	if err == nil && len(answer) > 0 {
		r, err = message.ReadPayloadRecord(answer)
	}
	a.note(other.Instance(), err, true)
	r.Agent = other.ID
	return r, err == nil && len(answer) > 0
}

// mayAsk says whether an agent may be asked now.
func (a *Asker) mayAsk(instance string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return !a.refuses[instance] && !time.Now().Before(a.silent[instance])
}

// note notes whether an agent has answered, about a page or a list: the next Refresh asks for a list again. An agent of
// an earlier version cannot read the question; repeated, it would be a fault of this agent.
func (a *Asker) note(instance string, err error, isOfPage bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case err == nil:
		delete(a.silent, instance)
		return
	case errors.Is(err, peering.ErrMalformed):
		a.refuses[instance] = true
	case isOfPage: // PS2
		a.silent[instance] = time.Now().Add(Silence)
	}
	if isOfPage {
		a.Unanswered.Add(1)
	}
}
