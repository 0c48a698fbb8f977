package fetchers

import (
	"fmt"
	"testing"
	"time"

	"orbweaver/engine/net/fetch"
	"orbweaver/engine/net/outage"
	"orbweaver/engine/net/politeness"
	"orbweaver/engine/page/wall"
	"orbweaver/engine/state/settings"
	"orbweaver/internal/outcome"
)

func newObserver() *observer {
	warn := func(string, ...any) {}
	return &observer{
		network: outage.NewNetwork(100, warn), way: outage.NewWay(func(host []byte) []byte { return host }, warn),
		walls: wall.NewDetector(), live: settings.NewLive(politeness.Default(), nil), hashSeed: 1,
	}
}

// observed is a Visit with an item, and a Page for it with this head.
func observed(path, head string) (*current, *fetch.Page) {
	c := new(current)
	c.begin(visitOf(known(), path), true)
	c.beginItem(0)
	p, _ := fetch.Stored(c.url, []byte(head+"Content-Length: 0\r\n\r\n"))
	p.Times = fetch.Times{Started: time.Now(), FirstByte: time.Now(), Ended: time.Now()}
	return c, p
}

const toLogIn = "HTTP/1.1 302 Found\r\nLocation: /login\r\n"

// A proxy that asks for a password closes the way to all sites: then failures do not count, and the site waits. An
// answer opens the way again.
func TestObserver_aClosedWayDoesNotCount(t *testing.T) {
	b := newObserver()
	b.proxy = true
	counted := 0
	for i := range 20 {
		c, p := observed(fmt.Sprintf("/%d", i), "HTTP/1.1 407 Password\r\n")
		c.result.Visit.Key = fmt.Appendf(nil, "http://site%d.test", i)
		p.Connection.Way = outcome.WayLocked
		p.Times.Ended = p.Times.Ended.Add(time.Duration(i) * time.Second)
		if b.observe(c, p, outcome.ProxyFault, 1) {
			counted++
		}
		if !c.ofWay {
			t.Errorf("fault %d is not one of the way", i)
		}
	}
	if counted == 0 || counted > 15 {
		t.Errorf("%d of 20 faults count, want the first ones alone", counted)
	}
	c, p := observed("/page", "HTTP/1.1 200 OK\r\n")
	p.Times.FirstByte = p.Times.FirstByte.Add(time.Minute)
	if !b.observe(c, p, outcome.OK, 1) || c.ofWay || !b.way.MayAsk(time.Now()) {
		t.Error("an answer does not open the way")
	}
}

// A site that redirects each URL to its log-in page has a wall. The log-in page itself, later tries of a URL and page
// requisites do not show that.
func TestObserver_findsTheLogInWall(t *testing.T) {
	const urls = 8
	for name, prepare := range map[string]func(c *current){
		"pages":      func(*current) {},
		"retries":    func(c *current) { c.queued.Tries = 1 },
		"requisites": func(c *current) { c.queued.Embeds = 1 },
		"a probe":    func(c *current) { c.kind = rootRequest },
	} {
		b, found := newObserver(), 0
		state := known()
		for i := range urls {
			c, p := observed(fmt.Sprintf("/%d", i), toLogIn)
			c.site = state
			if prepare(c); b.wallOf(c, p, outcome.Redirect) == wall.LogIn {
				found++
			}
			state = c.site
		}
		if name == "pages" && (found == 0 || found == urls) || name != "pages" && found > 0 {
			t.Errorf("%s: %d of %d redirects are a wall", name, found, urls)
		}
		c, p := observed("/login?from=1", toLogIn)
		if c.site = state; b.wallOf(c, p, outcome.Redirect) != "" {
			t.Errorf("%s: the log-in page itself is a wall", name)
		}
	}
}
