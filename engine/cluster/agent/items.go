package agent

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/zeebo/xxh3"

	"orbweaver/engine/cluster/handoff"
	"orbweaver/engine/cluster/message"
	"orbweaver/engine/cluster/recovery"
	"orbweaver/engine/cluster/robotsrelay"
	"orbweaver/engine/frontier/admission"
	"orbweaver/engine/frontier/sites"
	"orbweaver/engine/peering/outbox"
	"orbweaver/engine/peering/ownership"
	"orbweaver/engine/state/cluster"
)

// items does what the items of messages say, in a step of the journal. They have been checked and permitted, or this
// agent wrote them.
type items struct {
	instance string // this agent
	frontier *admission.Frontier
	sites    *sites.Table
	views    *ownership.Timeline
	outbox   *outbox.Outbox
	robots   *robotsrelay.Relay
	fetched  *recovery.FetchedURLs
}

// origin says where an item comes from.
type origin struct {
	from   string        // ID of the sender; empty if unknown, because the item is replayed from the journal
	delay  time.Duration // at most so much time has passed since it arrived
	resent bool          // it was sent to a lost agent some time ago: its clocks are not true any more
}

// takeAll does what the items of a message say.
func (i *items) takeAll(batch []byte, o origin) error {
	var d admission.Scratch
	for item, err := range outbox.Items(batch) {
		if err == nil {
			err = i.take(&d, item, o)
		}
		if err != nil {
			return fmt.Errorf("%w: %w", cluster.ErrMalformed, err)
		}
	}
	return nil
}

// take does what one item says.
func (i *items) take(d *admission.Scratch, item []byte, o origin) error {
	return itemKindOf(message.KindOf(item)).take(i, d, item, o)
}

// takeLink gives a URL to admission.
func (i *items) takeLink(d *admission.Scratch, item []byte, _ origin) error {
	it, err := message.ReadLink(item)
	if err != nil {
		return err
	}
	i.frontier.Receive(d, it.Rest, it)
	return nil
}

// takeSite takes a site that another agent had. What is known of it is set, unless it was sent long ago, before its
// URLs pass admission.
func (i *items) takeSite(d *admission.Scratch, item []byte, o origin) error {
	move, err := message.ReadSite(item)
	if err != nil {
		return err
	}
	view := i.views.Load()
	switch owner := view.OwnerOf(move.Key); {
	case o.resent || i.frontier.HostRules.Excludes(move.Key):
	case owner == view.Self:
		err = handoff.TakeSite(i.sites, i.views, &move, o.from, o.delay)
	default:
		put := time.Now().Add(-move.Age)
		i.outbox.PutBacklog(view.Instances[owner], message.AppendSite(nil, move.Key, move.Due, move.State, put))
	}
	for it, fault := range move.URLs() {
		if err = errors.Join(err, fault); err != nil {
			break
		}
		i.frontier.Receive(d, it.Rest, it)
	}
	return err
}

// takeRobotsRedirect takes a redirect to a host of this agent, or sends it on.
func (i *items) takeRobotsRedirect(_ *admission.Scratch, item []byte, _ origin) error {
	return i.robots.TakeRedirect(item)
}

// takeRobotsResult ends the wait of a site. What was sent to a lost agent is not true any more.
func (i *items) takeRobotsResult(_ *admission.Scratch, item []byte, o origin) error {
	if o.resent {
		return nil
	}
	return i.robots.TakeResult(item, o.delay)
}

// takeFetched adds to the list of what an agent that leaves has fetched.
func (i *items) takeFetched(_ *admission.Scratch, item []byte, _ origin) error {
	list, fingerprints, err := message.ReadFetched(item)
	if err == nil {
		i.fetched.Inherit(list, fingerprints)
	}
	return err
}

// takeRetained retains what a leaving agent sent to another one. If the receiver is gone already, it is sent to other
// agents.
func (i *items) takeRetained(_ *admission.Scratch, item []byte, _ origin) error {
	instance, batch, err := message.ReadRetained(item, i.sites.Rules)
	if err != nil || instance == i.instance {
		return err
	}
	known := slices.Contains(i.outbox.Agents(), instance)
	d := admission.Scratch{Salt: xxh3.HashString128(instance)}
	for retained, err := range outbox.Items(batch) {
		switch {
		case err != nil:
			return err
		case known:
			i.outbox.PutRetained(instance, retained)
		default:
			if err := i.take(&d, retained, origin{resent: true}); err != nil {
				return err
			}
		}
	}
	return nil
}
