package agent

import (
	"time"

	"orbweaver/engine/cluster/message"
	"orbweaver/engine/cluster/outbox"
	"orbweaver/engine/cluster/ownership"
	"orbweaver/engine/outcome"
	"orbweaver/engine/queued"
	"orbweaver/engine/schedule"
	"orbweaver/engine/site"
	"orbweaver/engine/sites"
	"orbweaver/engine/visit"
	"orbweaver/workbench"
)

// moving gives sites to other agents that have become theirs: first what is known of each, with what is in memory of
// its queue, and when all of them have gone so far what they have on disk, in steps beside the crawl. A site that is
// being visited goes when that Visit is back, so that nobody else asks it meanwhile. Only the distributor calls it, but
// for turned.
type moving struct {
	peers  *agent
	queues sites.DiskQueues
	dead   *schedule.DeadSites

	asked bool              // guarded by the cut: somebody else is there, or not any more
	were  []*ownership.View // guarded by the cut: who was responsible since the last whole walk

	busy  bool
	chunk int            // of the bench, to look at next
	found []*visit.State // to be given away; none is let go meanwhile, see schedule.Distributor
	deep  []*visit.State // of these, those that have something on disk
	late  [][]byte       // those whose Visit was out, by their keys
	again time.Time      // when to look at late
	walk  walkCounts

	item, key, state, path []byte
	held                   int    // URLs in item
	buf                    []byte // items on their way
	ends                   []int  // of each
}

// walkCounts are the numbers of one walk over the sites.
type walkCounts struct {
	began time.Time
	sites int
	urls  int64
}

const (
	movingTime  = 5 * time.Millisecond  // of one step, which holds the cut's shared lock
	movingTake  = 256                   // items that are read from disk in one go
	movingBytes = 32 << 10              // an item of a letter is no longer than that and one URL
	movingLate  = 50 * time.Millisecond // between two looks at those whose Visit is out
	// movingWere is how many former views are remembered. An agent whose sites come later is not told what is known of
	// them, and asks the sites.
	movingWere = 16
)

// turned says that others are responsible from now on. The caller holds the exclusive cut.
func (m *moving) turned(was *ownership.View) {
	m.asked = true
	if was != nil && len(m.were) < movingWere {
		m.were = append(m.were, was)
	}
}

// step does a part, under the cut's shared lock, and says whether there is more.
func (m *moving) step(now time.Time) (more bool, err error) {
	if err := m.peers.robots.GiveUpOverdue(now); err != nil {
		return false, err
	}
	if m.asked {
		m.asked, m.chunk = false, 0
		if !m.busy {
			m.busy, m.walk.began, m.walk.sites, m.walk.urls = true, now, 0, 0
		}
	}
	if len(m.late) > 0 && !now.Before(m.again) {
		if err := m.giveLate(now); err != nil {
			return m.busy, err
		}
	}
	for end := time.Now().Add(movingTime); m.busy && time.Now().Before(end); {
		if m.peers.outbox.HasOverflow() {
			if err := m.peers.outbox.Spill(); err != nil {
				return true, err
			}
		}
		if err := m.next(now); err != nil {
			return true, err
		}
	}
	return m.busy, nil
}

// next does the next thing of a walk.
func (m *moving) next(now time.Time) error {
	switch {
	case len(m.found) > 0:
		m.give(m.found[len(m.found)-1], now)
		m.found = m.found[:len(m.found)-1]
	case m.chunk >= 0:
		m.find()
	case len(m.deep) > 0:
		over, err := m.giveRest(m.deep[len(m.deep)-1], now)
		if over {
			m.deep = m.deep[:len(m.deep)-1]
		}
		return err
	default:
		m.busy = false
		if len(m.late) == 0 {
			m.were = nil
		}
		if m.walk.sites > 0 {
			m.peers.log.Info("sites were given to the agents that they belong to now",
				"sites", m.walk.sites, "urls", m.walk.urls, "took", time.Since(m.walk.began).String())
		}
	}
	return nil
}

// find looks at the next 1,024 sites: those go that have something queued, and those of which this agent was to know
// something.
func (m *moving) find() {
	c := m.peers.views.Load()
	more := m.peers.sites.Workbench.Keys(m.chunk, func(vs *visit.State, key []byte, state workbench.State, held uint64) {
		if !c.Owns(key) && (held > 0 && state != workbench.Dead || m.had(key)) {
			m.found = append(m.found, vs)
		}
	})
	m.chunk++
	if !more {
		m.chunk = -1
	}
}

// had says that this agent was responsible for a site.
func (m *moving) had(key []byte) bool {
	for _, c := range m.were {
		if c.Owns(key) {
			return true
		}
	}
	return false
}

