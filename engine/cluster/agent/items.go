package agent

import (
	"fmt"
	"slices"
	"time"

	"github.com/zeebo/xxh3"

	"orbweaver/engine/cluster/message"
	"orbweaver/engine/cluster/recovery"
	"orbweaver/engine/frontier/admission"
	"orbweaver/engine/frontier/order"
	"orbweaver/engine/frontier/sites"
	"orbweaver/engine/peering/outbox"
	"orbweaver/engine/peering/ownership"
)

// items does what the items of messages say, in a step of the journal. They have been checked and permitted, or this
// agent wrote them.
type items struct {
	instance string // this agent
	frontier *admission.Frontier
	sites    *sites.Table
	order    *order.Current
	views    *ownership.Timeline
	outbox   *outbox.Outbox
	robots   *relay
	fetched  *recovery.FetchedURLs
}

// origin says where an item comes from.
type origin struct {
	from   string        // ID of the sender; empty if unknown, because the item is replayed from the journal
	delay  time.Duration // at most so much time has passed since it arrived
	resent bool          // it was sent to a lost agent some time ago: its clocks are not true any more
}

// take does what items say.
func (i *items) take(d *admission.Scratch, all []message.Item, o origin) error {
	for k := range all {
		if err := itemKindOf(all[k].Kind()).take(i, d, &all[k], o); err != nil {
			return err
		}
	}
	return nil
}

// replay does again what a message of the journal did.
func (i *items) replay(batch []byte, o origin) error {
	var d admission.Scratch
	for raw, err := range outbox.Items(batch) {
		if err == nil {
			err = i.takeRaw(&d, raw, o)
		}
		if err != nil {
			return fmt.Errorf("agent: a message of the journal: %w", err)
		}
	}
	return nil
}

// takeRaw does what one item says that this agent wrote, or has read before.
func (i *items) takeRaw(d *admission.Scratch, raw []byte, o origin) error {
	item, err := message.Decode(raw, i.sites.Rules)
	if err != nil {
		return err
	}
	return i.take(d, []message.Item{item}, o)
}

// takeLink gives a URL to admission.
func (i *items) takeLink(d *admission.Scratch, item *message.Item, _ origin) error {
	i.frontier.Receive(d, item.URL.Rest, item.URL)
	return nil
}

// takeSite takes a site that another agent had. What is known of it is set, unless it was sent long ago, before its
// URLs pass admission.
func (i *items) takeSite(d *admission.Scratch, item *message.Item, o origin) (err error) {
	move, view := item.Site, i.views.Load()
	switch owner := view.OwnerOf(move.Key); {
	case o.resent || i.frontier.HostRules.Excludes(move.Key):
	case owner == view.Self:
		err = takeSite(i.sites, i.views, move, o.from, o.delay)
	default:
		put := time.Now().Add(-move.Age)
		i.outbox.PutBacklog(view.Instances[owner], message.AppendSite(nil, move.Key, move.Due, move.State, put))
	}
	if err != nil {
		return err
	}
	for k := range move.URLs {
		i.frontier.Receive(d, move.URLs[k].Rest, move.URLs[k])
	}
	return nil
}

// takeDepth notes from which depth of a host the order of visits counts, or sends it on.
func (i *items) takeDepth(_ *admission.Scratch, item *message.Item, _ origin) error {
	of, view := item.Depth, i.views.Load()
	if owner := view.OwnerOf(of.Site); owner != view.Self {
		i.outbox.PutBacklog(view.Instances[owner], item.Bytes)
		return nil
	}
	i.order.NoteLeastDepth(of.Site, of.Least)
	return nil
}

// takeRobotsRedirect takes a redirect to a host of this agent, or sends it on.
func (i *items) takeRobotsRedirect(_ *admission.Scratch, item *message.Item, _ origin) error {
	return i.robots.TakeRedirect(item.URL)
}

// takeRobotsResult ends the wait of a site. What was sent to a lost agent is not true any more.
func (i *items) takeRobotsResult(_ *admission.Scratch, item *message.Item, o origin) error {
	if o.resent {
		return nil
	}
	return i.robots.TakeResult(item.Robots, o.delay)
}

// takeFetched adds to the list of what an agent that leaves has fetched.
func (i *items) takeFetched(_ *admission.Scratch, item *message.Item, _ origin) error {
	i.fetched.Inherit(item.Fetched.List, item.Fetched.Fingerprints)
	return nil
}

// takeRetained retains what a leaving agent sent to another one. If the receiver is gone already, it is sent to other
// agents.
func (i *items) takeRetained(_ *admission.Scratch, item *message.Item, _ origin) error {
	part := item.Retained
	if part.Instance == i.instance {
		return nil
	}
	if !slices.Contains(i.outbox.Agents(), part.Instance) {
		d := admission.Scratch{Salt: xxh3.HashString128(part.Instance)}
		return i.take(&d, part.Items, origin{resent: true})
	}
	for k := range part.Items {
		i.outbox.PutRetained(part.Instance, part.Items[k].Bytes)
	}
	return nil
}

// itemKind is what this agent does with the items of one kind. Package message has their forms.
type itemKind struct {
	// permit says what of an item its sender has no authority to say; empty if it may say all of it. isChanged says that
	// permit has cut the item. An error means that the message must come again later. nil permits any member.
	permit func(a *authority, from string, item *message.Item) (unauthorised string, isChanged bool, err error)
	// take does what the item says, in a step of the journal.
	take func(i *items, d *admission.Scratch, item *message.Item, o origin) error
}

// itemKindOf is the row of a kind of items in the table of all kinds. Package message reads no other ones.
func itemKindOf(kind byte) itemKind {
	switch kind {
	case message.Link:
		return itemKind{nil, (*items).takeLink}
	case message.Site:
		return itemKind{(*authority).permitSite, (*items).takeSite}
	case message.Depth:
		return itemKind{nil, (*items).takeDepth}
	case message.RobotsRedirect:
		return itemKind{(*authority).permitRobotsRedirect, (*items).takeRobotsRedirect}
	case message.RobotsResult:
		return itemKind{(*authority).permitRobotsResult, (*items).takeRobotsResult}
	case message.Fetched:
		return itemKind{(*authority).permitFetched, (*items).takeFetched}
	case message.Retained:
		return itemKind{(*authority).permitRetained, (*items).takeRetained}
	}
	panic(fmt.Sprintf("BUG: agent: an item of the unknown kind %q", kind))
}
