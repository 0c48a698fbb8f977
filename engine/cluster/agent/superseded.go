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
	if p.history.temporarySince = m.Peers.TemporarySince; p.history.temporarySince == nil && !m.Clean {
		p.history.temporarySince = m.Archive
	}
	if p.history.temporarySince != nil && p.history.temporarySince.Before(m.From) {
		p.history.temporarySince = &m.From
	}
}

// noteTemporary notes where the archive is when this agent is a temporary owner for the first time. All steps stand
// still.
func (p *agent) noteTemporary(c *ownership.View) {
	if c.HasTemporary() && p.history.temporarySince == nil && p.parts.Journal.Writer != nil {
		at := p.parts.Journal.Writer.Cut()
		p.history.temporarySince = &at
	}
}

// supersede marks what is superseded, if anything can be.
func (p *agent) supersede(ctx context.Context) {
	// with a store filter, an agent may have a page without a record of it
	if p.parts.Options.Recover < 1 || !p.parts.StoresAll {
		return
	}
	p.parts.Journal.Steps.Begin()
	from, end := p.history.temporarySince, p.parts.Journal.Writer.Cut()
	p.parts.Journal.Steps.End()
	if from == nil {
		return
	}
	pass := recovery.Stabilisation{
		FS: p.parts.FS, Dir: p.parts.Dir, From: *from, End: end, View: p.views.Load(),
		Most: p.parts.Options.Recover, Ask: p.ask,
	}
	done, err := pass.Run(ctx)
	p.counters.asked.Add(int64(done.Questions))
	p.counters.superseded.Add(int64(done.Marked))
	if err != nil {
		p.parts.Log.Warn("copies that are superseded could not be marked; orbweaver audit --mark does it", "error", err)
		return
	}
	p.parts.Log.Info("copies of pages that other agents have, too, are marked as superseded",
		"asked", done.Claims, "marked", done.Marked, "unanswered", done.Unanswered)
}
