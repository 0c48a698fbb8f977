package golden_test

import (
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"sync"

	"orbweaver/internal/simweb"
	"orbweaver/internal/simweb/arrivals"
)

// calendar serves two sites beside the simulated web. Their pages say next to nothing new and lead to ever more of
// their kind, so the crawl delays their URLs and leaves the rest out. The second site asks for a longer delay, so that
// its URLs still wait when those of the first are left out.
type calendar struct {
	mu    sync.Mutex
	asked map[string]int // URL to number of requests
}

const (
	firstCalendar  = "days.test"
	secondCalendar = "weeks.test"
	calendarFan    = 8 // links of a page to further pages
)

func newCalendar() *calendar { return &calendar{asked: map[string]int{}} }

func (*calendar) seeds() []string {
	return []string{"http://" + firstCalendar + "/", "http://" + secondCalendar + "/"}
}

// remember counts the requests of an earlier log.
func (c *calendar) remember(l *arrivals.Log) {
	for a := range l.All() {
		if c.has(a.Host) {
			c.asked[a.URL]++
		}
	}
}

// Host implements simweb.Guest.
func (c *calendar) Host(name string) (address netip.Addr, ok bool) { return netip.Addr{}, c.has(name) }

func (*calendar) has(host string) bool { return host == firstCalendar || host == secondCalendar }

// Serve implements simweb.Guest.
func (c *calendar) Serve(conn net.Conn, r simweb.GuestRequest) simweb.GuestResult {
	c.mu.Lock()
	c.asked["http://"+r.Authority+r.Path]++
	c.mu.Unlock()
	status, body := 200, ""
	site := "http://" + r.Authority
	if n, ok := dayOf(r.Path); ok {
		body = "<!doctype html><title>Day</title><p>Open from nine to five, closed on Sunday.</p>" + links(site, n)
	} else if r.Path == "/robots.txt" && r.Authority == secondCalendar {
		body = "User-agent: *\nCrawl-delay: 0.12\n"
	} else if r.Path == "/" {
		body = "<!doctype html><title>Calendar</title><p>All days.</p><a href=/day/0>first</a>"
	} else {
		status = 404
	}
	reply := simweb.GuestReply{Status: status, Type: "text/html", Body: []byte(body)}
	return reply.Send(conn)
}

func dayOf(path string) (n int, ok bool) {
	text, ok := strings.CutPrefix(path, "/day/")
	n, err := strconv.Atoi(text)
	return n, ok && err == nil
}

func links(site string, n int) string {
	var b strings.Builder
	for _, url := range days(site, n) {
		fmt.Fprintf(&b, "<a href=%s>later</a>", url)
	}
	return b.String()
}

// days returns the URLs that page n of a site links to.
func days(site string, n int) (urls []string) {
	for k := range calendarFan {
		urls = append(urls, site+"/day/"+strconv.Itoa(n*calendarFan+k+1))
	}
	return urls
}

// unknown returns the URLs that fetched pages of the site link to and that were neither asked for nor left out, and
// those asked for twice.
func (c *calendar) unknown(leftOut map[string]bool) (lost, twice []string) {
	for url, n := range c.asked {
		site, path := url[:strings.LastIndex(url, ".test")+len(".test")], url[strings.LastIndex(url, ".test")+len(".test"):]
		if path == "/robots.txt" {
			continue
		}
		if n > 1 {
			twice = append(twice, url)
		}
		day, ok := dayOf(path)
		if !ok {
			continue
		}
		for _, next := range days(site, day) {
			if c.asked[next] == 0 && !leftOut[next] {
				lost = append(lost, next)
			}
		}
	}
	return lost, twice
}
