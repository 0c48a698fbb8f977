package agent

import (
	"errors"
	"time"

	"orbweaver/engine/admission"
	"orbweaver/engine/cluster/message"
	"orbweaver/engine/journal"
	"orbweaver/engine/site"
	"orbweaver/engine/visit"
)

// takeSite takes a site that another agent had. Its clocks and rules are set, unless they are of long ago, before its
// URLs pass admission: as long as it has no URL it is not leased to a fetch worker, and only such a site takes them.
func (p *agent) takeSite(d *admission.Scratch, item []byte, o origin) error {
	move, err := message.ReadSite(item)
	if err != nil {
		return err
	}
	c := p.views.Load()
	switch owner := c.OwnerOf(move.Key); {
	case o.resent || p.frontier.HostRules.Excludes(move.Key):
	case owner == c.Self:
		err = p.keepSite(&move, o)
	default:
		put := time.Now().Add(-move.Age)
		p.outbox.PutBacklog(c.Instances[owner], message.AppendSite(nil, move.Key, move.Due, move.State, put))
	}
	for it, fault := range move.URLs() {
		if err = errors.Join(err, fault); err != nil {
			break
		}
		p.frontier.Receive(d, it.Rest, it)
	}
	return err
}

// keepSite sets clocks and rules of a site.
func (p *agent) keepSite(move *message.SiteMove, o origin) error {
	var known site.State
	if len(move.State) > 0 {
		var err error
		if known, err = site.Decode(move.State, p.sites.Rules); err != nil {
			return err
		}
	}
	now, due := time.Now(), time.Time{}
	if move.Due > 0 {
		due = now.Add(min(move.Due, journal.DueMax))
	}
	life := time.Duration(known.RulesUntil)*time.Second - move.Age - o.delay
	known.SetAddrsAndFailures(nil, known.FailureStreak().FromAges(now, move.Age+o.delay))
	if known.Rules != nil && !p.sites.Rules.Accepts(known.Rules) {
		known.Rules = nil
	}
	err := p.sites.UseOrAdd(move.Key, func(vs *visit.State) {
		p.sites.Workbench.WithSite(vs, func(s *site.State) { s.Merge(&known, life, now) }) // who visits it knows better
		p.sites.Workbench.Postpone(vs, due, time.Time{})
	})
	if err == nil && o.from != "" && o.from == p.views.LastOwner(move.Key) {
		p.views.NoteHandedOver(move.Key, due)
	}
	return err
}
