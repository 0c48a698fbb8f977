package admission

import (
	"bytes"
	"context"
	"math"
	"sync/atomic"

	"github.com/zeebo/xxh3"

	"orbweaver/engine/frontier/links"
	"orbweaver/engine/frontier/order"
	"orbweaver/engine/page/filter"
	"orbweaver/engine/page/parse"
	"orbweaver/engine/peering/ownership"
	"orbweaver/engine/state/cluster"
	"orbweaver/engine/state/counters"
	"orbweaver/engine/state/queued"
	"orbweaver/engine/state/settings"
	"orbweaver/engine/store/journal"
	"orbweaver/internal/notify"
	"orbweaver/internal/urlx"
	"orbweaver/sieve"
	"orbweaver/sieve/fpcache"
)

// Frontier admits discovered URLs: seeds, links of pages, URLs of an operator and of other agents. It owns the
// fingerprint cache, and only it adds to the sieve. Safe for many goroutines.
type Frontier struct {
	Rules     Rules // at the start: see RulesInForce
	HostRules *settings.HostRules
	HashSeed  uint64
	Cache     *fpcache.Cache
	Sieve     *sieve.Sieve
	Counters  *counters.Live
	// UrgentAdded gets a signal after an urgent item was added to the sieve; nil if no Flusher waits for it.
	UrgentAdded chan struct{}
	Router      cluster.Router
	Views       *ownership.Current
	// CountOutward says that the crawl may have other agents, to which links lead.
	CountOutward bool

	changed atomic.Pointer[Rules] // nil if they are those of the start
}

// Scratch is the memory of one call, for reuse: one for each goroutine, never shared. The zero value is ready.
type Scratch struct {
	// Salt, if not zero, changes the fingerprints of this agent's own URLs, so that the sieve admits known URLs once
	// more: after a recovery, when what the sieve knows is no proof that the page is stored.
	Salt xxh3.Uint128

	// Page is the URL of the page whose links are offered, if it is known. Its requisites keep it as Via, so that
	// crawl.log says which page lacks one. AddLinks and a resume set it.
	Page []byte

	rules        *Rules         // in force
	kind         parse.Kind     // of the link that is checked
	payload      []byte         // an encoded queued.URL
	routed       queued.URL     // that another agent owns
	urls         [][]byte       // those that passed the checks, borrowed
	fingerprints []xxh3.Uint128 // of urls
	scores       []int          // of urls, as kinds
	kinds        []parse.Kind   // of urls, if they are links of a page
	excessFrom   int            // index in urls: from here on requisites are beyond Rules.MaxRequisites
	view         *ownership.View
	isShared     bool   // an agent other than this one may own a URL
	owners       []int  // of urls, if isShared
	host         []byte // of the last URL that was checked, borrowed: most links lead to the host of the link before
	owner        int    // of host, in view
	hopPath      []byte

	tally
	source source // of the links

	prefetched uint64 // what Prefetch read; kept so that the compiler keeps the read
}

// tally counts what one call was given, and what it refused.
type tally struct {
	found   int64
	refused [refusals]int64
}

func (f *Frontier) begin(d *Scratch) {
	d.urls, d.fingerprints, d.kinds, d.scores = d.urls[:0], d.fingerprints[:0], d.kinds[:0], d.scores[:0]
	d.rules, d.kind = f.RulesInForce(), parse.Anchor
	d.view = f.Views.Load()
	if d.isShared = !d.view.OwnsAll(); d.isShared {
		d.owners, d.host = d.owners[:0], nil
	}
	d.tally = tally{}
	d.excessFrom = math.MaxInt
	d.source = source{}
}

// Judge says whether a URL belongs to the crawl: the checks of Add, without adding.
func (f *Frontier) Judge(d *Scratch, url []byte, it *queued.URL) Refusal {
	f.begin(d)
	return f.check(d, url, it)
}

// WaitRoom blocks while the sieve or the queue of messages has no room. It must be called outside a step: a step
// does not wait.
func (f *Frontier) WaitRoom(ctx context.Context) error {
	if err := f.Router.WaitRoom(ctx); err != nil {
		return err
	}
	return f.Sieve.WaitRoom(ctx)
}

// Add offers one URL in normal form, with the Seed, Depth, Redirects and Via of it. It borrows url, does not block, and
// must be called within a step. The fingerprint enters the cache only after the sieve has taken the URL.
func (f *Frontier) Add(d *Scratch, url []byte, it queued.URL) Refusal {
	f.begin(d)
	why := f.check(d, url, &it)
	f.admit(d, it, false)
	return why
}

