package agent

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"orbweaver/engine/cluster/leasing"
	"orbweaver/engine/net/outage"
	"orbweaver/engine/peering/outbox"
	"orbweaver/engine/peering/ownership"
	"orbweaver/engine/store/journal"
)

// viewInstaller makes ownership views and puts them in force, while all steps stand still. It tells the parts that
// depend on the view.
type viewInstaller struct {
	self       string // ID of this agent
	method     ownership.Method
	history    *crawlHistory
	journal    *journal.Store
	views      *ownership.Timeline
	outbox     *outbox.Outbox
	leases     *leasing.Leases
	handoff    *giver
	superseded *supersededCaptures
	log        *slog.Logger
}

// makeView makes the view of some agents, and notes that they were there.
func (v *viewInstaller) makeView(now []ownership.Agent) (*ownership.View, error) {
	all, arrivals := v.history.withMembers(now, v.views.Load().Has)
	view, err := ownership.NewView(v.method, now, all, arrivals, selfAmong(v.self, now))
	if err == nil {
		v.journal.Steps.Stop() // a checkpoint reads them
		v.history.everAll, v.history.arrivals = all, arrivals
		v.journal.Steps.Allow()
	}
	return view, err
}

// selfAmong is the ID of this agent if it is one of some, empty if it leaves.
func selfAmong(self string, all []ownership.Agent) string {
	if slices.ContainsFunc(all, func(a ownership.Agent) bool { return a.ID == self }) {
		return self
	}
	return ""
}

// install puts a view in force. away are the instances in it that are expected back.
func (v *viewInstaller) install(view *ownership.View, away []string) error {
	for i, a := range view.Agents {
		if i == view.Self {
			continue
		}
		if _, err := v.outbox.EnsureAgent(a.Instance()); err != nil {
			return fmt.Errorf("agent: agents: %w", err)
		}
	}
	v.journal.Steps.Stop()
	defer v.journal.Steps.Allow()
	was := v.views.Load()
	now := time.Now()
	v.views.Replace(view, now)
	v.leases.UseView(view, away, now)
	v.superseded.noteView(view)
	v.handoff.NoteView(was)
	return nil
}

// change puts another view in force than the first one. If the crawl stops on a full disk, it returns nil and the view
// is the old one.
func (v *viewInstaller) change(ctx context.Context, view *ownership.View, away []string) error {
	for {
		err := v.install(view, away)
		if err == nil {
			break
		}
		if err := v.journal.Disk.Wait(ctx, err); errors.Is(err, outage.ErrFullAtStop) {
			return nil
		} else if err != nil {
			return err
		}
	}
	v.history.viewChanges.Add(1)
	v.leases.NoteChange()
	names := make([]string, len(view.Agents))
	for i, a := range view.Agents {
		names[i] = a.ID
	}
	v.log.Info("cluster membership changed", "agents", len(names), "names", names)
	return nil
}
