package engine

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/zeebo/xxh3"

	"orbweaver/engine/attempt"
	"orbweaver/engine/crawllog"
	"orbweaver/engine/fetch"
	"orbweaver/engine/filter"
	"orbweaver/engine/journal"
	"orbweaver/engine/limits"
	"orbweaver/engine/links"
	"orbweaver/engine/novelty"
	"orbweaver/engine/outage"
	"orbweaver/engine/outcome"
	"orbweaver/engine/parse"
	"orbweaver/engine/queued"
	"orbweaver/engine/recrawl"
	"orbweaver/engine/traps"
	"orbweaver/engine/urlx"
	"orbweaver/engine/visit"
	"orbweaver/internal/sha1pair"
	"orbweaver/sieve/fpcache"
	"orbweaver/warc"
)

// parseWorker owns one Page at a time: it digests it, decides whether the payload is new, finds the links, builds and
// compresses the records while the bytes are warm, and settles the attempt. There is about one for each core.
type parseWorker struct {
	ledger   *journal.Store
	frontier *Frontier
	bench    *visit.Workbench
	hosts    *hosts
	pool     *fetch.Pool
	fetched  <-chan *fetch.Page
	finder   *links.Finder
	sums     *sha1pair.Hasher
	encoder  *warc.Encoder
	store    *filter.Store
	tells    tells
	parsed   *fpcache.Cache // (payload, directory) pairs whose links have been taken
	aloft    *attempt.InFlight
	log      *crawllog.Log
	faults   *faultFile
	limits   *limits.Limits
	previous recrawl.PreviousCrawl
	traps    *traps.Detector
	peers    *peers // nil for a crawl alone
	wake     func() // of the distributor
	failed   func(error)
	pagesOut *atomic.Int64

	hashSeed uint64

	door    door
	words   novelty.Words
	scratch []byte
	records records
	posting *journal.Pending
	stored  *fetch.Page // of a page that is unchanged, what the archive holds of it; else nil
}

// run handles Pages until the channel is closed. After an error, which ends the crawl, it still takes them, so that
// nobody waits for it: they go home unsettled, as if they had never been fetched.
func (w *parseWorker) run(ctx context.Context) (failed error) {
	for p := range w.fetched {
		if failed == nil {
			if failed = w.handle(ctx, p); failed != nil {
				w.failed(failed)
			}
		}
		w.pool.Put(p)
		if w.pagesOut.Add(-1) == 0 { // perhaps it was the last of all: the returner tells of the others
			w.wake()
		}
	}
	return failed
}

// handle does all that is to be done with one Page.
func (w *parseWorker) handle(ctx context.Context, p *fetch.Page) error {
	f := attempt.Of(p)
	p.Sum(w.sums)
	w.finder.Reset()
	final := !f.WillRetry && !f.IsRobots
	parsed := false
	w.stored = nil
	if attempt.IsUnchanged(p, f) {
		if w.stored = w.previous.ReadPage(&f.Previous, f.URL); w.stored == nil {
			return w.putAside(f, again(f))
		}
	}
	switch {
	case final:
		parsed = w.findLinks(p, f)
	case f.IsRobots && outcome.IsPageStatus(p.Status):
		w.finder.SitemapsOf(f.URL, p, filter.Way{Depth: f.Depth})
	}
	plan, err := w.plan(p, f)
	if err != nil {
		return err
	}
	for {
		if err := w.frontier.WaitRoom(ctx); err != nil && !errors.Is(err, context.Canceled) {
			return err
		}
		err := w.settle(p, f, &plan, parsed)
		switch {
		case err == nil:
			w.log.Attempt(p, f, w.finder.Encoding, w.finder.Budget.Annotate(plan.annotation()))
			w.notePage(p, f, &plan)
			return w.tend(ctx)
		case errors.Is(err, journal.ErrPageLimit):
			return w.putAside(f, f.Item)
		case errors.Is(err, journal.ErrDuplicate):
			if plan, err = w.plan(p, f); err != nil {
				return err
			}
		default:
			if err := w.ledger.Disk.Wait(ctx, err); errors.Is(err, outage.ErrFullAtStop) {
				return nil // it is still aloft, and the cut has it
			} else if err != nil {
				return err
			}
		}
	}
}

// notePage reports a page to the trap detector. A redirect is no page; but one that leads to its own path with another
// query, and the later ones of a chain, brought nothing. That a payload is stored says something in a first pass only:
// later ones expect it.
func (w *parseWorker) notePage(p *fetch.Page, f *attempt.Attempt, plan *recordPlan) {
	switch {
	case plan.page:
		w.traps.NotePage(f.URL, f.FirstOfSite, novelty.Page{
			IsDuplicate: plan.revisit && !w.previous.HasCaptures(), Payload: payloadBits(p, f), WasDelayed: f.Delayed, Text: w.finder.Body,
			Duration: p.Ended.Sub(p.Started),
		}, &w.words)
	case f.Outcome == outcome.TooManyRedirects, f.Outcome == outcome.Redirect && !f.WillRetry && (f.Redirects >= redirectsUsual || w.finder.LeadsHome(f.URL)):
		w.traps.NotePage(f.URL, false, novelty.Page{IsDuplicate: true, WasDelayed: f.Delayed}, &w.words)
	}
}