// AddSeed is Add for a seed, and returns what became of it. Its look-up in the sieve may read from disk.
func (f *Frontier) AddSeed(d *Scratch, url []byte) (result AddResult, reason string) {
	f.begin(d)
	it := queued.URL{Seed: true}
	why := f.check(d, url, &it)
	switch {
	case why != Belongs:
		result, reason = Refused, why.String()
	case d.isShared && d.owners[0] != d.view.Self:
		result = Sent
	default:
		known, err := f.Sieve.Contains(d.fingerprints[0])
		if result = New; err == nil && known || f.Cache.Seen(d.fingerprints[0]) {
			result = Known
		}
	}
	f.admit(d, it, false)
	return result, reason
}

// Receive is Add for a URL that another agent sent. If this agent does not own it, it is sent on to the owner, even if
// the cache says that it was sent there lately: while the ownership views of agents differ a URL can pass between
// them, and when the views agree it is at its owner.
func (f *Frontier) Receive(d *Scratch, url []byte, it queued.URL) {
	f.begin(d)
	f.check(d, url, &it)
	f.Counters.Received.Add(1)
	f.admit(d, it, true)
}

// AddAll offers the links of a page, in the form of journal.AppendLink, as Add does one after the other. All
// fingerprints are computed first and their cache lines prefetched together, so that reads from memory overlap. it has
// the hops of the page, as links.LeadsTo makes it; each link gets its own. it.HopPath is nil or that of the page.
func (f *Frontier) AddAll(d *Scratch, links []byte, it queued.URL) (n int, err error) {
	f.begin(d)
	own, requisites := it, 0
	d.source.isSitemap = it.Sitemap
	err = journal.EachScored(links, func(kind parse.Kind, score int, url []byte) {
		n++
		d.rules.hop(&own, &it, kind)
		d.kind = kind
		if f.check(d, url, &own) == Belongs {
			d.kinds, d.scores = append(d.kinds, kind), append(d.scores, score)
			if queued.IsRequisite(own.Embeds) {
				requisites++
			}
		}
	})
	if most := d.rules.MaxRequisites; most > 0 && requisites > most {
		d.excessFrom = d.endOfRequisites(most)
	}
	f.admit(d, it, false)
	return n, err
}

// endOfRequisites returns the index in d.urls behind the first most different requisites of a page. It does not depend
// on what was known before, so a page that is read again after a kill has the same ones. d.kinds are of all d.urls.
func (d *Scratch) endOfRequisites(most int) int {
	different := make(map[xxh3.Uint128]struct{}, most)
	for i, fp := range d.fingerprints {
		if !d.kinds[i].IsRequisite() {
			continue
		}
		if different[fp] = struct{}{}; len(different) > most {
			return i
		}
	}
	return len(d.urls)
}

// AddLink is AddAll for one link.
func (f *Frontier) AddLink(d *Scratch, url []byte, kind parse.Kind, it queued.URL) {
	f.begin(d)
	own := it
	d.kind, d.source.isSitemap = kind, it.Sitemap
	if d.rules.hop(&own, &it, kind); f.check(d, url, &own) == Belongs {
		d.kinds, d.scores = append(d.kinds, kind), append(d.scores, it.Score)
	}
	f.admit(d, it, false)
}

// LeastEmbeds returns the embed hops of a page if only its URL is known: one if the scope does not admit it, so
// that it can be in the crawl as a requisite only.
func (f *Frontier) LeastEmbeds(url []byte) int {
	r := f.RulesInForce()
	if r.Requisites != RequisitesAll || r.Scope.Admits(url, filter.Way{}) {
		return 0
	}
	return 1
}

// PageLinks offers the links of pages. Each parse worker has its own.
type PageLinks struct {
	*Frontier
	Order   *order.Current
	scratch Scratch
}

// AddLinks implements parsers.Admission.
func (p *PageLinks) AddLinks(page []byte, found *links.Finder, item queued.URL) error {
	if found.Refused != (links.Refused{}) {
		p.Refuse(found.Refused)
	}
	if n := found.Userinfo; n > 0 {
		p.Counters.Userinfo.Add(int64(n))
	}
	if n := found.Budget.LinksDropped; n > 0 {
		p.Counters.DroppedBytes.Add(int64(n))
	}
	if n := found.Unfollowed; n > 0 {
		p.Unfollowed(n)
	}
	if n := found.NearSkipped; n > 0 {
		p.SkippedOfNear(n)
	}
	p.Outward(page, found.Links)
	p.scratch.Page = page
	_, err := p.AddAll(&p.scratch, found.Links, item)
	p.Order.Policy().NoteLinks(page, p.scratch.urls)
	return err
}

