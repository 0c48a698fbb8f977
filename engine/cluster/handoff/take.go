package handoff

import (
	"time"

	"orbweaver/engine/cluster/message"
	"orbweaver/engine/journal"
	"orbweaver/engine/site"
	"orbweaver/engine/visit"
)

// TakeSite sets the clocks and rules of a site that another agent had. from is the ID of the sender, empty if unknown;
// the item arrived at most delay ago. The site must have no URL yet: then no fetch worker visits it.
func (m *Giver) TakeSite(move *message.SiteMove, from string, delay time.Duration) error {
	var known site.State
	if len(move.State) > 0 {
		var err error
		if known, err = site.Decode(move.State, m.o.Sites.Rules); err != nil {
			return err
		}
	}
	now, due := time.Now(), time.Time{}
	if move.Due > 0 {
		due = now.Add(min(move.Due, journal.DueMax))
	}
	life := time.Duration(known.RulesUntil)*time.Second - move.Age - delay
	known.SetAddrsAndFailures(nil, known.FailureStreak().FromAges(now, move.Age+delay))
	if known.Rules != nil && !m.o.Sites.Rules.Accepts(known.Rules) {
		known.Rules = nil
	}
	err := m.o.Sites.UseOrAdd(move.Key, func(vs *visit.State) {
		// an agent that visits the site knows better
		m.o.Sites.Workbench.WithSite(vs, func(s *site.State) { s.Merge(&known, life, now) })
		m.o.Sites.Workbench.Postpone(vs, due, time.Time{})
	})
	if err == nil && from != "" && from == m.o.Views.LastOwner(move.Key) {
		m.o.Views.NoteHandedOver(move.Key, due)
	}
	return err
}
