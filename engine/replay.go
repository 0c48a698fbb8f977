package engine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"orbweaver/engine/fetch"
	"orbweaver/engine/outcome"
	"orbweaver/engine/robots"
	"orbweaver/engine/seen"
	"orbweaver/engine/urlx"
	"orbweaver/warc"
)

// replay reads all journals since the cut, in order.
func (e *Engine) replay(m *manifest) error {
	dir := e.frontierDir()
	r := &replayer{
		engine: e, end: m.Archive, archive: warc.OpenArchive(e.seams.FS, e.cfg.Dir+"/warc"),
		links: newLinkFinder(e.cfg.NoFollow), clock: newResumeClock(m, e.seams.Boot),
	}
	stray, err := eachJournal(e.seams.FS, dir, m.Generation, func(name string) (int64, error) {
		return readJournal(e.seams.FS, name, r.step)
	})
	switch {
	case err == nil, errors.Is(err, fs.ErrNotExist): // no entry since the cut
	case errors.Is(err, errArchiveShort): // what follows was never synced
	default:
		return errors.Join(err, r.archive.Close())
	}
	if stray != "" {
		e.seams.Log.Warn("the end of a journal is not on disk; what the next one names is fetched again", "journal", stray)
	}
	m.Archive = r.end
	e.seams.Log.Info("resumed from the last checkpoint and the journal", "attempts", r.n, "links", r.found)
	return r.archive.Close()
}

// replayer applies journal entries.
type replayer struct {
	engine  *Engine
	archive *warc.Archive
	end     *warc.Cut // of the archive, as far as it is journaled
	links   *linkFinder
	clock   resumeClock
	door    door
	n       int
	found   int
}

// errArchiveShort says that the journal names a record that the archive does not hold: a power cut took it.
var errArchiveShort = errors.New("engine: the archive ends before the journal")

// errNoRecord says that what lies in the archive is not what the journal names.
var errNoRecord = errors.New("engine: no record")

// record is what the replay needs of an archived record.
type record struct {
	url    []byte
	page   *fetch.Page // nil for a revisit
	id     warc.ID
	date   time.Time
	digest seen.Digest
	whole  bool // has a payload digest
}

// step applies one entry. What it finds is flushed when a bucket is full, so that a long journal takes no more memory
// than the crawl did.
func (r *replayer) step(e *journalEntry) error {
	if err := r.entry(e); err != nil || !r.engine.sieve.Full() {
		return err
	}
	return r.engine.flush.once(context.Background()) //nolint:forbidigo // Open is not cancelled
}

func (r *replayer) entry(e *journalEntry) error {
	var rec *record
	if e.Serial > 0 {
		var err error
		if rec, err = r.read(e); err != nil {
			var damage *warc.Fault
			if !errors.Is(err, fs.ErrNotExist) && !errors.As(err, &damage) && !errors.Is(err, errNoRecord) {
				return fmt.Errorf("engine: resume: %w", err) // the disk, not the archive: nothing is cut off
			}
			r.engine.seams.Log.Warn("the last moments of the journal are not in the archive; they are fetched again",
				"entries_kept", r.n, "error", err)
			return errArchiveShort
		}
	}
	r.n++
	n := &r.engine.ledger.n
	n.status(e.Status)
	switch e.Kind {
	case journalRobots:
		n.robotsFetched.Add(1)
		if err := r.robots(e, rec); err != nil {
			return err
		}
	case journalRetry:
		n.attempts.Add(1)
		n.retries.Add(1)
	default:
		n.attempts.Add(1)
		if err := r.page(e, rec); err != nil {
			return err
		}
	}
	return r.postpone(e, rec)
}

