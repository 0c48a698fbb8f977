package parsers

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	"orbweaver/engine/frontier/links"
	"orbweaver/engine/net/fetch"
	"orbweaver/engine/net/outage"
	"orbweaver/engine/net/robots"
	"orbweaver/engine/state/attempt"
	"orbweaver/engine/state/counters"
	"orbweaver/engine/state/queued"
	"orbweaver/engine/store/journal"
	"orbweaver/engine/store/recrawl"
	"orbweaver/engine/traps/novelty"
	"orbweaver/internal/outcome"
	"orbweaver/internal/sha1pair"
	"orbweaver/warc"
)

// Worker handles one Page at a time. It belongs to one goroutine.
type Worker struct {
	crawl     *Crawl
	admission Admission
	hasher    *sha1pair.Hasher
	links     *extractor
	near      *nearFinder
	records   recordBuilder
	pending   *journal.Pending
	words     novelty.Words
	sums      []byte             // of the last journal entry
	hooked    map[string]float64 // counts of the answer of --hook
	rule      []byte             // of the host, by the answer of --hook host
	isFind    bool               // the last Page is a find of mining
	isShown   bool               // such a page, with a file that was not known
}

// NewWorker returns a worker. admission and encoder must not be shared with other workers.
func NewWorker(c *Crawl, admission Admission, encoder *warc.Encoder) *Worker {
	x, near := newExtractor(c), &nearFinder{known: c.Near}
	return &Worker{
		crawl: c, admission: admission, hasher: sha1pair.NewHasher(), links: x, near: near,
		records: newRecordBuilder(c, encoder, x, near), pending: journal.NewPending(c.Limits),
	}
}

// Run handles Pages of fetch workers until the channel is closed. An error ends the crawl: Run passes it to onError,
// still takes all Pages and returns them to the pool, so that no fetch worker waits. Their URLs stay in flight, and are
// fetched again.
func (w *Worker) Run(ctx context.Context, pages <-chan *fetch.Page, onError func(error)) (err error) {
	for p := range pages {
		if err == nil {
			if err = w.handle(ctx, p); err != nil {
				onError(err)
			}
			w.records.release()
		}
		w.crawl.InFlight.Detach(attempt.Of(p))
		w.crawl.Pool.Put(p)
		w.crawl.Stored(w.crawl.PagesOut.Add(-1))
	}
	return err
}

func (w *Worker) handle(ctx context.Context, p *fetch.Page) error {
	a := attempt.Of(p)
	p.Sum(w.hasher)
	content := p
	if attempt.IsUnchanged(p, a) {
		if content = w.crawl.Previous.ReadPage(&a.Previous, a.URL); content == nil {
			return w.putBack(a, unconditionalItem(a))
		}
	}
	w.links.extract(p, content, a)
	if err := p.RestFault(); err != nil {
		return err
	}
	if !w.askAboutLinks(ctx, a) {
		return nil // it is still in flight, as below
	}
	plan, err := w.plan(ctx, p, content, a)
	if errors.Is(err, outage.ErrFullAtStop) {
		return nil // it is still in flight, so the checkpoint has its URL
	}
	if err != nil {
		return err
	}
	w.mine(content, a, &plan)
	if !w.askHook(ctx, p, content, a, &plan) || !w.askAboutHost(ctx, content, a, &plan) {
		return nil // it is still in flight, as above
	}
	w.show(content, a, &plan)
	return w.store(ctx, p, content, a, &plan)
}

// plan compares the text of the page, and plans and encodes the records. A long one needs room on the disk, and waits
// for it.
func (w *Worker) plan(ctx context.Context, p, content *fetch.Page, a *attempt.Attempt) (plan recordPlan, err error) {
	for {
		if err = w.near.compare(w.links, a); err == nil {
			plan, err = w.records.plan(ctx, p, content, a)
		}
		if err == nil {
			return plan, nil
		}
		if err := w.crawl.Journal.Disk.Wait(ctx, err); err != nil {
			return plan, err
		}
	}
}

