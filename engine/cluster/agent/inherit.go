package agent

import (
	"slices"

	"github.com/zeebo/xxh3"

	"orbweaver/engine/admission"
	"orbweaver/engine/cluster/message"
	"orbweaver/engine/cluster/outbox"
)

// What an agent that leaves permanently knows, and no other agent does, goes to the others: items of the kinds
// message.Fetched and message.Retained. All agents get each list of fetched URLs, since any of them may own a host one
// day. What the leaving agent sent to another one goes to a third.
//
// Until the agent has left it may fail, and its disk be lost. So a URL that is not fetched because the leaving agent
// has the page is noted as sent to it. If it fails, its list counts no more, and what it was sent is sent to other
// agents, as after any failure.

const (
	inheritedAtOnce = 2048     // fingerprints in an item
	toldBytes       = 32 << 10 // an item of a letter is no longer than that and one item that was told
)

// takeTold keeps what an agent was told by one that has left; if that agent is gone already, it is told to others.
func (p *agent) takeTold(_ *admission.Scratch, item []byte, _ origin) error {
	line, items, err := message.ReadRetained(item, p.parts.Sites.Rules)
	if err != nil || line == p.instance {
		return err
	}
	known := slices.Contains(p.outbox.Agents(), line)
	d := admission.Scratch{Salt: xxh3.HashString128(line)}
	for one, err := range outbox.Items(items) {
		switch {
		case err != nil:
			return err
		case known:
			p.outbox.PutRetained(line, one)
		default:
			if err := p.take(&d, one, origin{resent: true}); err != nil {
				return err
			}
		}
	}
	return nil
}

// speaksFor says that this agent answers for the pages of an agent that has left. It does not for one that is leaving,
// whose disk may still be lost: an agent that heard so would rely on this one, and not be sent the URL again if the
// leaving one fails.
func (p *agent) speaksFor(instance string) bool {
	isLeaving := p.leavingAgents.HasAnnounced(instance)
	return p.leavingAgents.HasLeft(instance) || !isLeaving && !slices.Contains(p.outbox.Agents(), instance)
}
