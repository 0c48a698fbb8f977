package agent

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"orbweaver/engine/cluster/message"
	"orbweaver/engine/peering"
	"orbweaver/engine/peering/outbox"
	"orbweaver/engine/store/journal"
	"orbweaver/internal/notify"
)

// sendersPerAgent is how many messages to one agent are on their way at a time.
const sendersPerAgent = 4

// The longest time for which the first item of a message waits for others.
const (
	lingerPerAgent = 250 * time.Millisecond // for each other agent
	lingerMax      = 2 * time.Second
)

// lingerItems is how many items do not wait for others.
const lingerItems = 1024

// The wait after a message that was not delivered, which doubles up to the longest.
const (
	retryWait    = 250 * time.Millisecond
	retryWaitMax = 10 * time.Second
)

// senderOptions are what senders need of the agent that they serve.
type senderOptions struct {
	Outbox  *outbox.Outbox
	Journal *journal.Store
	Log     *slog.Logger
	// Send is cluster.Network.Send.
	Send func(ctx context.Context, to string, sequence uint64, message []byte) error
	// Others is how many other agents there are.
	Others func() int
	// Wake is called when a message was delivered.
	Wake func()
	// Attend returns a loop that runs for as long as messages are sent to an agent.
	Attend func(id, instance string) func(ctx context.Context)
}

// traffic are the numbers of a run.
type traffic struct {
	Sent, BytesSent atomic.Int64
	Refused         atomic.Int64 // messages that the receiver could not read
	Held            atomic.Int64 // messages that the receiver did not want yet
	Failed          atomic.Int64 // messages that did not arrive
}

// senders send messages to the other agents.
type senders struct {
	traffic

	o       senderOptions
	epoch   time.Time  // messages leave a whole number of periods after it
	failure chan error // capacity 1: messages cannot be sent any more
	group   sync.WaitGroup

	mu     sync.Mutex
	agents map[string]*receiver // guarded by mu: by instance
}

// receiver is an agent that messages are sent to.
type receiver struct {
	id, instance string
	wake         <-chan struct{}
	filling      chan struct{} // capacity 1: held by the sender that waits for the next message to be full
	stop         context.CancelFunc
	loops        sync.WaitGroup
}

// newSenders makes senders that send to no agent yet.
func newSenders(o senderOptions) *senders {
	return &senders{o: o, epoch: time.Now(), failure: make(chan error, 1), agents: map[string]*receiver{}}
}

// Failure receives an error after which messages are not sent any more: the disk is broken.
func (s *senders) Failure() <-chan error { return s.failure }

// Add makes sure that messages are sent to an agent, until ctx ends or Remove is called. If the outbox does not know
// the agent and the disk is full, it waits. A broken disk is a Failure. It has one caller at a time.
func (s *senders) Add(ctx context.Context, id, instance string) {
	if s.has(instance) {
		return
	}
	wake, err := s.o.Outbox.EnsureAgent(instance)
	for err != nil {
		if err = s.o.Journal.Disk.Wait(ctx, err); err != nil {
			s.fail(err)
			return
		}
		wake, err = s.o.Outbox.EnsureAgent(instance)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	ctx, stop := context.WithCancel(ctx)
	r := &receiver{id: id, instance: instance, wake: wake, filling: make(chan struct{}, 1), stop: stop}
	s.agents[instance] = r
	s.start(ctx, r, s.o.Attend(id, instance))
	for range sendersPerAgent {
		s.start(ctx, r, func(ctx context.Context) { s.send(ctx, r) })
	}
}

func (s *senders) has(instance string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.agents[instance] != nil
}

// fail tells an error after which messages are not sent any more.
func (s *senders) fail(err error) {
	select {
	case s.failure <- err:
	default:
	}
}

// start starts a loop of a receiver.
func (s *senders) start(ctx context.Context, r *receiver, loop func(ctx context.Context)) {
	r.loops.Add(1)
	s.group.Go(func() {
		defer r.loops.Done()
		loop(ctx)
	})
}

// Remove ends the sending to an agent and waits for that. It says whether messages were sent to the agent.
func (s *senders) Remove(instance string) bool {
	s.mu.Lock()
	r := s.agents[instance]
	delete(s.agents, instance)
	s.mu.Unlock()
	if r == nil {
		return false
	}
	r.stop()
	r.loops.Wait()
	return true
}

// Wait waits for the end of all loops, which end with their contexts.
func (s *senders) Wait() { s.group.Wait() }

// send sends one message after the other.
func (s *senders) send(ctx context.Context, r *receiver) {
	wait := retryWait
	for ctx.Err() == nil {
		batch, err := s.takeBatch(ctx, r)
		if err != nil {
			if err := s.o.Journal.Disk.Wait(ctx, err); err != nil {
				s.fail(err)
				return
			}
			continue
		}
		if batch == nil {
			continue
		}
		done, asked := s.deliver(ctx, r, batch)
		if done {
			wait = retryWait
			continue
		}
		notify.Sleep(ctx, max(wait, asked))
		wait = min(2*wait, retryWaitMax)
	}
}

// takeBatch waits for a message, and takes it out of the outbox; nil if there is none after all.
func (s *senders) takeBatch(ctx context.Context, r *receiver) (*outbox.Batch, error) {
	select {
	case r.filling <- struct{}{}:
	case <-ctx.Done():
		return nil, nil //nolint:nilnil // as the comment says
	}
	defer func() { <-r.filling }()
	select {
	case <-r.wake:
	case <-ctx.Done():
		return nil, nil //nolint:nilnil // as the comment says
	}
	if n := s.o.Outbox.Counts(r.instance); n.Backlog-n.InFlight < lingerItems {
		notify.Sleep(ctx, s.linger())
	}
	s.o.Journal.Steps.Begin()
	defer s.o.Journal.Steps.End()
	return s.o.Outbox.TakeBatch(r.instance)
}

// linger is how long a message waits for more items now.
func (s *senders) linger() time.Duration {
	period := min(time.Duration(max(s.o.Others(), 1))*lingerPerAgent, lingerMax)
	return period - time.Since(s.epoch)%period
}

// deliver sends a message, and says whether it is done with; if not, for how long the receiver wants no more.
func (s *senders) deliver(ctx context.Context, r *receiver, batch *outbox.Batch) (done bool, wait time.Duration) {
	var asked *peering.WaitError
	err := s.o.Send(ctx, r.id, batch.Sequence, message.WithAges(batch.Bytes, time.Now()))
	s.o.Journal.Steps.Begin()
	defer s.o.Journal.Steps.End()
	switch {
	case err == nil:
		s.Sent.Add(1)
		s.BytesSent.Add(int64(len(batch.Bytes)))
	case errors.Is(err, peering.ErrMalformed):
		s.Refused.Add(1)
		s.o.Log.Error("another agent cannot read a message: are both of the same version? The URLs in it are lost to it",
			"agent", r.id, "items", batch.Items, "error", err)
	case errors.As(err, &asked):
		s.Held.Add(1)
		s.o.Outbox.Return(batch)
		return false, asked.Wait
	default:
		if s.Failed.Add(1)%100 == 1 && ctx.Err() == nil {
			s.o.Log.Warn("a message did not arrive; it is sent again", "agent", r.id, "error", err)
		}
		s.o.Outbox.Return(batch)
		return false, 0
	}
	s.o.Outbox.Acknowledge(batch)
	s.o.Wake()
	return true, 0
}
