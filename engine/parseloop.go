package engine

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/zeebo/xxh3"

	"orbweaver/engine/fetch"
	"orbweaver/engine/filter"
	"orbweaver/engine/novelty"
	"orbweaver/engine/outcome"
	"orbweaver/engine/parse"
	"orbweaver/engine/urlx"
	"orbweaver/internal/sha1pair"
	"orbweaver/sieve/fpcache"
	"orbweaver/warc"
)

// parseWorker owns one Page at a time: it digests it, decides whether the payload is new, finds the links, builds and compresses
// the records while the bytes are warm, and settles the attempt. There is about one for each core.
type parseWorker struct {
	ledger   *ledger
	frontier *Frontier
	bench    *bench
	hosts    *hosts
	pool     *fetch.Pool
	fetched  <-chan *fetch.Page
	finder   *linkFinder
	sums     *sha1pair.Hasher
	encoder  *warc.Encoder
	store    *filter.Store
	tells    tells
	parsed   *fpcache.Cache // (payload, directory) pairs whose links have been taken
	aloft    *aloft
	log      *crawlLog
	faults   *faultFile
	limits   *limits
	held     *holdings // nil in a first pass
	watch    *watch    // nil if nobody watches what is new
	peers    *peers    // nil for a crawl alone
	wake     func()    // of the distributor
	failed   func(error)
	pagesOut *atomic.Int64

	hashSeed uint64

	door    door
	words   novelty.Words
	scratch []byte
	records records
	posting *posting
	stored  *fetch.Page // of a page that is unchanged, what the archive holds of it; else nil
}

var errPagesEnough = errors.New("engine: the limit of pages is reached")

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
	f := flightOf(p)
	p.Sum(w.sums)
	w.finder.reset()
	final := !f.retry && !f.robots
	parsed := false
	w.stored = nil
	if isUnchanged(p, f) {
		if w.stored = w.held.page(&f.before, f.url); w.stored == nil {
			return w.putAside(f, again(f))
		}
	}
	switch {
	case final:
		parsed = w.findLinks(p, f)
	case f.robots && isPageStatus(p.Status):
		w.finder.sitemapsOf(f.url, p, filter.Way{Depth: f.depth})
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
			w.log.attempt(p, f, w.finder.encoding, w.finder.budget.annotate(plan.annotation()))
			w.weigh(p, f, &plan)
			return w.tend(ctx)
		case errors.Is(err, errPagesEnough):
			return w.putAside(f, f.item)
		case errors.Is(err, errSeenMeanwhile):
			if plan, err = w.plan(p, f); err != nil {
				return err
			}
		default:
			if err := w.ledger.disk.wait(ctx, err); errors.Is(err, ErrFullAtStop) {
				return nil // it is still aloft, and the cut has it
			} else if err != nil {
				return err
			}
		}
	}
}

// weigh tells the watch what a page brought. A redirect is no page; but one that leads to its own path with another query, and the
// later ones of a chain, brought nothing. That a payload is stored says something in a first pass only: later ones expect it.
func (w *parseWorker) weigh(p *fetch.Page, f *flight, plan *recordPlan) {
	switch {
	case plan.page:
		w.watch.weigh(f.url, f.first, novelty.Page{
			Known: plan.revisit && w.held == nil, Payload: payloadBits(p, f), Late: f.late, Text: w.finder.body,
			Took: p.Ended.Sub(p.Started),
		}, &w.words)
	case f.outcome == outcome.TooManyRedirects, f.outcome == outcome.Redirect && !f.retry && (f.hops >= redirectsUsual || w.finder.leadsHome(f.url)):
		w.watch.weigh(f.url, false, novelty.Page{Known: true, Late: f.late}, &w.words)
	}
}

// payloadBits tells the payloads of pages apart. One that is not complete is taken for different from all others.
func payloadBits(p *fetch.Page, f *flight) uint32 {
	if !p.Complete {
		return uint32(f.fp.Lo)
	}
	return binary.LittleEndian.Uint32(p.Digest[:])
}

