package fetchers

import (
	"slices"
	"testing"
	"time"

	"orbweaver/engine/net/cookie"
	"orbweaver/engine/net/fetch"
	"orbweaver/engine/net/login"
	"orbweaver/engine/state/attempt"
	"orbweaver/engine/store/recrawl"
	"orbweaver/internal/outcome"
)

// pastPass has a capture of each URL, with a validator.
type pastPass struct{ recrawl.FirstPass }

// FillCondition returns the same validator for all URLs.
func (pastPass) FillCondition(c *recrawl.Condition, _ []byte) bool {
	c.IfNoneMatch, c.Previous.RecordID = []byte(`"v1"`), [16]byte{1}
	return true
}

// newRequest returns a request of a crawl that keeps cookies, and has one for http://a.test.
func newRequest() *request {
	jars := cookie.NewJars(1<<20, new(cookie.Presets))
	jars.Take([]byte("http://a.test/"), slices.Values([][]byte{[]byte("a=1; Path=/")}), time.Now())
	return &request{Identity: Identity{Jars: jars, Logins: new(login.Logins), Previous: pastPass{}}}
}

// Cookies go with pages and proofs, and conditions with the first tries of pages. A robots.txt is asked for
// without either. A connection that is kept serves only the first try of a page.
func TestRequest_hasWhatItsKindMayHave(t *testing.T) {
	for name, c := range map[string]struct {
		kind                             requestKind
		tries                            int
		cookie                           string
		isConditional, isRobots, isFresh bool
	}{
		"page":       {pageRequest, 0, "a=1", true, false, false},
		"second try": {pageRequest, 1, "a=1", true, false, true},
		"third try":  {pageRequest, recrawl.ConditionalTries, "a=1", false, false, true},
		"root page":  {rootRequest, 0, "a=1", false, false, true},
		"robots.txt": {robotsRequest, 0, "", false, true, true},
		"its target": {targetRequest, 0, "", false, true, true},
	} {
		r, k, a := newRequest(), new(current), new(attempt.Attempt)
		k.begin(visitOf(known(), "/page"), true)
		k.beginItem(0)
		k.kind, k.queued.Tries = c.kind, c.tries
		a.Begin(k.item, k.url, &k.queued)
		r.fill(k, a)
		to := &r.target
		if string(to.Cookie) != c.cookie || r.isConditional() != c.isConditional || to.Robots != c.isRobots ||
			to.Fresh != c.isFresh || a.Previous.IsNone() == c.isConditional {
			t.Errorf("%s: cookie %q, conditional %v, %+v", name, to.Cookie, r.isConditional(), to)
		}
		if string(to.Host) != "a.test" || to.Addr.String() != "192.0.2.1:80" {
			t.Errorf("%s: to %s at %v", name, to.Host, to.Addr)
		}
		r.proxy, k.kind = true, robotsRequest
		if r.fill(k, a); to.Addr.IsValid() || to.Cookie != nil || r.isConditional() {
			t.Errorf("%s: the next request, behind a proxy: %+v", name, to)
		}
	}
}

// A redirect within the site that changes the cookies of its target may lead back to the same URL.
func TestRequest_keepsCookiesAndTellsWhoseChange(t *testing.T) {
	for _, c := range []struct {
		location, set string
		o             outcome.Outcome
		changes       bool
	}{
		{"/page", "b=2; Path=/", outcome.Redirect, true},
		{"/page", "a=1; Path=/", outcome.Redirect, false},
		{"/page", "b=2; Path=/other", outcome.Redirect, false},
		{"http://b.test/page", "b=2; Path=/", outcome.Redirect, false},
		{"ftp://a.test/", "b=2; Path=/", outcome.Redirect, false},
		{"/page", "b=2; Path=/", outcome.ClientError, false},
	} {
		r := newRequest()
		p, _ := fetch.Stored([]byte("http://a.test/page"), []byte("HTTP/1.1 302 Found\r\nLocation: "+c.location+
			"\r\nSet-Cookie: "+c.set+"\r\nContent-Length: 0\r\n\r\n"))
		if got := r.keepCookies(p, c.o); got != c.changes {
			t.Errorf("%v to %s with %q: %v", c.o, c.location, c.set, got)
		}
		if kept := r.Jars.Append(nil, []byte("http://a.test/other"), time.Now()); c.set[0] == 'b' && string(kept) == "a=1" {
			t.Errorf("%v to %s: %q is not kept", c.o, c.location, c.set)
		}
	}
}
