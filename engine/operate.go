package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"orbweaver/engine/filter"
	"orbweaver/engine/urlx"
)

// pauseReason is what the operator's pause is called in report.json.
const pauseReason = "paused by the operator"

// Pause stops new exchanges until Resume; those under way end. It reports whether the crawl was running.
func (e *Engine) Pause() bool { return e.gate.Shut(pauseReason) }

// Resume undoes Pause. It reports whether there was one.
func (e *Engine) Resume() bool { return e.gate.Open(pauseReason) }

// Stop ends the crawl in order; it can be resumed later.
func (e *Engine) Stop() { e.finish(reasonSignal) }

// HostRule takes rules of single hosts (see filter.HostRules), in force at once and for the runs to come. What is queued of
// hosts that they exclude gets the outcome Blocked, beside the crawl.
func (e *Engine) HostRule(rules []string) (taken int, err error) {
	taken, err = e.live.hosts.add(rules)
	if taken > 0 && e.live.hosts.excludesAny() {
		e.dist.purge.ask()
	}
	return taken, err
}

// HostRules are the rules of single hosts: those that HostRule took, in this run and before, and those of the configuration.
func (e *Engine) HostRules() (live, fixed []string) { return e.live.hosts.list() }

// Set changes a setting of the running crawl: host-delay, ip-delay, or the fetch filter.
func (e *Engine) Set(key, value string) error {
	if key == "fetch" {
		f, err := filter.CompileFetch(value, e.seeds)
		if err != nil {
			return fmt.Errorf("engine: fetch: %w", err)
		}
		if f.AsksVia() && !e.cfg.WARC.Via {
			return fmt.Errorf("engine: fetch: %w", ErrViaUnknown)
		}
		e.live.fetch.Store(f)
		return nil
	}
	d, err := time.ParseDuration(value)
	if err != nil {
		return fmt.Errorf("engine: %s: %q is no duration such as 4s or 500ms", key, value)
	}
	return e.live.SetDelay(key, d)
}

// AddURLs offers URLs at the front door as seeds, and returns when they are durable: a checkpoint has been taken that
// holds them. Those that are no URLs are joined in the error; the others are added all the same.
func (e *Engine) AddURLs(ctx context.Context, urls []string) (added int, err error) {
	if e.isStopping() {
		return 0, errors.New("engine: the crawl is stopping and takes no URLs")
	}
	var faults []error
	var d door
	for _, raw := range urls {
		url, err := urlx.Normalize(nil, []byte(raw))
		if err != nil {
			faults = append(faults, fmt.Errorf("%q: %s", raw, urlx.Reason(err)))
			continue
		}
		if err := e.seeds.Add(url); err != nil {
			faults = append(faults, fmt.Errorf("%q: %w", raw, err))
			continue
		}
		if err := e.frontier.WaitRoom(ctx); err != nil {
			return added, err
		}
		e.ledger.cut.RLock()
		e.frontier.Add(&d, url, Item{Seed: true})
		e.ledger.cut.RUnlock()
		added++
	}
	poke(e.distWake)
	if added > 0 {
		faults = append(faults, e.Checkpoint(ctx))
	}
	return added, errors.Join(faults...)
}

// Checkpoint takes a cut now and returns when its manifest is durable.
func (e *Engine) Checkpoint(ctx context.Context) error {
	reply := make(chan error, 1)
	select {
	case e.points.ask <- reply:
	case <-e.stopping:
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
