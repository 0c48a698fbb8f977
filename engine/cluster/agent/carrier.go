package agent

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"orbweaver/engine/cluster"
	"orbweaver/engine/cluster/message"
	"orbweaver/engine/cluster/outbox"
	"orbweaver/engine/cluster/ownership"
)

// lettersAtOnce is how many letters to one agent are under way at a time.
const lettersAtOnce = 4

// letterLinger is how long the first item of a letter waits for company, at most: a letter costs the same with one link
// as with hundreds. With more agents each gets fewer links of one, and they wait longer, so that what an agent's
// letters cost hardly grows with the number of the others.
const (
	letterLinger     = 250 * time.Millisecond // for each other agent
	letterLingerMost = 2 * time.Second
)

// letterItems is how many items are company enough.
const letterItems = 1024

// The wait after a letter that did not arrive, which doubles up to the longest.
const (
	letterAgain     = 250 * time.Millisecond
	letterAgainMost = 10 * time.Second
)

// sender carries letters to one agent.
type sender struct {
	peers *agent
	to    string
	line  string
	wake  <-chan struct{}
	turn  chan struct{} // capacity 1: who holds it waits for the next letter to be full
	stop  context.CancelFunc
	ended sync.WaitGroup
}

// carry makes sure that somebody carries letters to each of the others.
func (p *agent) carry(ctx context.Context, c *ownership.View) {
	all := slices.Concat(c.Agents, p.owed())
	p.mu.Lock()
	defer p.mu.Unlock()
	for i, peer := range all {
		if i == c.Self || p.senders[peer.Instance()] != nil {
			continue
		}
		wake, err := p.outbox.EnsureAgent(peer.Instance())
		if err != nil {
			panic("BUG: engine: a line of the outbox that there was is not there: " + err.Error())
		}
		own, stop := context.WithCancel(ctx)
		one := &sender{peers: p, to: peer.ID, line: peer.Instance(), wake: wake, turn: make(chan struct{}, 1), stop: stop}
		p.senders[one.line] = one
		one.ended.Add(1)
		requester := p.leases.AddRequester(one.to, one.line)
		p.senderGroup.Go(func() {
			defer one.ended.Done()
			requester.Run(own)
		})
		for range lettersAtOnce {
			one.ended.Add(1)
			p.senderGroup.Go(func() {
				defer one.ended.Done()
				one.run(own)
			})
		}
	}
}

// owed are those who are there, leave for good, and wait for letters from this agent: it may have started when they
// were going already.
func (p *agent) owed() (peers []ownership.Agent) {
	for _, peer := range p.network.Agents() {
		if all, _ := p.outbox.Backlog(peer.Instance()); all > 0 && peer.Instance() != p.instance &&
			p.isGoing(peer.Instance()) {
			peers = append(peers, peer)
		}
	}
	return peers
}

// dismiss ends the carrying to one agent, and waits for that.
func (p *agent) dismiss(line string) {
	p.mu.Lock()
	one := p.senders[line]
	delete(p.senders, line)
	p.mu.Unlock()
	if one != nil {
		one.stop()
		one.ended.Wait()
		p.leases.RemoveRequester(line)
	}
}

// run carries one letter after the other.
func (o *sender) run(ctx context.Context) {
	wait := letterAgain
	for ctx.Err() == nil {
		batch, err := o.next(ctx)
		if err != nil {
			if err := o.peers.journal.Disk.Wait(ctx, err); err != nil {
				o.peers.fail(err)
				return
			}
			continue
		}
		if batch == nil {
			continue
		}
		over, told := o.deliver(ctx, batch)
		if over {
			wait = letterAgain
			continue
		}
		rest(ctx, max(wait, told))
		wait = min(2*wait, letterAgainMost)
	}
}

// next waits for a letter, and takes it; nil if there is none after all.
func (o *sender) next(ctx context.Context) (*outbox.Batch, error) {
	select {
	case o.turn <- struct{}{}:
	case <-ctx.Done():
		return nil, nil //nolint:nilnil // as the comment says
	}
	defer func() { <-o.turn }()
	select {
	case <-o.wake:
	case <-ctx.Done():
		return nil, nil //nolint:nilnil // as the comment says
	}
	if all, under := o.peers.outbox.Backlog(o.line); all-under < letterItems {
		rest(ctx, o.peers.linger())
	}
	return o.take()
}

// linger is how long a letter waits for company now. All letters of an agent leave at the same moments: that wakes it
// and the others once, and not once for each of them.
func (p *agent) linger() time.Duration {
	others := len(p.views.Load().Agents) - 1
	period := min(time.Duration(max(others, 1))*letterLinger, letterLingerMost)
	return period - time.Since(p.sendEpoch)%period
}

// rest waits, unless ctx ends before.
func rest(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

func (o *sender) take() (*outbox.Batch, error) {
	o.peers.journal.Steps.Begin()
	defer o.peers.journal.Steps.End()
	return o.peers.outbox.TakeBatch(o.line)
}

// deliver sends a letter, and says whether it is out of the way; if not, for how long the other agent wants no more.
func (o *sender) deliver(ctx context.Context, batch *outbox.Batch) (over bool, wait time.Duration) {
	p := o.peers
	var told *cluster.WaitError
	err := p.network.Send(ctx, o.to, batch.Sequence, message.WithAges(batch.Bytes, time.Now()))
	p.journal.Steps.Begin()
	defer p.journal.Steps.End()
	switch {
	case err == nil:
		p.counters.lettersOut.Add(1)
		p.counters.bytesOut.Add(int64(len(batch.Bytes)))
	case errors.Is(err, cluster.ErrMalformed):
		p.counters.refused.Add(1)
		p.log.Error("another agent cannot read our letters: are both of the same version? The URLs in this one are lost to it",
			"agent", o.to, "items", batch.Items, "error", err)
	case errors.As(err, &told):
		p.counters.held.Add(1)
		p.outbox.Return(batch)
		return false, told.Wait
	default:
		if p.counters.failed.Add(1)%100 == 1 && ctx.Err() == nil {
			p.log.Warn("a letter did not arrive; it is sent again", "agent", o.to, "error", err)
		}
		p.outbox.Return(batch)
		return false, 0
	}
	p.outbox.Acknowledge(batch)
	p.wake()
	return true, 0
}
