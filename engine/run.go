package engine

import (
	"context"
	"errors"
	"time"

	"orbweaver/engine/cluster/leave"
	"orbweaver/engine/net/outage"
	"orbweaver/engine/state/lifecycle"
	"orbweaver/internal/vfs"
)

// Run crawls until nothing is left, a limit is reached or ctx ends; ctx ending means: finish the exchanges under way,
// save everything, and return nil with the state "stopped". The first error of any loop stops the rest and is
// returned; what was acknowledged is then on disk, and the crawl can be resumed.
//
// Loops end downstream. First the intake: seeder, resolve loops, feeder, distributor. Fetch workers finish or are
// aborted and give their Visits back. Then the parse workers empty the channel, and their links still pass admission.
// The returner takes the last Visits. An agent that leaves gives its URLs away now. Then the late loops end: cluster,
// flusher, log, progress, checkpoints. At last the final checkpoint is taken and the archive closed.
func (e *Engine) Run(ctx context.Context) error {
	r := runner{Engine: e}
	if e.finished {
		return r.stayOver()
	}
	return r.crawl(ctx)
}

// runner runs the loops of an engine.
type runner struct{ *Engine }

func (r *runner) crawl(ctx context.Context) error {
	forever := context.WithoutCancel(ctx)
	abort, cancel := context.WithCancelCause(forever) // aborts exchanges and ends the drain loops
	defer cancel(nil)
	r.run.OnAbort(func() { cancel(errDrain) })

	intakeCtx, stopIntake := context.WithCancel(abort)
	defer stopIntake()
	lateCtx, stopLate := context.WithCancel(abort)
	defer stopLate()
	group := func() *lifecycle.Group { return lifecycle.NewGroup(forever, cancel) }
	intake, fetching, parsing, returning, late := group(), group(), group(), group(), group()

	if r.cluster.IsLeaving() { // it had begun to before it was stopped
		r.run.Finish(lifecycle.ReasonLeft)
	}
	r.endAtLimit() // an earlier run may have reached it
	if err := r.startIntake(intakeCtx, intake); err != nil {
		cancel(err)
	}
	r.startLate(lateCtx, late)
	exchanges, hangUp := context.WithCancelCause(abort)
	defer hangUp(nil)
	if err := r.startWorkers(exchanges, abort, fetching, parsing); err != nil {
		cancel(err)
	}
	returning.Go("return", func() error { return r.loops.returner.ReturnVisits(forever) })

	select {
	case <-ctx.Done():
		r.run.Finish(lifecycle.ReasonSignal)
	case <-r.run.Stopping():
	case <-abort.Done():
		r.run.Finish(lifecycle.ReasonSignal)
	}
	stopIntake()
	drain := time.AfterFunc(lifecycle.DrainMax, func() {
		if r.cluster.IsLeaving() {
			hangUp(errDrain) // and no more: there is much to do yet
			return
		}
		cancel(errDrain)
	})
	defer drain.Stop()
	errs := []error{intake.Wait()}
	r.queues.todo.Close()
	errs = append(errs, fetching.Wait())
	close(r.queues.pages)
	close(r.queues.longPages)
	errs = append(errs, parsing.Wait(), r.policy.hook.Close(), r.policy.hosts.Close(), r.policy.judge.Close())
	r.queues.results.Close()
	errs = append(errs, returning.Wait())
	if r.cluster.IsLeaving() {
		drain.Stop()
		errs = append(errs, r.depart(ctx, abort))
	}
	stopLate()
	errs = append(errs, late.Wait())
	r.cluster.AcceptMessages(false) // what comes from now on would not be in the last checkpoint
	err := r.conclude(ctx, abort, vfs.JoinCauses(errs...))
	if serr := r.cluster.Stop(forever); serr != nil { // not before all is on disk: it may be asked how it is until then
		r.seams.Log.Warn("the other agents could not be told that this one goes", "error", serr)
	}
	return err
}

// depart gives all that this agent has to the others. If it is stopped meanwhile that is how the crawl has ended, and
// its next run departs.
func (r *runner) depart(ctx, abort context.Context) error {
	d := leave.Departure{
		Journal: r.disk.Journal, Distributor: r.loops.distributor, Flusher: r.loops.flusher,
		Checkpoints: r.loops.checkpoints.Requests(), Wake: r.queues.distributorWake, Stop: ctx.Done(),
	}
	own, end := context.WithCancel(abort)
	defer end()
	defer context.AfterFunc(ctx, end)()
	d.OfferSeeds = func(context.Context) error {
		if r.queues.seeded.Load() {
			return nil
		}
		s := r.newSeeder()
		s.WaitBegun = d.WithReminders(s.WaitBegun)
		if err := s.Run(own); err != nil || r.queues.seeded.Load() {
			return err
		}
		return d.StopReason(abort)
	}
	err := r.cluster.Depart(abort, &d)
	if err == nil {
		return nil
	}
	r.run.ReplaceReason(lifecycle.ReasonLeft, lifecycle.ReasonSignal)
	if errors.Is(err, leave.ErrStopped) || errors.Is(err, outage.ErrFullAtStop) || abort.Err() != nil {
		return nil //nolint:nilerr // the crawl has stopped; who aborted it says why
	}
	return err
}

// errDrain says that Run did not wait for exchanges any longer.
var errDrain = errors.New("engine: exchanges still under way when the time to stop was over were aborted")
