package agent

import (
	"context"
	"log/slog"
	"sync/atomic"

	"orbweaver/engine/cluster/recovery"
	"orbweaver/engine/peering/ownership"
	"orbweaver/engine/store/journal"
	"orbweaver/engine/store/manifest"
	"orbweaver/internal/vfs"
	"orbweaver/warc"
)

// supersededCaptures finds captures that other agents have, too, and marks those that do not count. Only an agent that
// was a temporary owner can have any.
type supersededCaptures struct {
	fs        vfs.FS
	dir       string // of the crawl
	journal   *journal.Store
	views     *ownership.Timeline
	network   peers
	agentsMax int  // how many agents are asked for a page: Options.Recover
	storesAll bool // see Parts
	log       *slog.Logger

	// temporarySince is where the archive was when this agent was a temporary owner first; nil for never. Guarded by
	// the steps.
	temporarySince *warc.Checkpoint

	questions, marked atomic.Int64
}

// restore notes where in the archive pages begin that other agents may have as well. After a kill that is the last
// checkpoint: temporary ownership that began since is forgotten.
func (s *supersededCaptures) restore(m *manifest.Manifest) {
	if m.Peers == nil || m.Afresh {
		return
	}
	if s.temporarySince = m.Peers.TemporarySince; s.temporarySince == nil && !m.Clean {
		s.temporarySince = m.Archive
	}
	if s.temporarySince != nil && s.temporarySince.Before(m.From) {
		s.temporarySince = &m.From
	}
}

// noteView notes where the archive is when this agent is a temporary owner for the first time. All steps stand still.
func (s *supersededCaptures) noteView(view *ownership.View) {
	if view.HasTemporary() && s.temporarySince == nil && s.journal.Writer != nil {
		at := s.journal.Writer.Checkpoint()
		s.temporarySince = &at
	}
}

// mark marks what is superseded, if anything can be.
func (s *supersededCaptures) mark(ctx context.Context) {
	// with a store filter, an agent may have a page without a record of it
	if s.agentsMax < 1 || !s.storesAll {
		return
	}
	s.journal.Steps.Begin()
	from, end := s.temporarySince, s.journal.Writer.Checkpoint()
	s.journal.Steps.End()
	if from == nil {
		return
	}
	pass := recovery.Stabilisation{
		FS: s.fs, Dir: s.dir, From: *from, End: end, View: s.views.Load(), Most: s.agentsMax, Ask: s.network.askInTime,
	}
	done, err := pass.Run(ctx)
	s.questions.Add(int64(done.Questions))
	s.marked.Add(int64(done.Marked))
	if err != nil {
		s.log.Warn("copies that are superseded could not be marked; orbweaver audit --mark does it", "error", err)
		return
	}
	s.log.Info("copies of pages that other agents have, too, are marked as superseded",
		"asked", done.Claims, "marked", done.Marked, "unanswered", done.Unanswered)
}