// redirectsUsual is how many redirects in a row nobody wonders about.
const redirectsUsual = 4

// tend does this page's share of the upkeep of the map of payloads, while no lock is held.
func (w *parseWorker) tend(ctx context.Context) error {
	err := w.ledger.seen.Tend()
	if err == nil && w.peers != nil {
		err = w.peers.fetched.tend()
	}
	if err != nil {
		return w.ledger.disk.wait(ctx, err)
	}
	return nil
}

// settle writes the records and the journal entry, lets the links through the door and counts the URL as done: one step
// of the cut. After an error nothing of it has happened.
func (w *parseWorker) settle(p *fetch.Page, f *flight, plan *recordPlan, parsed bool) error {
	w.ledger.cut.RLock()
	defer w.ledger.cut.RUnlock()
	w.posting.plan = *plan
	e := &w.posting.entry
	*e = journalEntry{
		Kind: journalPage, FP: f.fp, Outcome: f.outcome, Status: min(max(p.Status, 0), 65535), Depth: f.depth, Hops: f.hops,
		Listed: f.listed, Index: w.finder.index, SiteDue: nanosTo(f.siteDue), IPDue: nanosTo(f.ipDue),
	}
	switch {
	case f.robots:
		e.Kind = journalRobots
	case f.retry:
		e.Kind = journalRetry
	}
	if !f.retry && !plan.payloadInRecord {
		e.Links = w.finder.links
	}
	w.posting.group = warc.Group{}
	if plan.store {
		w.posting.group = w.encoder.Group()
	}
	if err := w.ledger.write(w.posting); err != nil {
		return err
	}
	w.limits.grown(e.Length)
	w.count(p, f, plan)
	if f.robots {
		w.follow(f)
	}
	if !f.robots && !f.retry {
		w.follow(f)
		if parsed && w.parsed != nil {
			w.parsed.Put(w.parsedKey(w.contentOf(p), f))
		}
		w.ledger.n.finish(f.outcome, 1)
		w.peers.keepFetched(f.outcome, f.url)
		w.aloft.remove(f)
	}
	return nil
}

// count adds the attempt to the counters.
func (w *parseWorker) count(p *fetch.Page, f *flight, plan *recordPlan) {
	n := &w.ledger.n
	if p.HasHead() {
		n.status(p.Status)
	}
	n.bytesReceived.Add(int64(len(p.Raw) + len(p.Interim)))
	n.bytesSent.Add(int64(len(p.Request)))
	if f.robots {
		n.robotsFetched.Add(1)
		return
	}
	n.attempts.Add(1)
	if f.retry {
		n.retries.Add(1)
		return
	}
	switch {
	case !plan.page:
	case plan.unchanged:
		if plan.store {
			n.unchanged.Add(1)
		}
	case !plan.store:
		n.notStored.Add(1)
	case plan.revisit:
		n.revisits.Add(1)
	default:
		n.pages.Add(1)
	}
}

