package members

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"
)

// ErrUnheard says that an agent that left could not tell the others as often as it should: to some it may be a death.
var ErrUnheard = errors.New("members: leaving: the others could not be told")

// sayMost is how long it may take to say something often enough: some rounds of gossip, and far more on a machine that is short of time.
const sayMost = 10 * time.Second

// Leave says goodbye and closes the Group: the others see at once that the agent has left, and that it is not dead. ctx bounds the goodbye;
// the Group is closed in any case. If all others leave as well nobody is left to hear it, and that is no error.
func (g *Group) Leave(ctx context.Context) error {
	err := g.goodbye(ctx)
	return errors.Join(err, g.Close())
}

// goodbye says first that we leave, since memberlist does not tell others whether a member left or died, and takes its own leave when that
// has spread: its word would overtake ours. How often either has been said is counted here. memberlist waits for the end of the message, and that never
// comes when its queue has lost it (TestTheQueueLosesMessages), or all others have taken their leave: it sends nothing to those.
func (g *Group) goodbye(ctx context.Context) error {
	g.closing.Lock()
	defer g.closing.Unlock()
	if g.closed {
		return ErrClosed
	}
	g.mu.Lock()
	g.roster.self.stage = leaving
	g.mu.Unlock()
	from := g.packets()
	_ = g.announce(time.Nanosecond) // it is queued, which is all that is wanted
	if err := g.said(ctx, from); err != nil {
		return err
	}
	spread := time.NewTimer(3 * g.o.Timings.Gossip)
	defer spread.Stop()
	select {
	case <-spread.C:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	from = g.packets()
	_ = g.list.Leave(time.Nanosecond) // it is queued as well
	return g.said(ctx, from)
}

// said waits until news have been sent as often as each is, from a count of packets on, or until nobody stays who could hear them.
func (g *Group) said(ctx context.Context, from int64) error {
	most := time.NewTimer(sayMost)
	defer most.Stop()
	for !g.over(from) {
		select {
		case <-g.sent:
		case <-most.C:
			return fmt.Errorf("%w within %v", ErrUnheard, sayMost)
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

// over says that news of a moment have been sent often enough, or that nobody stays.
func (g *Group) over(from int64) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	often := g.o.Retells * int(math.Ceil(math.Log10(float64(g.roster.size()+1)))) // as memberlist has it
	return g.packed-from >= int64(often) || !g.roster.stays()
}

// packets is how many packets could have carried news, so far.
func (g *Group) packets() int64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.packed
}
