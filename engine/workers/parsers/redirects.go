package parsers

import (
	"bytes"
	"fmt"
	"strconv"

	"github.com/zeebo/xxh3"

	"orbweaver/engine/frontier/links"
	"orbweaver/engine/net/fetch"
	"orbweaver/engine/page/filter"
	"orbweaver/engine/state/attempt"
	"orbweaver/engine/state/queued"
	"orbweaver/internal/outcome"
	"orbweaver/internal/urlx"
)

// redirectsMost is how many redirects in a row are followed.
const redirectsMost = 10

// followRedirect takes the target of a redirect as the one link of the Page. After too many redirects it changes the
// outcome of the attempt. If the target is asked again, the attempt counts as tried again.
func (x *extractor) followRedirect(p *fetch.Page, a *attempt.Attempt, way filter.Way) {
	switch {
	case a.Redirects+1 > redirectsMost:
		a.Outcome = outcome.TooManyRedirects
	case x.bounces(p, a):
		a.WillRetry = true
	default:
		x.finder.Open(links.Page{URL: a.URL, Page: p, Way: way})
		x.finder.Redirect(a.URL, p.Head().Location())
	}
}

// A site may want a cookie before it shows a page: the page redirects to itself, or to a check that sets the cookie and
// redirects back. The page is known then, so the sieve would drop it. Its answer depends on the cookie, so it is asked
// again in place of the URL that redirects. That URL counts as tried again, and its item becomes the item of the page.
//
// All is within the limit of redirects of a chain. A page that chains lead back to is asked again bouncesMost times at
// most, so that a site which sets a new cookie with each answer does not have its start page fetched without end.

// bounce is a redirect back to a URL that was asked before.
type bounce struct{ url, item []byte }

// bouncesMost is how often chains may lead back to a URL.
const bouncesMost = 3

// bounces reports whether the target of a redirect is asked again, and fills x.bounce. It notes URLs that redirect.
func (x *extractor) bounces(p *fetch.Page, a *attempt.Attempt) bool {
	if a.SetsCookie { // few redirects do, so that the others cost no look at their target
		target, err := urlx.Resolve(nil, a.URL, p.Head().Location())
		if err == nil && (bytes.Equal(target, a.URL) || x.mayReturn(target)) {
			it := queued.MustDecode(a.Item)
			_, path := urlx.Split(target)
			it.Rest, it.Redirects, it.Tries = path, a.Redirects+1, 0
			x.bounce = bounce{target, queued.Append(nil, &it)}
			return true
		}
	}
	x.crawl.Parsed.Put(x.bounceKey(a.URL, 0))
	return false
}

// mayReturn reports whether a URL has redirected before, and was not asked again too often. It counts.
func (x *extractor) mayReturn(url []byte) bool {
	if !x.crawl.Parsed.Seen(x.bounceKey(url, 0)) {
		return false
	}
	for n := 1; n <= bouncesMost; n++ {
		if key := x.bounceKey(url, n); !x.crawl.Parsed.Seen(key) {
			x.crawl.Parsed.Put(key)
			return true
		}
	}
	return false
}

// bounceKey is the place of a URL in the memo: 0 for one that has redirected, n for one that was asked again n times.
func (x *extractor) bounceKey(url []byte, n int) xxh3.Uint128 {
	x.scratch = append(append(strconv.AppendInt(x.scratch[:0], int64(n), 10), " redirect "...), url...)
	return urlx.Fingerprint(x.crawl.HashSeed, x.scratch)
}

// putAgain puts the target of a redirect to the front of its site, in the step that writes the redirect. If the site is
// dead, the URL has its outcome.
func (w *Worker) putAgain(a *attempt.Attempt, b *bounce) error {
	ok, err := w.crawl.Sites.PutFront(b.url, b.item)
	if err != nil {
		return fmt.Errorf("parsers: redirect: %w", err)
	}
	if !ok {
		it := queued.MustDecode(b.item)
		w.crawl.Log.Refusal(b.url, &it, outcome.SiteGone, a.Worker)
		w.crawl.Journal.Count.Finish(outcome.SiteGone, 1)
	}
	w.crawl.InFlight.Remove(a)
	return nil
}
