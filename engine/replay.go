package engine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"orbweaver/engine/admission"
	"orbweaver/engine/clock"
	"orbweaver/engine/journal"
	"orbweaver/engine/layout"
	"orbweaver/engine/links"
	"orbweaver/engine/manifest"
	"orbweaver/engine/outcome"
	"orbweaver/engine/parse"
	"orbweaver/engine/seen"
	"orbweaver/engine/site"
	"orbweaver/engine/urlx"
	"orbweaver/engine/visit"
	"orbweaver/warc"
)

// replay applies all journals since the cut, in order. What they name is read from the archive ahead of that.
func (e *Engine) replay(m *manifest.Manifest) error {
	ctx, cancel := context.WithCancel(context.Background()) //nolint:forbidigo // Open is not cancelled
	defer cancel()
	r := &replayer{engine: e, end: m.Archive, clock: clock.NewResumed(m.Clocks(), e.seams.Boot)}
	c := &recollection{fs: e.seams.FS, dir: e.frontierDir(), archive: e.cfg.Dir + "/" + layout.ArchiveDir, o: e.cfg.linkOptions(e.filters),
		via: e.cfg.Archive.Via}
	if m.Archive != nil {
		c.cut = *m.Archive
	}
	c.begin(ctx, m.Generation, e.cfg.Workers.Parsers)
	var applied error
	for k := range c.order {
		<-k.done
		if applied = r.apply(ctx, k); applied != nil {
			cancel()
			break
		}
	}
	stray, err := c.wait()
	if applied != nil {
		err = applied // whatever else there is came of that
	}
	switch {
	case err == nil, errors.Is(err, fs.ErrNotExist): // no entry since the cut
	case errors.Is(err, errArchiveShort): // what follows was never synced
	default:
		return err
	}
	if stray != "" {
		e.seams.Log.Warn("the end of a journal is not on disk; what the next one names is fetched again", "journal", stray)
	}
	m.Archive = r.end
	e.opening.Entries, e.opening.Links = r.n, r.found
	e.seams.Log.Info("resumed from the last checkpoint and the journal", "attempts", r.n, "links", r.found)
	return nil
}

// replayer applies journal entries.
type replayer struct {
	engine *Engine
	end    *warc.Cut // of the archive, as far as it is journaled
	clock  clock.Resumed
	door   admission.Scratch
	n      int
	found  int
}

// errArchiveShort says that the journal names a record that the archive does not hold: a power cut took it.
var errArchiveShort = errors.New("engine: the archive ends before the journal")

// apply applies some entries. What they find is flushed when a bucket is full, and the map of payloads is tended, so
// that a long journal takes no more memory than the crawl did.
func (r *replayer) apply(ctx context.Context, k *recall) error {
	for i := range k.entries {
		if err := r.entry(&k.entries[i], &k.records[i]); err != nil {
			return err
		}
		if r.engine.sieve.Full() {
			if err := r.engine.flush.FlushOnce(ctx); err != nil {
				return err
			}
		}
		if err := r.engine.ledger.Seen.Tend(); err != nil {
			return fmt.Errorf("engine: resume: %w", err)
		}
	}
	return nil
}

func (r *replayer) entry(e *journal.Entry, rec *record) error {
	if err := rec.err; err != nil {
		var damage *warc.Fault
		if !errors.Is(err, fs.ErrNotExist) && !errors.As(err, &damage) && !errors.Is(err, errNoRecord) {
			return fmt.Errorf("engine: resume: %w", err) // the disk, not the archive: nothing is cut off
		}
		r.engine.seams.Log.Warn("the last moments of the journal are not in the archive; they are fetched again",
			"entries_kept", r.n, "error", err)
		return errArchiveShort
	}
	if rec.stored {
		r.end = &rec.end
	}
	if e.Kind == journal.KindMessage {
		if err := r.engine.cluster.Replay(e.Links, r.clock.Aged); err != nil {
			return fmt.Errorf("engine: resume: %w", err)
		}
		return nil
	}
	r.n++
	n := &r.engine.ledger.Count
	n.Status(e.Status)
	switch e.Kind {
	case journal.KindRobots:
		n.RobotsFetched.Add(1)
		if err := r.robots(rec); err != nil {
			return err
		}
		if err := r.follow(e, rec); err != nil {
			return err
		}
	case journal.KindRetry:
		n.Attempts.Add(1)
		n.Retries.Add(1)
	default:
		n.Attempts.Add(1)
		if err := r.page(e, rec); err != nil {
			return err
		}
	}
	return r.postpone(e, rec)
}

