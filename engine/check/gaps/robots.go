package gaps

import (
	"github.com/zeebo/xxh3"

	"orbweaver/engine/net/robots"
	"orbweaver/engine/page/robotsanswer"
	"orbweaver/engine/records/capture"
	"orbweaver/internal/outcome"
	"orbweaver/internal/urlx"
	"orbweaver/warc"
)

// A robots.txt may redirect, also to another site. Then its rules are those of the next answer of the target, as in
// package rebuild. What redirects have led to an expected answer is lost if there are more than redirectsMax: the
// Crawl-delay of such a site is unknown.

// redirectsMax is the number of redirects of robots.txt files whose target was not read yet.
const redirectsMax = 1 << 18

// redirect is a robots.txt that redirects.
type redirect struct {
	site uint64 // that it belongs to
	hops int
}

// redirects holds the expected answers, by the hash of their URL.
type redirects struct {
	expected map[uint64][]redirect
	count    int
}

// cut removes and returns the first redirect that leads to a URL.
func (r *redirects) cut(url []byte) (first redirect, ok bool) {
	if r.count == 0 {
		return first, false
	}
	hash := xxh3.Hash(url)
	waiting := r.expected[hash]
	if len(waiting) == 0 {
		return first, false
	}
	if r.count--; len(waiting) == 1 {
		delete(r.expected, hash)
	} else {
		r.expected[hash] = waiting[1:]
	}
	return waiting[0], true
}

// add expects the answer of a URL.
func (r *redirects) add(url []byte, from redirect) {
	if r.count == redirectsMax {
		return
	}
	if r.expected == nil {
		r.expected = map[uint64][]redirect{}
	}
	hash := xxh3.Hash(url)
	r.count++
	r.expected[hash] = append(r.expected[hash], from)
}

// announcement is what an exchange says of the Crawl-delay of a site, which may be another one.
type announcement struct {
	site  uint64
	delay int64
}

// robots reads a robots.txt, or what the one of from redirects to.
func (r *reader) robots(rec *warc.RecordRead, from redirect) error {
	c, err := capture.Read(rec)
	if err != nil || c.Page == nil {
		return err
	}
	r.report.RobotsFiles++
	r.announced = announcement{from.site, r.crawlDelay(&c, from)}
	r.retryAfter(c.Status, c.Page.Head(), true)
	return nil
}

// crawlDelay returns what a robots.txt announces.
func (r *reader) crawlDelay(c *capture.Capture, from redirect) int64 {
	if c.Outcome == outcome.Redirect && from.hops < robots.RedirectsMax {
		if url, err := urlx.Resolve(nil, r.url, c.Page.Head().Location()); err == nil {
			from.hops++
			r.redirects.add(url, from)
			return unknownDelay
		}
	}
	ruling := robotsanswer.Of(c.Page, c.Outcome, from.hops, r.decoder)
	rules := ruling.Parse(r.o.Agent)
	if rules == nil {
		return noDelay // the copy before stays in use
	}
	delay, _ := rules.CrawlDelay()
	return delay.Microseconds()
}