// give sends what is known of a site, and what it has in memory.
func (m *moving) give(vs *visit.State, now time.Time) {
	b := m.peers.sites.Workbench
	m.key = b.AppendKey(m.key[:0], vs)
	m.state = m.state[:0]
	if m.peers.views.Load().Owns(m.key) {
		return // the circle has turned again
	}
	if !b.ReadSite(vs, func(s *site.State) { m.state = message.AppendState(m.state, s, now) }) {
		m.late = append(m.late, append([]byte(nil), m.key...))
		m.again = now.Add(movingLate)
		return
	}
	var ok bool
	if m.buf, m.ends, ok = b.Drain(vs, m.buf[:0], m.ends[:0]); !ok {
		m.late = append(m.late, append([]byte(nil), m.key...))
		return
	}
	b.Unpark(vs, nil) // what it waits for goes to whoever has it now
	m.peers.robots.Forget(m.key)
	m.begin(vs, now)
	m.addAll(vs, now)
	if m.held > 0 || len(m.state) > 0 || b.Due(vs).After(now) {
		m.send()
		m.walk.sites++
	}
	if b.OnDisk(vs) > 0 {
		m.deep = append(m.deep, vs)
	}
}

// giveRest sends a part of what a site has on disk, and says whether it was the last.
func (m *moving) giveRest(vs *visit.State, now time.Time) (over bool, err error) {
	m.key = m.peers.sites.Workbench.AppendKey(m.key[:0], vs)
	if m.peers.views.Load().Owns(m.key) {
		return true, nil
	}
	m.buf, m.ends = m.buf[:0], m.ends[:0]
	n, err := m.queues.Take(vs, movingTake, func(item []byte) {
		m.buf = append(m.buf, item...)
		m.ends = append(m.ends, len(m.buf))
	})
	m.state = m.state[:0]
	m.begin(vs, now)
	m.addAll(vs, now) // also before an error: they are not on disk any more
	if m.held > 0 {
		m.send()
	}
	m.peers.sites.Workbench.SetOnDisk(vs, m.queues.Len(vs))
	return err == nil && n < movingTake, err
}

// giveLate gives away those whose Visit has come back.
func (m *moving) giveLate(now time.Time) error {
	late := m.late
	m.late, m.again = nil, now.Add(movingLate)
	for _, key := range late {
		vs, err := m.peers.sites.Get(key)
		if err != nil {
			m.late = append(m.late, key)
			return err
		}
		if vs != nil {
			m.give(vs, now)
		}
	}
	if len(m.deep) > 0 {
		m.busy = true
	} else if len(m.late) == 0 && !m.busy && !m.asked {
		m.were = nil
	}
	return nil
}

// begin begins an item of a letter.
func (m *moving) begin(vs *visit.State, now time.Time) {
	m.item, m.held = message.AppendSite(m.item[:0], m.key, m.peers.sites.Workbench.Due(vs).Sub(now), m.state, now), 0
}

// addAll adds the items that were taken from a site.
func (m *moving) addAll(vs *visit.State, now time.Time) {
	from := 0
	for _, end := range m.ends {
		m.add(vs, m.buf[from:end], now)
		from = end
	}
}

// add gives one queued URL its place in a letter, and its outcome, unless it was done before a kill.
func (m *moving) add(vs *visit.State, raw []byte, now time.Time) {
	it := queued.MustDecode(raw)
	if it.RobotsOf != nil {
		it.Rest = append(append([]byte(nil), m.key...), it.Rest...)
		m.path = m.peers.Route(m.path, &it)
		return
	}
	if !m.dead.Finished.IsEmpty() {
		m.path = append(append(m.path[:0], m.key...), it.Rest...)
		if _, o := m.dead.Finished.OutcomeOf(m.dead.HashSeed, m.path); o != outcome.None {
			m.dead.DropUnlessFinished(m.key, raw, o)
			return
		}
	}
	if len(m.item) > movingBytes {
		m.send()
		m.state = m.state[:0] // it has gone
		m.begin(vs, now)
	}
	m.item = outbox.AppendItem(m.item, raw)
	m.held++
	m.peers.journal.Count.Finish(outcome.HandedOver, 1)
	m.walk.urls++
}

// send puts the item into the outbox. One without URLs need not be told to anybody else, if its receiver is lost.
func (m *moving) send() {
	c := m.peers.views.Load()
	put := m.peers.outbox.Put
	if m.held == 0 {
		put = m.peers.outbox.PutBacklog
	}
	put(c.Instances[c.OwnerOf(m.key)], m.item)
}
