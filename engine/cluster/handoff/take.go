package handoff

import (
	"time"

	"orbweaver/engine/cluster/message"
	"orbweaver/engine/frontier/sites"
	"orbweaver/engine/peering/ownership"
	"orbweaver/engine/state/site"
	"orbweaver/engine/state/visit"
	"orbweaver/engine/store/journal"
)

// TakeSite sets the clocks and rules of a site that another agent had. from is the ID of the sender, empty if unknown;
// the item arrived at most delay ago. The site must have no URL yet: then no fetch worker visits it.
func TakeSite(
	table *sites.Table, views *ownership.Timeline, move *message.SiteMove, from string, delay time.Duration,
) error {
	known, now, due := move.Known, time.Now(), time.Time{}
	if move.Due > 0 {
		due = now.Add(min(move.Due, journal.DueMax))
	}
	life := time.Duration(known.RulesUntil)*time.Second - move.Age - delay
	known.SetAddrsAndFailures(nil, known.FailureStreak().FromAges(now, move.Age+delay))
	if known.Rules != nil && !table.Rules.Accepts(known.Rules) {
		known.Rules = nil
	}
	err := table.UseOrAdd(move.Key, func(vs *visit.State) {
		// an agent that visits the site knows better
		table.Workbench.Site(vs).Update(func(s *site.State) { s.Merge(&known, life, now) })
		table.Workbench.Site(vs).Postpone(due, time.Time{})
	})
	if err == nil && from != "" && from == views.LastOwner(move.Key) {
		views.NoteHandedOver(move.Key, due)
	}
	return err
}
