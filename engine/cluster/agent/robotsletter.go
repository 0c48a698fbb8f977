package agent

import (
	"bytes"
	"time"

	"orbweaver/engine/admission"
	"orbweaver/engine/cluster/message"
	"orbweaver/engine/queued"
	"orbweaver/engine/site"
	"orbweaver/engine/urlx"
)

// A robots.txt may be redirected to a host of another agent. Then that one asks for it, in the turn of its host, and
// says what came of it:
//
//	'R' Item                              the hop: its whole URL, and the site whose rules it is for
//	'V' 1  age (8)  site (s)  rules (s)   what came of it; without rules: they could not be had
//
// The site waits meanwhile, parked. It does not wait for ever: if the other agent is lost, whoever takes its place is
// told of the hop again; if this one is, it asks for its robots.txt again when it is run again, or the next owner of
// the site does; and if nothing is heard, see awaited. A hop that comes twice is fetched twice. A verdict counts if it
// comes from the agent that was asked for it, while the site waits. If a hop leads on to a third agent, the one that
// fetched it sends that hop back to the agent that is responsible for the site, which asks the third.

// SendRedirect gives a hop to the agent that is responsible for where it leads, and says whether that is another one.
// Only the agent that is responsible for the site asks another one on its behalf: so it knows from whom it may take the
// verdict. Any other tells that one where the hop leads.
func (p *agent) SendRedirect(h *site.RobotsRedirect) bool {
	if p.views.Load().Owns(h.Site) {
		return false
	}
	it := queued.MustDecode(h.Item)
	it.Rest = append(append([]byte(nil), h.Site...), it.Rest...)
	p.routeHop(&it)
	return true
}

// routeHop sends a hop, which has its whole URL, to the agent that is responsible for where it leads if this one is for
// the site that waits, else to the agent that is responsible for that.
func (p *agent) routeHop(it *queued.URL) {
	c := p.views.Load()
	to := c.OwnerOf(it.RobotsOf)
	if to == c.Self {
		to = c.OwnerOf(it.Rest)
		p.awaited.add(it.RobotsOf, c.Agents[to].ID, time.Now())
	}
	if to != c.Self { // else the circle has turned meanwhile: the site asks again after awaitedMost
		p.outbox.Put(c.Instances[to], message.AppendRobotsRedirect(nil, it))
	}
}

// SendResult gives what came of a hop to the agent that is responsible for the site that waits, and says whether that
// is another one.
func (p *agent) SendResult(v *site.RobotsResult) bool {
	c := p.views.Load()
	owner := c.OwnerOf(v.Site)
	if owner == c.Self {
		p.awaited.drop(v.Site)
		return false
	}
	p.counters.steps.Add(1)
	p.outbox.PutBacklog(c.Instances[owner], message.AppendRobotsResult(nil, v, time.Now()))
	return true
}

// takeVerdict ends the waiting of a site, if it is still this agent's.
func (p *agent) takeVerdict(_ *admission.Scratch, item []byte, o origin) error {
	v, err := message.ReadRobotsResult(item, p.sites.Rules)
	if err != nil || o.resent {
		return err
	}
	v.Age += o.delay
	if v.Rules != nil && (v.Age >= site.RobotsLifetime || !p.sites.Rules.Accepts(v.Rules)) {
		v.Rules, v.Unreachable = nil, true
	}
	if p.SendResult(&v) {
		return nil
	}
	p.counters.steps.Add(1)
	return p.robots.DeliverRobots(&v)
}

// takeHop takes a hop to a host of this agent, or sends it on.
func (p *agent) takeHop(_ *admission.Scratch, item []byte, _ origin) error {
	it, err := message.ReadRobotsRedirect(item)
	if err != nil {
		return err
	}
	p.counters.steps.Add(1)
	h := &site.RobotsRedirect{Origin: bytes.Clone(it.RobotsOf)}
	s, path := urlx.Split(it.Rest)
	it.Rest = path
	h.Site, h.Item = bytes.Clone(s), queued.Append(nil, &it)
	if p.frontier.HostRules.Excludes(h.Site) {
		return p.robots.SettleRobots(&site.RobotsResult{Site: h.Origin, Unreachable: true})
	}
	return p.robots.RedirectRobots(h)
}