// read brings an entry's main record back from the archive.
func (r *replayer) read(e *journalEntry) (*record, error) {
	pos := warc.Position{Serial: e.Serial - 1, Offset: e.Offset, Length: e.Length}
	group, pos, err := r.archive.ReadGroup(pos)
	if err != nil {
		return nil, err
	}
	if len(group) == 0 {
		return nil, fmt.Errorf("%w at %d of file %d", errNoRecord, pos.Offset, pos.Serial)
	}
	end := pos.End()
	r.end = &end
	main := &group[0]
	rec := &record{url: main.TargetURI, id: main.ID, date: main.Date}
	if main.Type == warc.Response {
		page, ok := fetch.Stored(rec.url, main.Block)
		if !ok {
			return nil, fmt.Errorf("%w of %s that holds a response", errNoRecord, rec.url)
		}
		rec.page = page
		rec.digest, rec.whole = page.Digest, main.Get("WARC-Payload-Digest") != ""
	}
	return rec, nil
}

// postpone restores the due times that the attempt set.
func (r *replayer) postpone(e *journalEntry, rec *record) error {
	if rec == nil || e.SiteDue == 0 {
		return nil
	}
	return r.site(rec.url, func(vs *visitState) {
		r.engine.bench.Postpone(vs, nanosFrom(r.clock.now, e.SiteDue), nanosFrom(r.clock.now, e.IPDue))
	})
}

// site lends the site of a URL. One that the cut does not know is made, so that what was learnt of it is not forgotten;
// its URLs come from the ready queue.
func (r *replayer) site(url []byte, f func(vs *visitState)) error {
	key, _ := urlx.Split(url)
	return r.engine.hosts.meet(key, f)
}

func (r *replayer) page(e *journalEntry, rec *record) error {
	r.engine.redone.add(e.FP, e.Outcome)
	n := &r.engine.ledger.n
	if isPageStatus(e.Status) {
		switch {
		case rec == nil:
			n.notStored.Add(1)
		case rec.page == nil:
			n.revisits.Add(1)
			r.engine.limits.pages++
		default:
			n.pages.Add(1)
			r.engine.limits.pages++
		}
	}
	it := Item{Depth: e.Depth + 1}
	if e.Outcome == outcome.Redirect {
		it.Depth, it.Hops = e.Depth, e.Hops+1
	}
	add := func(url []byte) {
		r.found++
		r.engine.frontier.Add(&r.door, url, it)
	}
	if err := eachLink(e.Links, add); err != nil {
		return fmt.Errorf("engine: resume: links in the journal: %w", err)
	}
	if rec == nil || rec.page == nil {
		return nil
	}
	if rec.whole {
		_, _, err := r.engine.ledger.seen.Insert(rec.digest, seen.First{RecordID: rec.id, URI: string(rec.url), Date: rec.date})
		if err != nil {
			return fmt.Errorf("engine: resume: %w", err)
		}
	}
	if e.Outcome == outcome.Redirect {
		r.links.redirect(rec.url, rec.page.Location())
	} else if isPageStatus(e.Status) {
		r.links.scan(rec.url, rec.page)
	} else {
		return nil
	}
	return eachLink(r.links.links, add)
}

// robots restores the rules that were fetched since the cut, so that no site is asked twice.
func (r *replayer) robots(e *journalEntry, rec *record) error {
	if rec == nil || rec.page == nil || e.Hops > 0 {
		return nil
	}
	if _, path := urlx.Split(rec.url); !bytes.Equal(path, []byte(robotsPath)) {
		return nil
	}
	var rules *robots.Rules
	switch {
	case isPageStatus(e.Status) && e.Outcome != outcome.CutDisconnect && e.Outcome != outcome.CutTime:
		body, _ := rec.page.Decoded(r.links.decoder)
		rules = robots.Parse(body, robotsToken)
	case e.Outcome.Class() == outcome.ClassAnswer && e.Outcome != outcome.Redirect:
		rules = robots.AllowAll()
	default:
		return nil
	}
	return r.site(rec.url, func(vs *visitState) {
		r.engine.bench.WithSite(vs, func(s *Site) {
			s.setRules(r.engine.rules.share(rules), r.clock.until(rec.date.Add(robotsLife), robotsLife))
			s.RobotsTry, s.Denied = 0, false
		})
	})
}
