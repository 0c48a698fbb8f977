package attempt

import (
	"time"

	"github.com/zeebo/xxh3"

	"orbweaver/engine/net/fetch"
	"orbweaver/engine/net/robots"
	"orbweaver/engine/records/capture"
	"orbweaver/engine/records/dedup"
	"orbweaver/engine/state/queued"
	"orbweaver/internal/invariants"
	"orbweaver/internal/outcome"
	"orbweaver/warc"
)

// Attempt is what the engine knows about one try to fetch a URL, beside the Page that holds the exchange. Each Page has
// one Attempt, which Begin fills for each exchange, so that its buffers are reused. The holder of the Page owns both.
type Attempt struct {
	queued.Hops
	Exchange

	Item []byte // encoded queued.URL; own copy

	URL         []byte // normal form; own copy
	Fingerprint xxh3.Uint128
	IsRobots    bool // a robots.txt, or a robots redirect
	WillRetry   bool // the URL is tried again: its item was returned with the Visit
	// a request of the root page that shows whether a failing site serves pages; WillRetry is true too
	IsProbe     bool
	Called      queued.Called
	Seed        bool
	Delayed     bool // from queued.URL
	FirstOfSite bool // the first page of its site
	OfSite      int  // the number of the page at its site, from 1; 0 for what is no page
	Tries       int
	Outcome     outcome.Outcome
	Due         Due
	Delays      Delays
	isInFlight  bool // in the set InFlight

	RobotsRule   []byte // number and text of the robots.txt line that allowed the URL; empty if no line did. Own copy
	HopPath, Via []byte // from queued.URL; they borrow Item

	Previous PreviousCapture // the capture that a conditional request refers to; zero for other requests
}

// Exchange is what is known of the exchange beside the Page.
type Exchange struct {
	Worker      int          // that made it
	RobotsFault robots.Fault // why this answer leaves the robots.txt unknown
	Media       Media        // of the response, once the parse worker has looked at it
	Wall        string       // the service whose wall the answer is; "" for none
	HTTP2       string       // the result of a probe by --probe-h2: "403", or "403-lifted"; "" for others
	SetsCookie  bool         // a redirect whose answer changed the cookies of its target, on the same site
}

// Media is the media type of a response: see links.PageType. All is borrowed from the Page or the parse worker.
type Media struct {
	Type      []byte
	IsSniffed bool
	Invalid   []byte
}

// Due is when the site and its address may be asked again.
type Due struct{ Site, IP time.Time }

// Delays are what the archive says about politeness: the delays in force when the exchange ended, and how long site
// and address had been left alone when the exchange began. The audit of package gaps needs them.
type Delays struct {
	Host, IP time.Duration // without Crawl-delay, which the stored robots.txt says
	Group    string        // of hosts, which takes the place of the address; "" for none
	CrawlMax time.Duration // the longest Crawl-delay that is obeyed
	// Idle and IPIdle are the times since the previous exchange of the site and of the address, whether it has a record
	// or not; below 0 if unknown.
	Idle, IPIdle time.Duration
}

// PreviousCapture is an earlier capture of the URL: its WARC record and where it is stored.
type PreviousCapture struct {
	dedup.First
	Digest *dedup.Digest // of its payload; nil if unknown
	Place  capture.Place
}

// IsNone reports whether there is no previous capture.
func (e *PreviousCapture) IsNone() bool { return e.RecordID == [16]byte{} }

// NewPreviousCapture describes a response record with a payload. It copies what it needs from rec except PayloadDigest,
// which it takes.
func NewPreviousCapture(rec *warc.RecordRead, at capture.Place) PreviousCapture {
	return PreviousCapture{
		First: dedup.First{
			RecordID: rec.ID,
			URI:      string(rec.TargetURI),
			Date:     rec.Date,
		}, Digest: (*dedup.Digest)(rec.PayloadDigest), Place: at,
	}
}

// Of returns the Attempt of a Page. It creates one at the first use of the Page.
func Of(p *fetch.Page) *Attempt {
	f, ok := p.Engine.(*Attempt)
	if !ok {
		f = new(Attempt)
		p.Engine = f
	}
	return f
}

// Begin fills a for a new exchange. It copies item, the encoded form of it, and url, its normal form.
func (a *Attempt) Begin(item, url []byte, it *queued.URL) {
	a.Item = append(a.Item[:0], item...)
	a.URL = append(a.URL[:0], url...)
	a.IsProbe = false
	a.IsRobots, a.WillRetry, a.FirstOfSite, a.OfSite = false, false, false, 0
	a.Called = queued.Called{Sitemap: it.Sitemap, ByIndex: it.ListedByIndex}
	a.Seed, a.Delayed = it.Seed, it.Delayed
	a.Hops, a.Tries = queued.HopsOf(it), it.Tries
	a.RobotsRule, a.HopPath, a.Via, a.Previous = a.RobotsRule[:0], nil, nil, PreviousCapture{}
	if it.Via != nil {
		own := queued.MustDecode(a.Item)
		a.HopPath, a.Via = own.HopPath, own.Via
	}
	a.Outcome = outcome.None
	a.Exchange = Exchange{}
	a.Due, a.Delays = Due{}, Delays{Idle: -1, IPIdle: -1}
}

// Mangle overwrites the buffers of an Attempt whose Page is back in its pool (see invariants.Mangle).
func (a *Attempt) Mangle() {
	for _, b := range [...][]byte{a.Item, a.URL, a.RobotsRule} {
		invariants.Mangle(b[:cap(b)])
	}
}

// statusNotModified is the answer to a conditional request whose page is unchanged (RFC 9110, section 15.4.5).
const statusNotModified = 304

// IsUnchanged reports whether p answers a conditional request with 304: the previous capture is still current.
func IsUnchanged(p *fetch.Page, a *Attempt) bool {
	return p.Status == statusNotModified && !a.Previous.IsNone()
}
