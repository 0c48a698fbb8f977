package restore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"orbweaver/engine/frontier/admission"
	"orbweaver/engine/frontier/links"
	"orbweaver/engine/net/robots"
	"orbweaver/engine/records/dedup"
	"orbweaver/engine/state/layout"
	"orbweaver/engine/state/lifecycle"
	"orbweaver/engine/state/queued"
	"orbweaver/engine/state/site"
	"orbweaver/engine/state/visit"
	"orbweaver/engine/store/journal"
	"orbweaver/engine/store/manifest"
	"orbweaver/internal/outcome"
	"orbweaver/internal/urlx"
	"orbweaver/warc"
)

// replay applies all journals since the checkpoint, in order. Their records are read from the archive ahead of that.
func (c *Crawl) replay(m *manifest.Manifest) (*replayer, error) {
	ctx, cancel := context.WithCancel(context.Background()) //nolint:forbidigo // Open is not cancelled
	defer cancel()
	r := &replayer{Crawl: c, end: m.Archive, clock: lifecycle.NewResumed(m.Clocks(), c.Boot)}
	journals := &journalReader{
		fs: c.FS, dir: c.frontierDir(), archive: c.Dir + "/" + layout.ArchiveDir, links: c.Options.Links,
		hasVia: c.Options.HasVia,
	}
	if m.Archive != nil {
		journals.end = *m.Archive
	}
	journals.start(ctx, m.Generation, c.Options.Readers)
	var applied error
	for b := range journals.order {
		<-b.done
		if applied = r.apply(ctx, b); applied != nil {
			cancel()
			break
		}
	}
	torn, err := journals.wait()
	if applied != nil {
		err = applied // the cause of any other error
	}
	switch {
	case err == nil, errors.Is(err, fs.ErrNotExist): // no entry since the cut
	case errors.Is(err, errArchiveShort): // what follows was never synced
	default:
		return nil, err
	}
	if torn != "" {
		c.Log.Warn("the end of a journal is not on disk; what the next one names is fetched again", "journal", torn)
	}
	m.Archive = r.end
	c.Log.Info("resumed from the last checkpoint and the journal", "attempts", r.entries, "links", r.links)
	return r, nil
}

// replayer applies journal entries.
type replayer struct {
	*Crawl

	end     *warc.Checkpoint // of the archive, as far as the journal names it
	clock   lifecycle.Resumed
	scratch admission.Scratch
	lines   lastLines
	entries int // applied, without messages
	links   int // offered to admission
}

// errArchiveShort says that the journal names a record that the archive does not have: it was not synced.
var errArchiveShort = errors.New("restore: the archive ends before the journal")

// apply applies a batch. It flushes the sieve when a bucket is full, and does the upkeep of payload deduplication, so
// that a long journal takes no more memory than the crawl did.
func (r *replayer) apply(ctx context.Context, b *batch) error {
	for i := range b.entries {
		if err := r.applyEntry(&b.entries[i], &b.records[i]); err != nil {
			return err
		}
		if r.Frontier.Sieve.Full() {
			if err := r.Flusher.FlushOnce(ctx); err != nil {
				return err
			}
		}
		if err := r.Journal.Seen.Tend(); err != nil {
			return fmt.Errorf("restore: resume: %w", err)
		}
	}
	return nil
}

func (r *replayer) applyEntry(e *journal.Entry, rec *record) error {
	if err := rec.err; err != nil {
		var damage *warc.Fault
		if !errors.Is(err, fs.ErrNotExist) && !errors.As(err, &damage) && !errors.Is(err, errNoRecord) {
			return fmt.Errorf("restore: resume: %w", err) // the disk, not the archive
		}
		r.Log.Warn("the last moments of the journal are not in the archive; they are fetched again",
			"entries_kept", r.entries, "error", err)
		return errArchiveShort
	}
	if rec.stored {
		r.end = &rec.end
	}
	if e.Kind == journal.KindMessage {
		if err := r.Cluster.Replay(e.Links, r.clock.Aged); err != nil {
			return fmt.Errorf("restore: resume: %w", err)
		}
		return nil
	}
	r.entries++
	n := &r.Journal.Count
	if e.Status > 0 { // there was a response
		n.CountStatus(e.Status)
	}
	if e.Kind != journal.KindPage && e.Serial == 0 && outcome.IsPageStatus(e.Status) {
		n.Unrecorded.Add(1)
	}
	switch e.Kind {
	case journal.KindRobots:
		n.RobotsFetched.Add(1)
		if err := r.restoreRules(rec); err != nil {
			return err
		}
		if err := r.offerLinks(e, rec); err != nil {
			return err
		}
	case journal.KindRetry:
		n.Attempts.Add(1)
		n.Retries.Add(1)
	default:
		n.Attempts.Add(1)
		if err := r.applyPage(e, rec); err != nil {
			return err
		}
	}
	return r.postpone(e, rec)
}

