package members

import (
	"net/netip"
	"time"

	"github.com/hashicorp/memberlist"
)

// hooks are what memberlist calls, some of it with its own lock: they change the roster, wake the keeper and call nothing back.
type hooks struct{ g *Group }

// NodeMeta is our card.
func (h *hooks) NodeMeta(int) []byte {
	h.g.mu.Lock()
	defer h.g.mu.Unlock()
	return h.g.roster.self.append(nil)
}

// NotifyMsg gets a word of another process.
func (h *hooks) NotifyMsg(data []byte) {
	g := h.g
	g.mu.Lock()
	defer g.mu.Unlock()
	w, err := parseWord(data)
	if err != nil {
		g.stats.Garbled++
		return
	}
	switch {
	case w.kind == knock && w.name == g.roster.self.name:
		g.say(tale{to: w.answer, word: word{kind: answer, nonce: w.nonce, name: w.name}})
	case w.kind == answer && w.name == g.asked.name && w.nonce == g.asked.nonce && w.name != "":
		g.heard = true
		g.poke()
	case w.kind == ended && w.name == g.roster.self.name && w.term >= g.roster.self.term:
		g.roster.floors[g.roster.self.agent.ID] = max(g.roster.floors[g.roster.self.agent.ID], w.term)
		g.poke()
	}
}

// GetBroadcasts has nothing. memberlist asks for each packet that takes its news along, unless these fill it.
func (h *hooks) GetBroadcasts(int, int) [][]byte {
	h.g.mu.Lock()
	defer h.g.mu.Unlock()
	h.g.packed++
	poke(h.g.sent)
	return nil
}

// LocalState is which terms have ended.
func (h *hooks) LocalState(bool) []byte {
	h.g.mu.Lock()
	defer h.g.mu.Unlock()
	return appendFloors(nil, h.g.roster.floors)
}

// MergeRemoteState learns which terms have ended.
func (h *hooks) MergeRemoteState(data []byte, _ bool) {
	g := h.g
	g.mu.Lock()
	defer g.mu.Unlock()
	if err := parseFloors(data, g.roster.learn); err != nil {
		g.stats.Garbled++
	}
	g.learnt = true
	g.poke()
}

// NotifyAlive refuses who does not belong here.
func (h *hooks) NotifyAlive(n *memberlist.Node) error {
	g := h.g
	g.mu.Lock()
	defer g.mu.Unlock()
	if n.Name == g.roster.self.name {
		return nil
	}
	c, err := g.cardOf(n)
	if err != nil {
		return err
	}
	if err := g.roster.admits(n.Name, &c); err != nil {
		g.refused(n.Name, &c, err)
		return err
	}
	if p := g.roster.living[n.Name]; p != nil && !p.doubted.IsZero() {
		p.doubted, g.dirty = time.Time{}, true
		g.poke()
	}
	return nil
}

// NotifyMerge refuses an exchange with agents of another crawl, so that who joins gets to know.
func (h *hooks) NotifyMerge(nodes []*memberlist.Node) error {
	g := h.g
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, n := range nodes {
		c, err := g.cardOf(n)
		if err != nil || c.agent.Crawl == g.roster.self.agent.Crawl {
			continue
		}
		err = g.roster.admits(n.Name, &c)
		g.refused(n.Name, &c, err)
		return err
	}
	return nil
}

// NotifyJoin notes a process that lives.
func (h *hooks) NotifyJoin(n *memberlist.Node) { h.put(n) }

// NotifyUpdate notes what it says of itself now.
func (h *hooks) NotifyUpdate(n *memberlist.Node) { h.put(n) }

func (h *hooks) put(n *memberlist.Node) {
	g := h.g
	g.mu.Lock()
	defer g.mu.Unlock()
	if n.Name == g.roster.self.name {
		return
	}
	c, err := g.cardOf(n)
	if err != nil {
		return // NotifyAlive has refused it before
	}
	if g.roster.put(n.Name, c, time.Now()) {
		g.onEvent()
	}
}

// NotifyLeave notes that memberlist has given up on a process, or that it has left.
func (h *hooks) NotifyLeave(n *memberlist.Node) {
	g := h.g
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.roster.end(n.Name, time.Now(), g.o.Timings.remembered()) {
		g.onEvent()
	}
}

// onEvent follows a change of the living. memberlist calls with the lock under which alone it reads SuspicionMult: so it may change here.
func (g *Group) onEvent() {
	if g.conf != nil {
		g.conf.SuspicionMult = g.o.Timings.suspicionMult(g.roster.size())
	}
	g.dirty = true
	g.poke()
	poke(g.sent)
}

// AckPayload is nothing.
func (h *hooks) AckPayload() []byte { return nil }

// NotifyPingComplete notes that a process answered.
func (h *hooks) NotifyPingComplete(n *memberlist.Node, _ time.Duration, _ []byte) {
	g := h.g
	g.mu.Lock()
	defer g.mu.Unlock()
	if p := g.roster.living[n.Name]; p != nil && !p.doubted.IsZero() {
		p.doubted, g.dirty = time.Time{}, true
		g.poke()
	}
}

// doubt notes that a probe of ours failed.
func (g *Group) doubt(name string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if p := g.roster.living[name]; p != nil && p.doubted.IsZero() {
		p.doubted, g.dirty = time.Now(), true
		g.poke()
	}
}

// cardOf reads what a process says of itself, and adds the address that memberlist carries.
func (g *Group) cardOf(n *memberlist.Node) (card, error) {
	c, err := parseCard(n.Meta)
	if err != nil {
		g.stats.Garbled++
		return card{}, err
	}
	addr, ok := netip.AddrFromSlice(n.Addr)
	if !ok || n.Port == 0 {
		g.stats.Garbled++
		return card{}, errCard
	}
	c.agent.Gossip = netip.AddrPortFrom(addr.Unmap(), n.Port)
	return c, nil
}

// refused counts, and tells who was taken for dead that it must begin another term.
func (g *Group) refused(name string, c *card, err error) {
	if err == errCrowd { //nolint:errorlint // it is never wrapped
		if g.stats.Crowd++; g.stats.Crowd == 1 {
			g.o.Log.Warn("refused an agent: as many as are remembered are there; who has the gossip key?", "agent", c.agent.ID, "address", c.agent.Gossip, "agents", rosterMax)
		}
		return
	}
	if err != errEnded { //nolint:errorlint // it is never wrapped
		if g.stats.Crawl++; g.stats.Crawl == 1 {
			g.o.Log.Warn("refused an agent of another crawl; check its --join and the crawl that its directory belongs to", "agent", c.agent.ID,
				"address", c.agent.Gossip, "error", err)
		}
		return
	}
	g.stats.Ended++
	if g.roster.isThere(c.agent.ID) {
		return // another has its place, and it will meet that one
	}
	now := time.Now()
	if len(g.told) > rosterMax {
		clear(g.told)
	}
	if last, ok := g.told[name]; ok && now.Sub(last) < g.o.Timings.Probe {
		return
	}
	g.told[name] = now
	g.say(tale{to: c.agent.Gossip, name: name, word: word{kind: ended, name: name, term: g.roster.floors[c.agent.ID]}})
}

// say leaves a message to the keeper. What does not fit is lost, as it may be on the way.
func (g *Group) say(t tale) {
	if len(g.tell) < rosterMax {
		g.tell = append(g.tell, t)
	}
	g.poke()
}

func (g *Group) poke() { poke(g.wake) }
