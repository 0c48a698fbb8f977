package agent

import (
	"slices"

	"github.com/zeebo/xxh3"

	"orbweaver/engine/admission"
	"orbweaver/engine/cluster/message"
	"orbweaver/engine/cluster/outbox"
)

// What an agent that leaves for good knows and nobody else does goes to the others, in items of letters:
//
//	'F' 1  seed (8)  line (s)  fingerprint (16)*    URLs that an agent has an answer of; their hash is seeded
//	'T' 1  line (s)  (item)*                        what it told another agent: whoever gets this is to tell it again if that one is lost
//
// Everybody gets all of 'F', since nobody knows who will be responsible for what one day; 'T' goes to one who is not
// the one that was told.
//
// As long as the agent has not left, it may die, and its disk be lost: a URL that is not fetched since it has the page
// is noted as told to it. If it dies, the list counts no more, and what it was told is told again, as after any death.
const (
	inheritedAtOnce = 2048     // fingerprints in an item
	toldBytes       = 32 << 10 // an item of a letter is no longer than that and one item that was told
)

// takeTold keeps what an agent was told by one that has left; if that agent is gone already, it is told to others.
func (p *agent) takeTold(_ *admission.Scratch, item []byte, _ origin) error {
	line, items, err := message.ReadRetained(item, p.sites.Rules)
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

// has says that this agent has an answer of a URL, or one that has left for good. It does not speak for one that is
// leaving, whose disk may be lost yet: whoever heard that would count on this agent, and not tell it again when that
// one dies.
func (p *agent) has(url []byte) (bool, error) {
	line, err := p.fetched.HolderOf(p.frontier.HashSeed, p.instance, url)
	return line != "" && (line == p.instance || p.hasLeft(line) || !p.isGoing(line) &&
		!slices.Contains(p.outbox.Agents(), line)), err
}
