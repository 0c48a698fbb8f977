package gaps

import (
	"orbweaver/engine/net/robots"
	"orbweaver/engine/page/robotsanswer"
	"orbweaver/engine/records/capture"
	"orbweaver/internal/outcome"
	"orbweaver/internal/urlx"
	"orbweaver/warc"
)

// redirect is a robots.txt that redirects, also to another site. Then its rules are those of the next answer of the
// target. If it is not followed (robotsanswer.Chains), the Crawl-delay of such a site is unknown.
type redirect struct {
	site uint64 // that it belongs to
	hops int
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
			r.redirects.Expect(url, from)
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
