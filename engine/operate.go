package engine

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"orbweaver/engine/admission"
	"orbweaver/engine/cluster"
	"orbweaver/engine/explain"
	"orbweaver/engine/lifecycle"
	"orbweaver/engine/report"
)

// pauseReason is what the operator's pause is called in report.json.
const pauseReason = "paused by the operator"

// Opening says how the Open went.
func (e *Engine) Opening() Opening { return e.opening }

// NewExplainer compiles the filters of a crawl for a dry run. Of the seams it uses FS, to read, and Allowed.
func NewExplainer(seams Seams, cfg Config, from explain.Sources) (*explain.Explainer, error) {
	cfg = cfg.WithDefaults()
	return explain.New(explain.Options{
		FS: seams.FS, Dir: cfg.Dir, Seeds: cfg.Seeds, Filters: cfg.Filters, Sources: from, HasVia: cfg.Archive.Via,
		Admission: cfg.Admission, Traps: cfg.Traps, Allowed: seams.Allowed,
	})
}

// Report describes the crawl as it is now. Safe for concurrent use.
func (e *Engine) Report() report.Report { return e.reports.Report() }

// writeReport replaces report.json.
func (e *Engine) writeReport(r report.Report) error { return report.Write(e.seams.FS, e.cfg.Dir, r) }

// Abort ends exchanges under way at once; the URLs stay queued. It is what a second signal asks for.
func (e *Engine) Abort() { e.run.Abort(lifecycle.ReasonSignal, nil) }

// lose ends the crawl because this agent has no place among the others. Exchanges under way are aborted, since other
// agents own their hosts.
func (e *Engine) lose(why error) {
	e.seams.Log.Error("this agent stops: it cannot go on beside the others", "error", why)
	e.run.Abort(lifecycle.ReasonLost, fmt.Errorf("%w: %w", cluster.ErrLost, why))
}

// Pause stops new exchanges until Resume; those under way end. It reports whether the crawl was running.
func (e *Engine) Pause() bool { return e.outages.Gate.Shut(pauseReason) }

// Resume undoes Pause. It reports whether there was one.
func (e *Engine) Resume() bool { return e.outages.Gate.Open(pauseReason) }

// Stop ends the crawl in order; it can be resumed later.
func (e *Engine) Stop() { e.run.Finish(lifecycle.ReasonSignal) }

// Leave ends this agent's part in the crawl permanently: what it has queued goes to the other agents, with all that
// they must know of it. It returns when that has begun; Run returns when it is done, in the state "finished". An error
// says why it cannot be: cluster.ErrNoAgents, ErrNoAgentStays, ErrLeaveUnknown, or an agent that does not answer; then
// nothing has changed.
func (e *Engine) Leave(ctx context.Context) error {
	if e.cluster.IsShared() && (e.run.IsStopping() || e.cluster.IsOver()) {
		return cluster.ErrEnding
	}
	if err := e.cluster.MayLeave(ctx); err != nil {
		return err
	}
	e.cluster.Leave()
	e.run.Finish(lifecycle.ReasonLeft)
	return nil
}

// HostRule takes rules of single hosts (see filter.HostRules), in force at once and for the runs to come. What is
// queued of hosts that they exclude gets the outcome Blocked, beside the crawl.
func (e *Engine) HostRule(rules []string) (taken int, err error) {
	taken, err = e.policy.live.Hosts.Add(rules)
	if taken > 0 && e.policy.live.Hosts.ExcludesAny() {
		e.loops.distributor.Purge()
	}
	return taken, err
}

// HostRules are the rules of single hosts: those that HostRule took, in this run and before, and those of the
// configuration.
func (e *Engine) HostRules() (live, fixed []string) { return e.policy.live.Hosts.List() }

// Set changes a setting of the running crawl: host-delay, ip-delay, or the fetch filter.
func (e *Engine) Set(key, value string) error {
	return e.policy.live.Set(key, value, e.policy.seeds, e.cfg.Archive.Via)
}

// AddURLs offers URLs as seeds, as fast as there is room for them, and returns when a checkpoint has them. The error
// names the first of those that are no URLs; the others are added all the same.
func (e *Engine) AddURLs(ctx context.Context, urls iter.Seq[string]) (added int, err error) {
	i := admission.Injector{
		Frontier: e.loops.frontier, Seeds: e.policy.seeds, Journal: e.disk.Journal, IsStopping: e.run.IsStopping,
		Wake: e.queues.wakeDistributor,
	}
	if added, err = i.Add(ctx, urls); added > 0 && !i.Refused {
		err = errors.Join(err, e.Checkpoint(ctx))
	}
	return added, err
}

// Checkpoint takes a checkpoint now and returns when its manifest is durable, or at once if the crawl stops: the last
// checkpoint follows then.
func (e *Engine) Checkpoint(ctx context.Context) error {
	return e.loops.checkpoints.Request(ctx, e.run.Stopping())
}
