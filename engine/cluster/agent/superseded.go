package agent

import (
	"context"

	"orbweaver/engine/cluster/ownership"
	"orbweaver/engine/cluster/recovery"
	"orbweaver/engine/manifest"
)

// restoreTemporary notes where in the archive pages begin that other agents may have as well. After a kill that is the
// last checkpoint: temporary ownership that began since is forgotten.
func (p *agent) restoreTemporary(m *manifest.Manifest) {
	if m.Peers == nil || m.Afresh {
		return
	}
	if p.temporarySince = m.Peers.TemporarySince; p.temporarySince == nil && !m.Clean {
		p.temporarySince = m.Archive
	}
	if p.temporarySince != nil && p.temporarySince.Before(m.From) {
		p.temporarySince = &m.From
	}
}

// noteTemporary notes where the archive is when this agent is a temporary owner for the first time. All steps stand
// still.
func (p *agent) noteTemporary(c *ownership.View) {
	if c.HasTemporary() && p.temporarySince == nil && p.journal.Writer != nil {
		at := p.journal.Writer.Cut()
		p.temporarySince = &at
	}
}

// supersede marks what is superseded, if anything can be.
func (p *agent) supersede(ctx context.Context) {
	if p.recover < 1 || !p.storesAll { // with a store filter, an agent may have a page without a record of it
		return
	}
	p.journal.Steps.Begin()
	from, end := p.temporarySince, p.journal.Writer.Cut()
	p.journal.Steps.End()
	if from == nil {
		return
	}
	pass := recovery.Stabilisation{
		FS: p.fs, Dir: p.dir, From: *from, End: end, View: p.views.Load(), Most: p.recover, Ask: p.ask,
	}
	done, err := pass.Run(ctx)
	p.counters.asked.Add(int64(done.Questions))
	p.counters.superseded.Add(int64(done.Marked))
	if err != nil {
		p.log.Warn("copies that are superseded could not be marked; orbweaver audit --mark does it", "error", err)
		return
	}
	p.log.Info("copies of pages that other agents have, too, are marked as superseded",
		"asked", done.Claims, "marked", done.Marked, "unanswered", done.Unanswered)
}
