package engine

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"orbweaver/engine/admission"
	"orbweaver/engine/cluster"
	"orbweaver/engine/explain"
	"orbweaver/engine/filter"
	"orbweaver/engine/lifecycle"
	"orbweaver/engine/queued"
	"orbweaver/engine/urlx"
	"orbweaver/internal/notify"
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

// Pause stops new exchanges until Resume; those under way end. It reports whether the crawl was running.
func (e *Engine) Pause() bool { return e.gate.Shut(pauseReason) }

// Resume undoes Pause. It reports whether there was one.
func (e *Engine) Resume() bool { return e.gate.Open(pauseReason) }

// Stop ends the crawl in order; it can be resumed later.
func (e *Engine) Stop() { e.run.Finish(lifecycle.ReasonSignal) }

// Leave ends this agent's part in the crawl for good: what it has queued goes to the other agents, with all that they
// must know of it. It returns when that has begun; Run returns when it is done, in the state "finished". An error says
// why it cannot be: cluster.ErrNoAgents, ErrNoAgentStays, ErrLeaveUnknown, or an agent that does not answer; then nothing has changed.
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
	taken, err = e.live.Hosts.Add(rules)
	if taken > 0 && e.live.Hosts.ExcludesAny() {
		e.dist.Purge()
	}
	return taken, err
}

// HostRules are the rules of single hosts: those that HostRule took, in this run and before, and those of the
// configuration.
func (e *Engine) HostRules() (live, fixed []string) { return e.live.Hosts.List() }

// Set changes a setting of the running crawl: host-delay, ip-delay, or the fetch filter.
func (e *Engine) Set(key, value string) error {
	if key == "fetch" {
		f, err := filter.CompileFetch(value, e.seeds)
		if err != nil {
			return fmt.Errorf("engine: fetch: %w", err)
		}
		if f.AsksVia() && !e.cfg.Archive.Via {
			return fmt.Errorf("engine: fetch: %w", filter.ErrViaUnknown)
		}
		e.live.Fetch.Store(f)
		return nil
	}
	d, err := time.ParseDuration(value)
	if err != nil {
		return fmt.Errorf("engine: %s: %q is no duration such as 4s or 500ms", key, value)
	}
	return e.live.SetDelay(key, d)
}

// AddURLs offers URLs at the front door as seeds, as fast as there is room for them, and returns when they are durable:
// a checkpoint has been taken that holds them. Those that are no URLs are told in the error, the first of them by name;
// the others are added all the same.
func (e *Engine) AddURLs(ctx context.Context, urls iter.Seq[string]) (added int, err error) {
	var faults badURLs
	var d admission.Scratch
	for raw := range urls {
		url, err := urlx.Normalize(nil, []byte(raw))
		if err != nil {
			faults.add(raw, errors.New(urlx.Reason(err)))
			continue
		}
		if err := e.seeds.Add(url); err != nil {
			faults.add(raw, err)
			continue
		}
		if err := e.frontier.WaitRoom(ctx); err != nil {
			return added, errors.Join(faults.err(), err)
		}
		if !e.addSeed(&d, url) {
			return added, errors.Join(faults.err(), cluster.ErrEnding)
		}
		if added++; added%1024 == 0 {
			notify.Send(e.distWake)
		}
	}
	notify.Send(e.distWake)
	if added == 0 {
		if e.run.IsStopping() {
			err = cluster.ErrEnding
		}
		return 0, errors.Join(faults.err(), err)
	}
	return added, errors.Join(faults.err(), e.Checkpoint(ctx))
}

// addSeed offers one URL, unless the crawl ends: then the last cut might have been taken already.
func (e *Engine) addSeed(d *admission.Scratch, url []byte) bool {
	e.ledger.Steps.Begin()
	defer e.ledger.Steps.End()
	if e.run.IsStopping() {
		return false
	}
	e.frontier.Add(d, url, queued.URL{Seed: true})
	return true
}

// badURLs collects what is no URL: the first few by name, the others by their number.
type badURLs struct {
	told []error
	more int
}

func (b *badURLs) add(raw string, why error) {
	if len(b.told) == admission.BadSeedsLogged {
		b.more++
		return
	}
	b.told = append(b.told, fmt.Errorf("%.200q: %w", raw, why))
}

func (b *badURLs) err() error {
	if b.more > 0 {
		return errors.Join(append(b.told, fmt.Errorf("engine: and %d more", b.more))...)
	}
	return errors.Join(b.told...)
}

// Checkpoint takes a cut now and returns when its manifest is durable.
func (e *Engine) Checkpoint(ctx context.Context) error {
	reply := make(chan error, 1)
	select {
	case e.points.Requests() <- reply:
	case <-e.run.Stopping():
		return nil // the last cut is near
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case err := <-reply:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}
