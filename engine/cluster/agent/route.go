package agent

import (
	"context"
	"errors"

	"orbweaver/engine/cluster/message"
	"orbweaver/engine/frontier/admission"
	"orbweaver/engine/net/outage"
	"orbweaver/engine/peering/outbox"
	"orbweaver/engine/peering/ownership"
	"orbweaver/engine/state/queued"
	"orbweaver/engine/store/journal"
)

// router puts URLs into the outbox for the agents that own them.
type router struct {
	views    *ownership.Timeline
	outbox   *outbox.Outbox
	robots   *relay
	frontier *admission.Frontier
	journal  *journal.Store
}

// Route implements cluster.Router. If this agent owns the URL now, because its owner is gone, the URL passes
// admission again: for a temporary owner it is new.
func (r *router) Route(scratch []byte, it *queued.URL) []byte {
	if it.RobotsOf != nil {
		r.robots.Route(it)
		return scratch
	}
	view := r.views.Load()
	owner := view.OwnerOf(it.Rest)
	if owner == view.Self {
		r.frontier.Add(new(admission.Scratch), it.Rest, *it)
		return scratch
	}
	scratch = message.AppendLink(scratch[:0], it)
	r.outbox.Put(view.Instances[owner], scratch)
	return scratch
}

// RouteRecovered implements cluster.Router.
func (r *router) RouteRecovered(instance string, it *queued.URL) {
	r.outbox.PutRetained(instance, message.AppendLink(nil, it))
}

// WaitRoom implements cluster.Router.
func (r *router) WaitRoom(ctx context.Context) error {
	for r.outbox.HasOverflow() {
		err := r.spill()
		if err == nil {
			return nil
		}
		if err := r.journal.Disk.Wait(ctx, err); errors.Is(err, outage.ErrFullAtStop) {
			return nil
		} else if err != nil {
			return err
		}
	}
	return nil
}

// spill writes the backlog that is in memory because the disk was full.
func (r *router) spill() error {
	r.journal.Steps.Begin()
	defer r.journal.Steps.End()
	return r.outbox.Spill()
}