// unconditionalItem returns the item of an attempt with so many tries that its next request has no conditions.
func unconditionalItem(a *attempt.Attempt) []byte {
	it := queued.MustDecode(a.Item)
	it.Tries = max(it.Tries+1, recrawl.ConditionalTries)
	return queued.Append(nil, &it)
}

// store settles the attempt when there is room for it. content is p, or the stored page if the page is unchanged.
func (w *Worker) store(
	ctx context.Context, p, content *fetch.Page, a *attempt.Attempt, plan *recordPlan,
) error {
	for {
		if err := w.admission.WaitRoom(ctx); err != nil && !errors.Is(err, context.Canceled) {
			return err
		}
		err := w.settle(p, content, a, plan)
		switch {
		case err == nil:
			w.noteNovelty(p, a, plan)
			return w.maintain(ctx, w.near.add(p, a, plan, w.records.response.ID))
		case errors.Is(err, journal.ErrPageLimit):
			return w.putBack(a, a.Item)
		case errors.Is(err, journal.ErrDuplicate):
			if *plan, err = w.plan(ctx, p, content, a); errors.Is(err, outage.ErrFullAtStop) {
				return nil // as below
			} else if err != nil {
				return err
			}
		default:
			if err := w.crawl.Journal.Disk.Wait(ctx, err); errors.Is(err, outage.ErrFullAtStop) {
				return nil // it is still in flight, so the checkpoint has its URL
			} else if err != nil {
				return err
			}
		}
	}
}

// settle writes the records and the journal entry, admits the links and counts the URL as done, in one step. After an
// error nothing of it has happened.
func (w *Worker) settle(p, content *fetch.Page, a *attempt.Attempt, plan *recordPlan) error {
	j := w.crawl.Journal
	j.Steps.Begin()
	defer j.Steps.End()
	w.fillPending(p, a, plan)
	w.sum(p, content, a, plan)
	if err := j.Write(w.pending); err != nil {
		return err
	}
	w.crawl.Limits.Grown(w.pending.Entry.Length)
	if len(w.pending.Entry.Rule) > 0 {
		w.crawl.Hosts.TakeRule(string(w.pending.Entry.Rule))
	}
	w.count(p, a, plan)
	w.crawl.Log.Attempt(p, a, w.links.finder.Encoding, w.near.annotate(w.links.annotate(plan.annotation)))
	if w.links.bounce.item != nil {
		return w.putAgain(a, &w.links.bounce)
	}
	if a.IsRobots || !a.WillRetry {
		w.admitLinks(a)
		w.links.noteParsed()
	}
	if !a.IsRobots && !a.WillRetry {
		j.Count.Finish(a.Outcome, 1)
		w.crawl.Answered.NoteAnswered(a.Outcome, a.URL)
		w.crawl.InFlight.Remove(a)
	}
	return nil
}

// fillPending makes the journal entry.
func (w *Worker) fillPending(p *fetch.Page, a *attempt.Attempt, plan *recordPlan) {
	w.pending.Claim, w.pending.Page = plan.claim, plan.isPage
	e := &w.pending.Entry
	*e = journal.Entry{
		Kind: journal.KindPage, FP: a.Fingerprint, Outcome: a.Outcome, Status: min(max(p.Status, 0), 65535),
		Depth: a.Depth, Embeds: a.Embeds, Speculative: a.Speculative, Mined: a.Mined, Hops: a.Redirects,
		Sitemap: a.Called.Sitemap, Listed: a.Called.ByIndex, Index: w.links.finder.Index,
		SiteDue: journal.DueIn(a.Due.Site), IPDue: journal.DueIn(a.Due.IP),
	}
	switch {
	case a.IsRobots:
		e.Kind = journal.KindRobots
	case a.WillRetry:
		e.Kind = journal.KindRetry
	}
	switch {
	case a.WillRetry:
	case plan.hasPayload && !w.links.finder.IsError: // of an error page it depends on others what is taken
		e.Links = w.links.finder.EarlyLinks()
	default:
		e.Links = w.links.finder.Links
	}
	w.pending.Group = warc.Group{}
	if plan.isStored {
		w.pending.Group = w.records.encoder.Group()
	}
}

