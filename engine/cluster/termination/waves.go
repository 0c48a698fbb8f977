package termination

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"orbweaver/engine/cluster/message"
	"orbweaver/engine/peering/ownership"
)

// Run ends the crawl when it has ended and all agents know it. Otherwise it returns with ctx.
func (d *Detector) Run(ctx context.Context) {
	if !d.awaitEnd(ctx) {
		return
	}
	d.o.Gate.Shut(crawlEnded)
	d.concludes.Store(true) // before another agent can think that this one has concluded
	d.hasEnded.Store(true)
	d.o.Log.Info("no agent has anything left to do, and no message is on its way: the crawl is over",
		"stalled", d.isStalled.Load())
	d.o.Conclude(ctx)
	d.concludes.Store(false)
	d.tellOthers(ctx)
	if ctx.Err() == nil {
		close(d.ended)
	}
}

// awaitEnd returns when the crawl has ended, which this agent finds out or is told, and says whether it has; else ctx
// has ended.
func (d *Detector) awaitEnd(ctx context.Context) (ended bool) {
	timer := time.NewTimer(period)
	timer.Stop() // until it is needed
	defer timer.Stop()
	for wait, steps := period, d.StepCount(); ; {
		select {
		case <-d.becameIdle:
		case <-d.endFound:
			return true
		case <-ctx.Done():
			return false
		}
		if d.areAllIdle(ctx) {
			return true
		}
		if now := d.StepCount(); now != steps {
			wait, steps = period, now
		}
		timer.Reset(wait)
		wait = min(2*wait, periodMax)
		select {
		case <-timer.C:
		case <-d.endFound:
			return true
		case <-ctx.Done():
			return false
		}
		d.o.Wake() // the distributor says whether this agent is still idle
	}
}

// areAllIdle asks all agents twice. If all have the same view, an agent that is banned by all is not asked. Else a ban
// may be known to some agents only: then the banned agents are asked, too.
func (d *Detector) areAllIdle(ctx context.Context) bool {
	v := d.o.Views.Load()
	differ := false // an agent has another view
	ended := d.askTwice(ctx, v, v.Agents, func(s *Status) bool {
		differ = s.View != v.Hash()
		return !differ
	})
	if ended || !differ {
		return ended
	}
	all := membersAndBanned(v, d.o.Banned())
	hash := ownership.Hash(all)
	return d.askTwice(ctx, v, all, func(s *Status) bool { return s.All == hash })
}

// askTwice asks some agents in two waves. agrees says that an agent has the same members of the crawl in mind.
func (d *Detector) askTwice(
	ctx context.Context, v *ownership.View, agents []ownership.Agent, agrees func(*Status) bool,
) bool {
	first, ok := d.askOnce(ctx, v, agents, agrees)
	if !ok {
		return false
	}
	if first == nil {
		return true
	}
	second, ok := d.askOnce(ctx, v, agents, agrees)
	if !ok || second != nil && !slices.Equal(first, second) {
		return false
	}
	if d.o.Views.Load() != v {
		return false
	}
	if slices.ContainsFunc(second, func(s Status) bool { return s.IsStalled }) {
		d.isStalled.Store(true)
	}
	return true
}

// askOnce asks some agents once, this one among them. No answers and ok say that an agent knows already that the
// crawl has ended.
func (d *Detector) askOnce(
	ctx context.Context, v *ownership.View, agents []ownership.Agent, agrees func(*Status) bool,
) (answers []Status, ok bool) {
	for _, a := range agents {
		s := d.status()
		if a.ID != d.o.Network.Self() {
			s = Status{}
			raw, err := d.o.Network.Ask(ctx, a.ID, []byte{message.QuestionStatus})
			if err != nil || json.Unmarshal(raw, &s) != nil {
				return nil, false
			}
		}
		if !agrees(&s) {
			return nil, false
		}
		if s.HasEnded && v.Has(a) {
			if s.IsStalled {
				d.isStalled.Store(true)
			}
			return nil, true
		}
		if !s.IsIdle && !s.HasEnded {
			return nil, false
		}
		answers = append(answers, s)
	}
	return answers, true
}