// payloadBits tells the payloads of pages apart. One that is not complete is taken for different from all others.
func payloadBits(p *fetch.Page, f *attempt.Attempt) uint32 {
	if !p.Complete {
		return uint32(f.Fingerprint.Lo)
	}
	return binary.LittleEndian.Uint32(p.Digest[:])
}

// redirectsUsual is how many redirects in a row nobody wonders about.
const redirectsUsual = 4

// tend does this page's share of the upkeep of the map of payloads, while no lock is held.
func (w *parseWorker) tend(ctx context.Context) error {
	err := w.ledger.Seen.Tend()
	if err == nil && w.peers != nil {
		err = w.peers.fetched.tend()
	}
	if err != nil {
		return w.ledger.Disk.Wait(ctx, err)
	}
	return nil
}

// settle writes the records and the journal entry, lets the links through the door and counts the URL as done: one step
// of the cut. After an error nothing of it has happened.
func (w *parseWorker) settle(p *fetch.Page, f *attempt.Attempt, plan *recordPlan, parsed bool) error {
	w.ledger.Steps.Begin()
	defer w.ledger.Steps.End()
	w.posting.Claim, w.posting.Page = plan.claim, plan.page
	e := &w.posting.Entry
	*e = journal.Entry{
		Kind: journal.KindPage, FP: f.Fingerprint, Outcome: f.Outcome, Status: min(max(p.Status, 0), 65535), Depth: f.Depth, Hops: f.Redirects,
		Listed: f.ListedByIndex, Index: w.finder.Index, SiteDue: journal.DueIn(f.SiteDue), IPDue: journal.DueIn(f.IPDue),
	}
	switch {
	case f.IsRobots:
		e.Kind = journal.KindRobots
	case f.WillRetry:
		e.Kind = journal.KindRetry
	}
	if !f.WillRetry && !plan.payloadInRecord {
		e.Links = w.finder.Links
	}
	w.posting.Group = warc.Group{}
	if plan.store {
		w.posting.Group = w.encoder.Group()
	}
	if err := w.ledger.Write(w.posting); err != nil {
		return err
	}
	w.limits.Grown(e.Length)
	w.count(p, f, plan)
	if f.IsRobots {
		w.follow(f)
	}
	if !f.IsRobots && !f.WillRetry {
		w.follow(f)
		if parsed && w.parsed != nil {
			w.parsed.Put(w.parsedKey(w.contentOf(p), f))
		}
		w.ledger.Count.Finish(f.Outcome, 1)
		w.peers.keepFetched(f.Outcome, f.URL)
		w.aloft.Remove(f)
	}
	return nil
}

// count adds the attempt to the counters.
func (w *parseWorker) count(p *fetch.Page, f *attempt.Attempt, plan *recordPlan) {
	n := &w.ledger.Count
	if p.HasHead() {
		n.Status(p.Status)
	}
	n.BytesReceived.Add(int64(len(p.Raw) + len(p.Interim)))
	n.BytesSent.Add(int64(len(p.Request)))
	if f.IsRobots {
		n.RobotsFetched.Add(1)
		return
	}
	n.Attempts.Add(1)
	if f.WillRetry {
		n.Retries.Add(1)
		return
	}
	switch {
	case !plan.page:
	case plan.unchanged:
		if plan.store {
			n.Unchanged.Add(1)
		}
	case !plan.store:
		n.NotStored.Add(1)
	case plan.revisit:
		n.Revisits.Add(1)
	default:
		n.Pages.Add(1)
	}
}

// follow offers the page's links at the door.
func (w *parseWorker) follow(f *attempt.Attempt) {
	it := links.LeadsTo(&links.Lead{
		Outcome: f.Outcome, Depth: f.Depth, Hops: f.Redirects, Robots: f.IsRobots, Listed: f.ListedByIndex, Index: w.finder.Index,
	})
	var kinds []parse.Kind
	if w.tells.via {
		it.Via, it.HopPath, kinds = f.URL, f.HopPath, w.finder.Kinds
		if len(f.HopPath) == 0 && !f.Seed {
			kinds = nil // how this page was reached is not known, so how these are is not either
		}
	}
	if r := w.finder.Refused; r != (links.Refused{}) {
		w.frontier.Refuse(r)
	}
	if n := w.finder.Userinfo; n > 0 {
		w.ledger.Count.Userinfo.Add(int64(n))
	}
	if n := w.finder.Budget.Beyond; n > 0 {
		w.ledger.Count.DroppedBytes.Add(int64(n))
	}
	if n := w.finder.Unfollowed; n > 0 {
		w.frontier.Unfollowed(n)
	}
	w.frontier.Outward(f.URL, w.finder.Links)
	if _, err := w.frontier.AddAll(&w.door, w.finder.Links, kinds, it); err != nil {
		panic(fmt.Sprintf("BUG: engine: the list of links that was just made cannot be read: %v", err))
	}
}

