package cluster

import (
	"context"
	"time"
)

// Holder is the agent that has the page of a URL.
type Holder struct {
	Instance string    // of this agent, now or before, or of another; empty if none is known
	RetryAt  time.Time // when to ask again, since an agent that may have the page has not answered; zero for no need
}

// Exchange cancels the exchange of a fetch worker when its agent may not go on with it: not at all, not with this site,
// or not with this address. One Exchange serves the exchanges of a worker one after the other, since a Fetcher is
// faster with one context than with many.
type Exchange struct {
	Context context.Context //nolint:containedctx // of the exchanges of one worker, until one is cancelled
	Cancel  context.CancelFunc
	Site    []byte // of the exchange in flight
}

// Open makes it ready for another exchange, and returns the function that cancels that exchange.
func (x *Exchange) Open(ctx context.Context) context.CancelFunc {
	if x.Context == nil || x.Context.Err() != nil {
		x.Context, x.Cancel = context.WithCancel(ctx)
	}
	return x.Cancel
}

// Close frees the context.
func (x *Exchange) Close() {
	if x.Cancel != nil {
		x.Cancel()
	}
}