// postpone restores the due times that the attempt set, and what it showed about its site.
func (r *replayer) postpone(e *journal.Entry, rec *record) error {
	if !rec.stored {
		return nil
	}
	o := e.Outcome
	if rec.robotsFault != robots.NoFault && o.Class() == outcome.ClassAnswer {
		o = outcome.Protocol // as package fetchers counts it
	}
	class, bench := o.Class(), r.Sites.Workbench
	if e.SiteDue == 0 && class != outcome.ClassAnswer {
		return nil
	}
	due := journal.DueAt(r.clock.Now, e.SiteDue)
	return r.useSite(rec.url, func(vs *visit.State) {
		bench.Site(vs).Update(func(s *site.State) {
			switch class {
			case outcome.ClassAnswer:
				switch {
				case e.Kind == journal.KindPage:
					s.NotePageAnswer()
					s.HasServedRoot = s.HasServedRoot || site.IsRoot(rec.url)
				case e.Kind == journal.KindRetry: // it proves that the site answers: see engine/workers/fetchers
					s.NoteRootAnswer()
				case e.Outcome != outcome.Redirect:
					s.NoteRobotsAnswer(r.clock.Now, site.ProbeWait(r.Options.StallWait))
				}
			case outcome.ClassBusy, outcome.ClassFault:
				if o == outcome.Stale || o == outcome.HeaderTooLarge { // it shows nothing about the site
					break
				}
				s.NoteFailure(o, r.clock.Now, r.retryAt(rec))
			default:
			}
		})
		if e.SiteDue != 0 {
			bench.Site(vs).Postpone(due, journal.DueAt(r.clock.Now, e.IPDue))
		}
	})
}

// retryAt is the time of Retry-After, counted from now; zero if the response had none. That is not the due time of the
// site: a resume visits a site that named no time at once.
func (r *replayer) retryAt(rec *record) time.Time {
	if rec.wait <= 0 {
		return time.Time{}
	}
	return r.clock.Now.Add(min(rec.wait, r.Options.Politeness.RetryAfterMax))
}

// useSite calls f with the site of a URL. A site that the checkpoint does not know is added, so that what was learnt
// about it is kept; its URLs come from the ready queue.
func (r *replayer) useSite(url []byte, f func(vs *visit.State)) error {
	key, _ := urlx.Split(url)
	return r.Sites.UseOrAdd(key, f)
}

// applyPage restores what the attempt of a page counted and stored.
func (r *replayer) applyPage(e *journal.Entry, rec *record) error {
	r.Finished.Add(e.FP, e.Outcome)
	r.lines.add(e.FP, rec.line)
	r.Cluster.NoteRebuilt(e.Outcome, e.FP)
	n := &r.Journal.Count
	if e.Status > 0 {
		n.CountAnswer(rec.mediaType, e.Outcome.IsPage(e.Status), e.Depth)
	}
	isRequisite := int64(0)
	if queued.IsRequisite(e.Embeds) {
		isRequisite = 1
	}
	if rec.unchanged {
		n.PagesUnchanged.Add(1)
		n.RequisitesRevisited.Add(isRequisite)
		r.Limits.Pages += 1 - isRequisite
	}
	if rec.near {
		n.NearDuplicates.Add(1)
	}
	if err := n.Sums.AddAll(e.Sums); err != nil {
		return fmt.Errorf("restore: resume: sums in the journal: %w", err)
	}
	if len(e.Rule) > 0 {
		r.Sites.Live.Hosts.AddAnswer(string(e.Rule))
	}
	if e.Outcome.IsPage(e.Status) {
		switch {
		case !rec.stored:
			n.PagesNotStored.Add(1)
		case !rec.response:
			n.RevisitsStored.Add(1)
			n.RequisitesRevisited.Add(isRequisite)
			r.Limits.Pages += 1 - isRequisite
		default:
			n.PagesStored.Add(1)
			n.RequisitesStored.Add(isRequisite)
			r.Limits.Pages += 1 - isRequisite
		}
	}
	if rec.hasDigest && e.Outcome != outcome.Wall {
		_, _, err := r.Journal.Seen.Insert(rec.digest, dedup.First{RecordID: rec.id, URI: string(rec.url), Date: rec.date})
		if err != nil {
			return fmt.Errorf("restore: resume: %w", err)
		}
	}
	return r.offerLinks(e, rec)
}

// offerLinks offers what an attempt found to admission.
func (r *replayer) offerLinks(e *journal.Entry, rec *record) error {
	it := links.LeadsTo(&links.Lead{
		Outcome: e.Outcome, Depth: e.Depth, Embeds: e.Embeds, Speculative: e.Speculative, Hops: e.Hops,
		Robots: e.Kind == journal.KindRobots, Sitemap: e.Sitemap, Listed: e.Listed, Index: e.Index,
	})
	if r.scratch.Page = nil; rec.stored {
		r.scratch.Page = rec.url
	}
	if r.Options.HasVia && rec.stored {
		it.Via = rec.url
		it.HopPath = queued.PathBefore(rec.hopPath, e.Depth+e.Embeds+e.Hops == 0)
	}
	for _, l := range [][]byte{e.Links, rec.links} {
		if rec.stored { // else the page is not known
			r.Frontier.Outward(rec.url, l)
		}
		found, err := r.Frontier.AddAll(&r.scratch, l, it)
		if err != nil {
			return fmt.Errorf("restore: resume: links in the journal: %w", err)
		}
		r.links += found
	}
	return nil
}

// restoreRules restores the rules that were fetched since the checkpoint, so that no robots.txt is requested twice.
func (r *replayer) restoreRules(rec *record) error {
	if !rec.hasRules {
		return nil
	}
	return r.useSite(rec.url, func(vs *visit.State) {
		r.Sites.Workbench.Site(vs).Update(func(s *site.State) {
			s.SetRules(r.Sites.Rules.Share(rec.rules), r.clock.Expiry(rec.date.Add(site.RobotsLifetime), site.RobotsLifetime))
			s.RobotsTries, s.DenyAll = 0, false
		})
	})
}