// sum adds what the user counts to the journal entry. It is counted once the entry is written.
func (w *Worker) sum(p, content *fetch.Page, a *attempt.Attempt, plan *recordPlan) {
	if e := &w.pending.Entry; e.Kind == journal.KindPage {
		w.sums = w.records.appendSums(w.sums[:0], p, content, a, plan)
		for name, n := range w.hooked {
			w.sums = counters.AppendSum(w.sums, name, n)
		}
		e.Sums, e.Rule = w.sums, w.rule
	}
}

// count adds the attempt to the counters.
func (w *Worker) count(p *fetch.Page, a *attempt.Attempt, plan *recordPlan) {
	n := &w.crawl.Journal.Count
	if err := n.Sums.AddAll(w.pending.Entry.Sums); err != nil {
		panic(fmt.Sprintf("BUG: parsers: the sums that were just made cannot be read: %v", err))
	}
	if p.HasHead() {
		n.CountStatus(p.Status)
		if p.Connection.TLS.Fault != "" {
			n.BadCertificates.Add(1)
		}
	}
	n.BytesReceived.Add(p.Size() + int64(len(p.Interim)))
	n.BytesSent.Add(int64(len(p.Request)))
	if (a.IsRobots || a.WillRetry) && !plan.isStored && p.HasHead() && outcome.IsPageStatus(p.Status) {
		n.Unrecorded.Add(1)
	}
	if a.IsRobots {
		n.RobotsFetched.Add(1)
		return
	}
	n.Attempts.Add(1)
	if a.WillRetry {
		n.Retries.Add(1)
		return
	}
	if p.HasHead() {
		n.CountAnswer(counters.MediaTypeOf(typeOf(p, false, a)), a.Outcome.IsPage(p.Status), a.Depth)
	}
	if w.near.isNear {
		n.NearDuplicates.Add(1)
	}
	if a.Mined {
		n.MinedTried.Add(1)
	}
	isRequisite := int64(0)
	if queued.IsRequisite(a.Embeds) {
		isRequisite = 1
	}
	switch {
	case !plan.isPage:
	case plan.isUnchanged:
		if plan.isStored {
			n.PagesUnchanged.Add(1)
			n.RequisitesRevisited.Add(isRequisite)
		}
	case !plan.isStored:
		n.PagesNotStored.Add(1)
	case plan.isRevisit:
		n.RevisitsStored.Add(1)
		n.RequisitesRevisited.Add(isRequisite)
	default:
		n.PagesStored.Add(1)
		n.RequisitesStored.Add(isRequisite)
	}
}

// typeOf is the media type of a response. isStored says that it is the stored page to which the response refers.
func typeOf(p *fetch.Page, isStored bool, a *attempt.Attempt) []byte {
	if !isStored && a.Media.Type != nil {
		return a.Media.Type
	}
	return p.Head().ContentType()
}

// admitLinks offers the links that were found.
func (w *Worker) admitLinks(a *attempt.Attempt) {
	item := links.LeadsTo(&links.Lead{
		Outcome: a.Outcome, Depth: a.Depth, Embeds: a.Embeds, Speculative: a.Speculative, Hops: a.Redirects,
		Robots: a.IsRobots, Sitemap: a.Called.Sitemap, Listed: a.Called.ByIndex, Index: w.links.finder.Index,
	})
	switch {
	case w.crawl.Metadata.Via:
		item.Via, item.HopPath = a.URL, queued.PathBefore(a.HopPath, a.Seed)
	case a.Outcome == outcome.Redirect:
		item.Via = a.Via // the page that needs the requisite
	}
	if err := w.admission.AddLinks(linkingPage(a), w.links.finder, item); err != nil {
		panic(fmt.Sprintf("BUG: parsers: the list of links that was just made cannot be read: %v", err))
	}
}