// Wants implements parsers.Admission.
func (p *PageLinks) Wants(url []byte, item queued.URL) bool {
	return p.Judge(&p.scratch, url, &item) == Belongs && !p.Cache.Seen(p.scratch.fingerprints[0])
}

// Outward counts, of links in the form of journal.AppendLink, those that lead to another host than the page's, for the
// report of a crawl with several agents.
func (f *Frontier) Outward(from, links []byte) {
	if !f.CountOutward {
		return
	}
	home, n := urlx.Host(from), int64(0)
	err := journal.EachLink(links, func(_ parse.Kind, url []byte) {
		if !bytes.Equal(urlx.Host(url), home) {
			n++
		}
	})
	if err == nil && n > 0 { // if not, AddAll says so
		f.Counters.LinksOut.Add(n)
	}
}

// ownerOf is the agent that owns the host of a URL, as an index in the view.
func (d *Scratch) ownerOf(url []byte) int {
	if host := urlx.Host(url); d.host == nil || !bytes.Equal(host, d.host) {
		d.host, d.owner = host, d.view.HostOwner(host)
	}
	return d.owner
}

// admit gives the URLs of d that the cache does not know to the sieve or to the router, in order, and counts all.
func (f *Frontier) admit(d *Scratch, it queued.URL, received bool) {
	d.prefetched += f.Cache.Prefetch(d.fingerprints)
	sieved, sent, urgent := int64(0), int64(0), false
	page := it
	for i, fp := range d.fingerprints {
		foreign := d.isShared && d.owners[i] != d.view.Self
		if f.Cache.Seen(fp) && !(received && foreign) {
			continue
		}
		it.Rest = d.urls[i]
		if len(d.kinds) > 0 {
			d.rules.hop(&it, &page, d.kinds[i])
			it.Score = d.scores[i]
			it.Excess = i >= d.excessFrom && d.kinds[i].IsRequisite()
			if it.Via = page.Via; it.Via == nil && d.kinds[i].IsRequisite() {
				it.Via = d.Page
			}
			if page.HopPath != nil {
				d.hopPath = queued.AppendHop(append(d.hopPath[:0], page.HopPath...), d.kinds[i])
				it.HopPath = d.hopPath
			}
		}
		if foreign {
			d.routed = it // an interface takes it: else each call would put it on the heap
			d.payload = f.Router.Route(d.payload, &d.routed)
			sent++
		} else {
			d.payload = queued.Append(d.payload[:0], &it)
			f.Sieve.Add(fp, d.payload)
			urgent = urgent || queued.IsUrgent(d.payload)
			sieved++
		}
		f.Cache.Put(fp)
	}
	if urgent {
		notify.Send(f.UrgentAdded)
	}
	f.Counters.URLsFound.Add(d.found)
	if d.refused != [refusals]int64{} {
		f.Counters.DroppedDepth.Add(d.refused[TooDeep])
		f.Counters.DroppedLong.Add(d.refused[TooLong])
		f.Counters.DroppedScope.Add(d.refused[ExcludedByList] + d.refused[ExcludedByRule] + d.refused[OutOfScope])
	}
	if known := int64(len(d.fingerprints)) - sieved - sent; known > 0 {
		f.Counters.DroppedCache.Add(known)
	}
	if sent > 0 {
		f.Counters.Sent.Add(sent)
	}
	if sieved > 0 {
		f.Counters.Sieved.Add(sieved)
	}
}

// Unfollowed counts links that the follow filter refused.
func (f *Frontier) Unfollowed(n int) {
	f.Counters.URLsFound.Add(int64(n))
	f.Counters.DroppedFollow.Add(int64(n))
}

// SkippedOfNear counts links of a near-duplicate, which are not followed.
func (f *Frontier) SkippedOfNear(n int) {
	f.Counters.URLsFound.Add(int64(n))
	f.Counters.DroppedNear.Add(int64(n))
}

// Refuse counts references that are not offered.
func (f *Frontier) Refuse(r links.Refused) {
	f.Counters.URLsFound.Add(int64(r.Syntax + r.Foreign + r.Long + r.Hook))
	f.Counters.DroppedSyntax.Add(int64(r.Syntax))
	f.Counters.DroppedScheme.Add(int64(r.Foreign))
	f.Counters.DroppedLong.Add(int64(r.Long))
	f.Counters.DroppedHook.Add(int64(r.Hook))
}