// postpone restores the due times that the attempt set, and what it said of its site.
func (r *replayer) postpone(e *journal.Entry, rec *record) error {
	if !rec.stored {
		return nil
	}
	class, bench := e.Outcome.Class(), r.engine.bench
	if e.SiteDue == 0 && class != outcome.ClassAnswer {
		return nil
	}
	due := journal.DueAt(r.clock.Now, e.SiteDue)
	return r.site(rec.url, func(vs *visit.State) {
		bench.WithSite(vs, func(s *site.State) {
			switch class {
			case outcome.ClassAnswer:
				switch {
				case e.Kind == journal.KindPage:
					s.NotePageAnswer()
					s.HasServedRoot = s.HasServedRoot || site.IsRoot(rec.url)
				case e.Kind == journal.KindRetry: // a proof: see askRoot
					s.NoteRootAnswer()
				case e.Outcome != outcome.Redirect:
					s.NoteRobotsAnswer(r.clock.Now, site.ProbeWait(r.engine.cfg.Limits.StallWait))
				}
			case outcome.ClassBusy, outcome.ClassFault:
				if e.Outcome == outcome.Stale || e.Outcome == outcome.HeaderTooLarge { // nothing about the site: see note
					break
				}
				s.NoteFailure(e.Outcome, r.clock.Now, r.back(rec))
			default:
			}
		})
		if e.SiteDue != 0 {
			bench.Postpone(vs, due, journal.DueAt(r.clock.Now, e.IPDue))
		}
	})
}

// back is when a site that asked to slow down said that it will be back, counted from now; zero if it named no time.
// That is not when the policy asks it again: a site that named no time is asked at once by a resume.
func (r *replayer) back(rec *record) time.Time {
	if rec.wait <= 0 {
		return time.Time{}
	}
	return r.clock.Now.Add(min(rec.wait, r.engine.cfg.Politeness.RetryAfterMax))
}

// site lends the site of a URL. One that the cut does not know is made, so that what was learnt of it is not forgotten;
// its URLs come from the ready queue.
func (r *replayer) site(url []byte, f func(vs *visit.State)) error {
	key, _ := urlx.Split(url)
	return r.engine.hosts.UseOrAdd(key, f)
}

func (r *replayer) page(e *journal.Entry, rec *record) error {
	r.engine.finished.Add(e.FP, e.Outcome)
	r.engine.cluster.NoteRebuilt(e.Outcome, e.FP)
	n := &r.engine.ledger.Count
	if rec.unchanged {
		n.Unchanged.Add(1)
		r.engine.limits.Pages++
	}
	if outcome.IsPageStatus(e.Status) {
		switch {
		case !rec.stored:
			n.NotStored.Add(1)
		case !rec.response:
			n.Revisits.Add(1)
			r.engine.limits.Pages++
		default:
			n.Pages.Add(1)
			r.engine.limits.Pages++
		}
	}
	if rec.whole {
		_, _, err := r.engine.ledger.Seen.Insert(rec.digest, seen.First{RecordID: rec.id, URI: string(rec.url), Date: rec.date})
		if err != nil {
			return fmt.Errorf("engine: resume: %w", err)
		}
	}
	return r.follow(e, rec)
}

// follow offers what an attempt found at the door.
func (r *replayer) follow(e *journal.Entry, rec *record) error {
	it := links.LeadsTo(&links.Lead{
		Outcome: e.Outcome, Depth: e.Depth, Hops: e.Hops, Robots: e.Kind == journal.KindRobots, Listed: e.Listed, Index: e.Index,
	})
	if r.engine.cfg.Archive.Via && rec.stored {
		it.Via, it.HopPath = rec.url, rec.way
	}
	for _, l := range []struct {
		links []byte
		kinds []parse.Kind
	}{{links: e.Links}, {rec.links, rec.kinds}} {
		if rec.stored { // else nobody knows where they were
			r.engine.frontier.Outward(rec.url, l.links)
		}
		found, err := r.engine.frontier.AddAll(&r.door, l.links, l.kinds, it)
		if err != nil {
			return fmt.Errorf("engine: resume: links in the journal: %w", err)
		}
		r.found += found
	}
	return nil
}

// robots restores the rules that were fetched since the cut, so that no site is asked twice.
func (r *replayer) robots(rec *record) error {
	if rec.rules == nil {
		return nil
	}
	return r.site(rec.url, func(vs *visit.State) {
		r.engine.bench.WithSite(vs, func(s *site.State) {
			s.SetRules(r.engine.rules.Share(rec.rules), r.clock.Expiry(rec.date.Add(site.RobotsLifetime), site.RobotsLifetime))
			s.RobotsTries, s.DenyAll = 0, false
		})
	})
}