// linkingPage returns the URL of the page that has the links. The sitemaps of a robots.txt that another site redirects
// to are those of that site.
func linkingPage(a *attempt.Attempt) []byte {
	if a.IsRobots && len(a.Item) > 0 {
		if origin := queued.MustDecode(a.Item).RobotsOf; len(origin) > 0 {
			return append(bytes.Clone(origin), robots.FilePath...)
		}
	}
	return a.URL
}

// putBack puts the URL back to its site: it is beyond the limit of pages, or must be fetched again.
func (w *Worker) putBack(a *attempt.Attempt, item []byte) error {
	j := w.crawl.Journal
	j.Steps.Begin()
	defer j.Steps.End()
	ok, err := w.crawl.Sites.PutFront(a.URL, item)
	if err != nil {
		return err
	}
	w.crawl.InFlight.Remove(a)
	if !ok {
		it := queued.MustDecode(item)
		w.crawl.Log.Refusal(a.URL, &it, outcome.SiteGone, a.Worker)
		j.Count.Finish(outcome.SiteGone, 1)
	}
	return nil
}

// noteNovelty tells the trap detector whether a page contained new content. A redirect is no page. But a redirect to
// the same path with another query, the later ones of a chain, and an error page that refreshes to another URL count as
// a page without new content. A duplicate says something in a first pass only: later ones expect it.
func (w *Worker) noteNovelty(p *fetch.Page, a *attempt.Attempt, plan *recordPlan) {
	switch {
	case plan.isPage:
		isNew := w.crawl.Traps.NotePage(a.URL, a.FirstOfSite, novelty.Page{
			IsDuplicate: plan.isRevisit && !w.crawl.Previous.HasCaptures(), Payload: payloadBits(p, a), WasDelayed: a.Delayed,
			Text: w.links.finder.Body, Addresses: w.links, Duration: p.Times.Ended.Sub(p.Times.Started),
		}, &w.words)
		switch {
		case !w.isFind:
		case isNew || w.isShown:
			w.crawl.Journal.Count.MinedFound.Add(1)
		default:
			w.crawl.Sources.Miner.NoteFind(a.URL, -1)
		}
	case a.Outcome == outcome.TooManyRedirects, w.links.refreshes(),
		a.Outcome == outcome.Redirect && !a.WillRetry && (a.Redirects >= redirectsUsual || w.links.finder.LeadsHome(a.URL)):
		w.crawl.Traps.NotePage(a.URL, false, novelty.Page{IsDuplicate: true, WasDelayed: a.Delayed}, &w.words)
	case !a.IsRobots && !a.WillRetry:
		w.crawl.Traps.NoteNoPage(a.URL, uint32(a.Fingerprint.Lo), a.Delayed)
	}
}

// redirectsUsual is how many redirects in a row say nothing about a trap.
const redirectsUsual = 4

// payloadBits distinguishes the payloads of pages. An incomplete payload counts as different from all others.
func payloadBits(p *fetch.Page, a *attempt.Attempt) uint32 {
	if !p.Complete {
		return uint32(a.Fingerprint.Lo)
	}
	return binary.LittleEndian.Uint32(p.Digest[:])
}

// maintain does this page's part of the upkeep of the maps on disk, outside of a step, unless an error of the disk came
// before.
func (w *Worker) maintain(ctx context.Context, err error) error {
	if err == nil {
		err = w.crawl.Journal.Seen.Tend()
	}
	if err == nil {
		err = w.crawl.Answered.Maintain()
	}
	if err != nil {
		return w.crawl.Journal.Disk.Wait(ctx, err)
	}
	return nil
}