// follow offers the page's links at the door.
func (w *parseWorker) follow(f *flight) {
	it := leadsTo(&lead{f.outcome, f.depth, f.hops, f.robots, f.listed, w.finder.index})
	var kinds []parse.Kind
	if w.tells.via {
		it.Via, it.Way, kinds = f.url, f.way, w.finder.kinds
		if len(f.way) == 0 && !f.seed {
			kinds = nil // how this page was reached is not known, so how these are is not either
		}
	}
	if r := w.finder.refused; r != (refused{}) {
		w.frontier.Refuse(r)
	}
	if n := w.finder.userinfo; n > 0 {
		w.ledger.n.userinfo.Add(int64(n))
	}
	if n := w.finder.budget.beyond; n > 0 {
		w.ledger.n.droppedBytes.Add(int64(n))
	}
	if n := w.finder.unfollowed; n > 0 {
		w.frontier.Unfollowed(n)
	}
	w.frontier.Outward(f.url, w.finder.links)
	if _, err := w.frontier.AddAll(&w.door, w.finder.links, kinds, it); err != nil {
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
func again(f *flight) []byte {
	it := mustItem(f.item)
	it.Try = max(it.Try+1, questionTries)
	return appendItem(nil, &it)
}

// putAside gives the URL of a page that came after the last one wanted, or that cannot be made use of, back to its site.
func (w *parseWorker) putAside(f *flight, item []byte) error {
	w.ledger.cut.RLock()
	defer w.ledger.cut.RUnlock()
	site, _ := urlx.Split(f.url)
	return w.hosts.meet(site, func(vs *visitState) {
		w.aloft.remove(f)
		if !w.bench.PushFront(vs, item) {
			w.ledger.n.finish(outcome.SiteGone, 1)
		}
	})
}

// findLinks fills w.links and reports whether the payload was scanned.
func (w *parseWorker) findLinks(p *fetch.Page, f *flight) bool {
	if f.outcome == outcome.Redirect {
		w.redirect(p, f)
		return false
	}
	if w.finder.forbids(p) {
		return false
	}
	p = w.contentOf(p)
	if !isPageStatus(p.Status) || p.PayloadLen == 0 && len(p.Header(refreshField)) == 0 || w.stored != nil && w.finder.forbids(p) {
		return false
	}
	from := linkPage{url: f.url, page: p, way: filter.Way{Depth: f.depth, Hops: f.hops}, size: p.PayloadLen, cut: isCut(f.outcome)}
	if !w.finder.open(from) {
		w.ledger.n.notParsed.Add(1)
		return false
	}
	parsed := w.search(p, f)
	w.finder.refresh(f.url, p)
	return parsed
}

// search finds the links in the payload of a page, and reports whether it was scanned.
func (w *parseWorker) search(p *fetch.Page, f *flight) bool {
	if p.PayloadLen == 0 {
		return false
	}
	// What the follow filter says of a link depends on more than payload and directory.
	if p.Complete && w.finder.o.by.follow == nil && w.parsed.Seen(w.parsedKey(p, f)) {
		w.ledger.n.unparsed.Add(1)
		return false
	}
	w.scan(p, f)
	return p.Complete
}

func (w *parseWorker) redirect(p *fetch.Page, f *flight) {
	if f.hops+1 > redirectsMax {
		f.outcome = outcome.TooManyRedirects
		return
	}
	w.finder.open(linkPage{url: f.url, page: p, way: filter.Way{Depth: f.depth, Hops: f.hops}})
	w.finder.redirect(f.url, p.Location())
}

// redirectsMax is how many redirects are followed in a row from one link.
const redirectsMax = 10

// scan reads the body. A panic in here is a bug, but one hostile page must not end the crawl: it is counted, and the
// input is kept for the fuzzers.
func (w *parseWorker) scan(p *fetch.Page, f *flight) {
	defer func() {
		if r := recover(); r != nil {
			w.ledger.n.parseFaults.Add(1)
			w.finder = w.finder.again()
			w.faults.save(f.url, p.Raw, r)
		}
	}()
	w.finder.scan(f.url, p, f.listed)
	w.ledger.n.droppedLinks.Add(int64(w.finder.dropped))
	if w.finder.encoding != fetch.DecodeOK {
		w.ledger.n.badEncodings.Add(1)
	}
}

// parsedKey is the identity of what the links of a page depend on: its payload and its URL up to the query, which
// relative references are resolved against. The same bytes elsewhere are read again, since they link elsewhere.
func (w *parseWorker) parsedKey(p *fetch.Page, f *flight) xxh3.Uint128 {
	base, _, _ := bytes.Cut(f.url, []byte{'?'})
	w.scratch = append(append(w.scratch[:0], p.Digest[:]...), base...)
	return urlx.Fingerprint(w.hashSeed, w.scratch)
}