// contentOf is the page whose content counts: what the archive holds, if the server says that this has not changed.
func (w *parseWorker) contentOf(p *fetch.Page) *fetch.Page {
	if w.stored != nil {
		return w.stored
	}
	return p
}

// again is the item of a flight, after so many tries that it is asked for without conditions.
func again(f *attempt.Attempt) []byte {
	it := queued.MustDecode(f.Item)
	it.Tries = max(it.Tries+1, conditionalTries)
	return queued.Append(nil, &it)
}

// putAside gives the URL of a page that came after the last one wanted, or that cannot be made use of, back to its
// site.
func (w *parseWorker) putAside(f *attempt.Attempt, item []byte) error {
	w.ledger.Steps.Begin()
	defer w.ledger.Steps.End()
	site, _ := urlx.Split(f.URL)
	return w.hosts.meet(site, func(vs *visit.State) {
		w.aloft.Remove(f)
		if !w.bench.PushFront(vs, item) {
			w.ledger.Count.Finish(outcome.SiteGone, 1)
		}
	})
}

// findLinks fills w.links and reports whether the payload was scanned.
func (w *parseWorker) findLinks(p *fetch.Page, f *attempt.Attempt) bool {
	if f.Outcome == outcome.Redirect {
		w.redirect(p, f)
		return false
	}
	if w.finder.Forbids(p) {
		return false
	}
	p = w.contentOf(p)
	if !outcome.IsPageStatus(p.Status) || p.PayloadLen == 0 && len(p.Header(links.RefreshField)) == 0 || w.stored != nil && w.finder.Forbids(p) {
		return false
	}
	from := links.Page{URL: f.URL, Page: p, Way: filter.Way{Depth: f.Depth, Hops: f.Redirects}, Size: p.PayloadLen, Cut: f.Outcome.IsBodyCut()}
	if !w.finder.Open(from) {
		w.ledger.Count.NotParsed.Add(1)
		return false
	}
	parsed := w.search(p, f)
	w.finder.Refresh(f.URL, p)
	return parsed
}

// search finds the links in the payload of a page, and reports whether it was scanned.
func (w *parseWorker) search(p *fetch.Page, f *attempt.Attempt) bool {
	if p.PayloadLen == 0 {
		return false
	}
	// What the follow filter says of a link depends on more than payload and directory.
	if p.Complete && w.finder.O.By.Follow == nil && w.parsed.Seen(w.parsedKey(p, f)) {
		w.ledger.Count.Unparsed.Add(1)
		return false
	}
	w.scan(p, f)
	return p.Complete
}

func (w *parseWorker) redirect(p *fetch.Page, f *attempt.Attempt) {
	if f.Redirects+1 > redirectsMax {
		f.Outcome = outcome.TooManyRedirects
		return
	}
	w.finder.Open(links.Page{URL: f.URL, Page: p, Way: filter.Way{Depth: f.Depth, Hops: f.Redirects}})
	w.finder.Redirect(f.URL, p.Location())
}

// redirectsMax is how many redirects are followed in a row from one link.
const redirectsMax = 10

// scan reads the body. A panic in here is a bug, but one hostile page must not end the crawl: it is counted, and the
// input is kept for the fuzzers.
func (w *parseWorker) scan(p *fetch.Page, f *attempt.Attempt) {
	defer func() {
		if r := recover(); r != nil {
			w.ledger.Count.ParseFaults.Add(1)
			w.finder = w.finder.Again()
			w.faults.save(f.URL, p.Raw, r)
		}
	}()
	w.finder.Scan(f.URL, p, f.ListedByIndex)
	w.ledger.Count.DroppedLinks.Add(int64(w.finder.Dropped))
	if w.finder.Encoding != fetch.DecodeOK {
		w.ledger.Count.BadEncodings.Add(1)
	}
}

// parsedKey is the identity of what the links of a page depend on: its payload and its URL up to the query, which
// relative references are resolved against. The same bytes elsewhere are read again, since they link elsewhere.
func (w *parseWorker) parsedKey(p *fetch.Page, f *attempt.Attempt) xxh3.Uint128 {
	base, _, _ := bytes.Cut(f.URL, []byte{'?'})
	w.scratch = append(append(w.scratch[:0], p.Digest[:]...), base...)
	return urlx.Fingerprint(w.hashSeed, w.scratch)
}
