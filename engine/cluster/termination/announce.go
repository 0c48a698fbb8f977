package termination

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"orbweaver/engine/cluster/message"
	"orbweaver/engine/peering/ownership"
	"orbweaver/engine/state/cluster"
)

const (
	// stayMin is how long an agent that has found out that the crawl has ended is there at least: an agent that comes
	// just then is known by then, and told.
	stayMin = 3 * time.Second
	// patience is how long an agent is waited for that does not see that the crawl has ended.
	patience = 15 * time.Second
)

// tellOthers waits until all others know as well that the crawl has ended: an agent that finds no other would take them
// for failed, and do their work again. An agent that still asks for something is waited for; one that has other members
// of the crawl in mind, for the patience. An agent that cannot be reached, or has started again, is waited for like one
// that is expected back: it had nothing to do either when this agent found out.
func (d *Detector) tellOthers(ctx context.Context) {
	tick := time.NewTicker(period / 4)
	defer tick.Stop()
	began, logged, aware := time.Now(), "", make(map[string]bool)
	for since := began; ; {
		u := d.tellUnaware(ctx, aware)
		waits := (u.isBehind || len(u.silent) > 0) && time.Since(began) < d.o.RestartWait
		switch {
		case u.concludes, waits:
			since = time.Now()
		case time.Since(began) < stayMin:
		case !u.differs, time.Since(since) >= patience:
			return
		}
		if names := strings.Join(u.silent, ", "); waits && names != "" && names != logged {
			logged = names
			d.o.Log.Info("the crawl is over; agents that cannot be reached are waited for, to be told",
				"agents", names, "at_most", (d.o.RestartWait - time.Since(began)).Round(time.Second))
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// unaware says what is left of the agents that may not know that the crawl has ended.
type unaware struct {
	differs   bool     // one answers, and has another view
	concludes bool     // one does its last work
	isBehind  bool     // one has something to do, or is about to know
	silent    []string // those that do not answer, and have not left in order: an agent that does not know never leaves
}

// tellUnaware tells all other agents except those that are aware, and adds to these.
func (d *Detector) tellUnaware(ctx context.Context, aware map[string]bool) (u unaware) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	v, known := d.o.Views.Load(), d.o.Network.KnownAgents()
	hash := ownership.Hash(membersAndBanned(v, d.o.Banned()))
	question := binary.BigEndian.AppendUint64([]byte{message.QuestionEnded}, hash)
	if d.isStalled.Load() {
		question = append(question, 1)
	}
	for _, a := range d.membersAndNewcomers(v) {
		hasLeft := func(k cluster.KnownAgent) bool { return k.State == cluster.AgentLeft && k.Agent == a }
		if a.ID == d.o.Network.Self() || aware[a.ID] || slices.ContainsFunc(known, hasLeft) {
			continue
		}
		var s Status
		raw, err := d.o.Network.Ask(ctx, a.ID, question)
		switch {
		case err != nil || json.Unmarshal(raw, &s) != nil:
			u.silent = append(u.silent, a.ID)
		case !s.HasEnded && s.View == v.Hash():
			u.isBehind = true
		case !s.HasEnded:
			u.differs = true
		case s.Concludes:
			u.concludes = true
		default:
			aware[a.ID] = true
		}
	}
	return u
}

// membersAndNewcomers are the members of a view and the agents that have come since.
func (d *Detector) membersAndNewcomers(v *ownership.View) []ownership.Agent {
	newcomers := slices.DeleteFunc(slices.Clone(d.o.Network.Agents()),
		func(a ownership.Agent) bool { return d.o.HasAnnounced(a.Instance()) })
	return appendMissing(slices.Clone(v.Agents), newcomers)
}
