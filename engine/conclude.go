package engine

import (
	"context"
	"errors"

	"orbweaver/engine/durable/checkpoint"
	"orbweaver/engine/frontier/ending"
	"orbweaver/engine/net/outage"
	"orbweaver/engine/operate/report"
	"orbweaver/engine/state/lifecycle"
	"orbweaver/internal/vfs"
)

// conclude finishes the archive, takes the last cut and writes the report. A full disk makes it wait for room until ctx
// ends, or, if that or the operator ended the crawl, until the time to stop is over.
func (r *runner) conclude(ctx, abort context.Context, err error) error {
	_, reason := r.run.State()
	if ctx.Err() != nil || reason == lifecycle.ReasonSignal {
		ctx = abort
	}
	if errors.Is(err, errDrain) {
		err = nil
	}
	state := lifecycle.Finished
	switch {
	case err != nil:
	case reason == lifecycle.ReasonSignal, reason == lifecycle.ReasonLost, reason == lifecycle.ReasonLate:
		state = lifecycle.Stopped
	case reason == lifecycle.ReasonComplete:
		c := r.disk.Journal.Count.Load()
		state, reason = ending.StateOf(&c, !r.cluster.IsShared(), r.loops.sites.CountGivenUp)
	case reason == lifecycle.ReasonStalled:
		state = lifecycle.Stalled
		r.loops.failingSites.Stalled(r.seams.Log.Warn)
	}
	disk := r.disk.Journal.Disk
	if err == nil {
		err = disk.Retry(ctx, r.disk.Journal.Writer.Close)
	}
	if err == nil {
		forever := context.WithoutCancel(ctx)
		err = disk.Retry(ctx, func() error { return r.loops.checkpoints.Take(forever, state, reason, true) })
	}
	switch {
	case errors.Is(err, outage.ErrFullAtStop):
		state, reason = lifecycle.Stopped, outage.ErrFullAtStop.Error()
	case err != nil:
		state, reason = lifecycle.Failed, err.Error()
	case reason == lifecycle.ReasonComplete && checkpoint.DropCache(r.seams.FS, r.frontierDir()) == nil:
	default:
		generation := r.loops.checkpoints.Last().Generation
		if err := checkpoint.SaveCache(r.seams.FS, r.frontierDir(), generation, r.loops.frontier.Cache); err != nil {
			r.seams.Log.Warn("the fingerprint cache could not be saved; the next run begins with an empty one",
				"error", err)
		}
	}
	r.queues.pool.Close()
	r.disk.Log.Flush()
	writeReport := func() error { return report.Write(r.seams.FS, r.cfg.Dir, r.Report().End(state, reason)) }
	if err == nil {
		err = disk.Retry(ctx, writeReport)
	} else {
		err = vfs.JoinCauses(err, writeReport())
	}
	r.run.SetState(state, reason)
	if reason == lifecycle.ReasonLost {
		err = vfs.JoinCauses(r.run.Cause(), err)
	}
	return err
}

// stayOver ends a run that has nothing to do.
func (r *runner) stayOver() error {
	if err := r.disk.Journal.Writer.Close(); err != nil {
		return err
	}
	return report.WriteUnlessFinished(r.seams.FS, r.cfg.Dir, r.Report)
}
