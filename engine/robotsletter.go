package engine

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"time"

	"orbweaver/engine/urlx"
)

// A robots.txt may be redirected to a host of another agent. Then that one asks for it, in the turn of its host, and says what came of it:
//
//	'R' Item                              the hop: its whole URL, and the site whose rules it is for
//	'V' 1  age (8)  site (s)  rules (s)   what came of it; without rules: they could not be had
//
// The site waits meanwhile, parked. It does not wait for ever: if the other agent is lost, whoever takes its place is told of the hop again; if
// this one is, it asks for its robots.txt again when it is run again, or the next owner of the site does; and if nothing is heard, see awaited. A hop
// that comes twice is fetched twice. A verdict counts if it comes from the agent that was asked for it, while the site waits. If a hop leads on to a
// third agent, the one that fetched it sends that hop back to the agent that is responsible for the site, which asks the third.

// sendHop gives a hop to the agent that is responsible for where it leads, and says whether that is another one. Only the agent that is
// responsible for the site asks another one on its behalf: so it knows from whom it may take the verdict. Any other tells that one where
// the hop leads.
func (p *peers) sendHop(h *robotsHop) bool {
	if p == nil || p.mine(h.site) {
		return false
	}
	it := mustItem(h.item)
	it.Rest = append(append([]byte(nil), h.site...), it.Rest...)
	p.routeHop(&it)
	return true
}

// routeHop sends a hop, which has its whole URL, to the agent that is responsible for where it leads if this one is for the site that waits,
// else to the agent that is responsible for that.
func (p *peers) routeHop(it *Item) {
	c := p.circle.Load()
	to := c.owner(it.RobotsOf)
	if to == c.self {
		to = c.owner(it.Rest)
		p.awaited.add(it.RobotsOf, c.peers[to].ID, time.Now())
	}
	if to != c.self { // else the circle has turned meanwhile: the site asks again after awaitedMost
		p.box.Put(c.lines[to], appendItem([]byte{letterHop}, it))
	}
}

// sendVerdict gives what came of a hop to the agent that is responsible for the site that waits, and says whether that is another one.
func (p *peers) sendVerdict(v *robotsVerdict) bool {
	if p == nil {
		return false
	}
	c := p.circle.Load()
	owner := c.owner(v.site)
	if owner == c.self {
		p.awaited.drop(v.site)
		return false
	}
	p.n.steps.Add(1)
	p.box.Send(c.lines[owner], appendVerdict(nil, v, time.Now()))
	return true
}

// appendVerdict makes the item of a letter.
func appendVerdict(dst []byte, v *robotsVerdict, now time.Time) []byte {
	dst = binary.LittleEndian.AppendUint64(append(dst, letterVerdict, siteMoveVersion), uint64(now.Add(-v.age).UnixNano()))
	dst = appendBytes(dst, v.site)
	if v.rules == nil {
		return appendBytes(dst, nil)
	}
	return appendBytes(dst, v.rules.Append(nil))
}

// readVerdict reads it. Rules are held once.
func (p *peers) readVerdict(item []byte) (v robotsVerdict, err error) {
	var m siteMove
	rest, ok := m.head(item, letterVerdict)
	if !ok {
		return v, fmt.Errorf("no verdict: %.40q", item)
	}
	v.age = m.age
	site, rest, ok := cutBytes(rest)
	if !ok || !isSiteKey(site) {
		return v, fmt.Errorf("a verdict for no site: %.200q", site)
	}
	v.site = bytes.Clone(site)
	rules, rest, ok := cutBytes(rest)
	if !ok || len(rest) > 0 {
		return v, fmt.Errorf("no rules for %.200q", site)
	}
	if v.unreachable = len(rules) == 0; !v.unreachable {
		v.rules, err = p.hosts.rules.decode(rules)
	}
	return v, err
}

// takeVerdict ends the waiting of a site, if it is still this agent's.
func (p *peers) takeVerdict(item []byte, m postmark) error {
	v, err := p.readVerdict(item)
	if err != nil || m.told {
		return err
	}
	v.age += m.aged
	if v.rules != nil && (v.age >= robotsLife || !p.hosts.rules.mayTake(v.rules)) {
		v.rules, v.unreachable = nil, true
	}
	if p.sendVerdict(&v) {
		return nil
	}
	p.n.steps.Add(1)
	return p.robots.deliver(&v)
}

// readHop reads a hop. The Item borrows it.
func readHop(item []byte) (Item, error) {
	it, ok := decodeItem(item[1:])
	if !ok || len(it.RobotsOf) == 0 || !isSiteKey(it.RobotsOf) {
		return Item{}, fmt.Errorf("no hop of a robots.txt: %.200q", item)
	}
	url, err := urlx.Normalize(nil, it.Rest)
	if err != nil || !bytes.Equal(url, it.Rest) {
		return Item{}, fmt.Errorf("a hop that is not in normal form: %.200q", it.Rest)
	}
	return it, nil
}

// takeHop takes a hop to a host of this agent, or sends it on.
func (p *peers) takeHop(item []byte) error {
	it, err := readHop(item)
	if err != nil {
		return err
	}
	p.n.steps.Add(1)
	h := &robotsHop{origin: bytes.Clone(it.RobotsOf)}
	site, path := urlx.Split(it.Rest)
	it.Rest = path
	h.site, h.item = bytes.Clone(site), appendItem(nil, &it)
	if p.frontier.hosts.excludes(h.site) {
		return p.robots.settle(&robotsVerdict{site: h.origin, unreachable: true})
	}
	return p.robots.sendHop(h)
}

// unheard ends the waiting for hops that an agent of the former version was to fetch: it does not know them.
func (p *peers) unheard(hops []Item) error {
	p.ledger.cut.RLock()
	defer p.ledger.cut.RUnlock()
	for _, it := range hops {
		if err := p.robots.settle(&robotsVerdict{site: bytes.Clone(it.RobotsOf), unreachable: true}); err != nil {
			return err
		}
	}
	return nil
}
