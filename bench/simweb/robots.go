package simweb

import (
	"strconv"
	"time"
)

// robotsKind is how a host answers for robots.txt.
type robotsKind uint8

const (
	robotsNone robotsKind = iota // 404
	robotsAllowAll
	robotsRules
	robotsCrawlDelay
	robotsForbidden // 403, which allows
	robotsRedirect  // to a file on another host
	robotsSlow
	robotsHuge // what is past 500 KiB would deny all
	robotsHTML // a page with status 200: no rules
	// From here on nothing of the host may be fetched.
	robotsDenyAll
	robotsError
	robotsUnavailable
	robotsReset
)

// rules says that the file has rules on some pages' areas.
func (k robotsKind) rules() bool { return k == robotsRules || k == robotsRedirect }

// denies says that no page of the host may be fetched.
func (k robotsKind) denies() bool { return k >= robotsDenyAll }

// Robots holds the share of hosts with each kind of robots.txt; the rest has none (404). The shares add up to at most 1.
// Kinds that deny the whole host are drawn only for hosts that no other hangs on; elsewhere they are read as AllowAll.
type Robots struct {
	AllowAll    float64
	Rules       float64 // groups, longest match, wildcards: see robots.go for the rules
	CrawlDelay  float64 // allows all, asks for Timing.CrawlDelay
	Forbidden   float64 // 403: allows all
	Redirect    float64 // 302 to a file on another host that allows all but the areas
	Slow        float64 // allows all, takes Timing.Slow
	Huge        float64 // 600 KiB; a rule past 500 KiB that denies all does not count
	HTML        float64 // a page with status 200
	DenyAll     float64
	Error       float64 // 500
	Unavailable float64 // 503
	Reset       float64 // connection reset
}

func robotsTable(r Robots) ([]share, error) {
	return drawTable("robots", []rate{
		{r.AllowAll, uint8(robotsAllowAll)}, {r.Rules, uint8(robotsRules)}, {r.CrawlDelay, uint8(robotsCrawlDelay)},
		{r.Forbidden, uint8(robotsForbidden)}, {r.Redirect, uint8(robotsRedirect)}, {r.Slow, uint8(robotsSlow)},
		{r.Huge, uint8(robotsHuge)}, {r.HTML, uint8(robotsHTML)}, {r.DenyAll, uint8(robotsDenyAll)},
		{r.Error, uint8(robotsError)}, {r.Unavailable, uint8(robotsUnavailable)}, {r.Reset, uint8(robotsReset)},
	})
}

// robotsOf draws a host's kind of robots.txt.
func (w *World) robotsOf(i int) robotsKind {
	k := robotsKind(draw(w.robots, w.hash(saltRobots, i, 0)))
	if k.denies() && !w.leafHost(i) {
		return robotsAllowAll
	}
	return k
}

// robotsHome is the host that keeps the robots.txt of host i, if that redirects.
func (w *World) robotsHome(i int) int { return w.away(w.hash(saltRobots, i, 1)) }

// crawlDelay is what the host's robots.txt asks for.
func (w *World) crawlDelay(h *host) time.Duration {
	if h.robots == robotsCrawlDelay {
		return w.c.Timing.CrawlDelay
	}
	return 0
}

// areaRules are the rules that the areas of pages are about. The order must not matter, and the longest match wins.
const areaRules = "Disallow: /private/\nAllow: /private/open/\nDisallow: /*.secret$\nDisallow: /*/hidden/\n"

// robotsLimit is what a crawler has to read of a robots.txt.
const robotsLimit = 500 << 10

// appendRobots appends the file of host i as it is when it can be had.
func (w *World) appendRobots(dst []byte, i int) []byte {
	k := w.robotsOf(i)
	switch k {
	case robotsRules, robotsRedirect:
		return w.appendRules(dst, i)
	case robotsCrawlDelay:
		dst = append(dst, "User-agent: *\nCrawl-delay: "...)
		dst = strconv.AppendFloat(dst, w.c.Timing.CrawlDelay.Seconds(), 'g', -1, 64)
		return append(dst, "\nDisallow:\n"...)
	case robotsDenyAll:
		return append(dst, "User-agent: *\nDisallow: /\n"...)
	case robotsHTML:
		return append(dst, "<!DOCTYPE html><html><head><title>Not here</title></head><body><p>Nothing here: see "+
			"the <a href=\"/\">start</a>.</p></body></html>\n"...)
	case robotsHuge:
		dst = append(dst, "User-agent: *\nDisallow: /nothing/\n"...)
		for n := 0; len(dst) < robotsLimit+50<<10; n++ {
			dst = append(dst, "# filler to make this file as long as no file should be, line "...)
			dst = strconv.AppendInt(dst, int64(n), 10)
			dst = append(dst, '\n')
		}
		dst = append(dst, "Disallow: /\n"...)
		for len(dst) < robotsLimit+100<<10 {
			dst = append(dst, "# and more\n"...)
		}
		return dst
	}
	return append(dst, "User-agent: *\nDisallow:\n"...)
}

// appendRules writes the same rules in one of the ways they are found in the wild.
func (w *World) appendRules(dst []byte, i int) []byte {
	switch w.hash(saltRobots, i, 2) % 6 {
	case 0:
		return append(append(dst, "User-agent: *\n"...), areaRules...)
	case 1: // our group beside a general one that must not be used
		dst = append(dst, "User-agent: *\nDisallow: /\n\nUser-Agent: "...)
		return append(append(append(dst, w.c.Agent...), '\n'), areaRules...)
	case 2: // two groups for us, to be merged, with another's between
		dst = append(append(dst, "user-agent: "...), w.c.Agent...)
		dst = append(dst, "\nDisallow: /private/\nAllow: /private/open/\n\nUser-agent: otherbot\nDisallow: /\n\nUser-agent: "...)
		return append(append(dst, w.c.Agent...), "\nDisallow: /*.secret$\nDisallow: /*/hidden/\n"...)
	case 3: // byte order mark and CRLF
		dst = append(dst, "\xef\xbb\xbfUser-agent: *\r\nAllow: /private/open/\r\nDisallow: /private/\r\n"...)
		return append(dst, "Disallow: /*/hidden/\r\nDisallow: /*.secret$\r\n"...)
	case 4: // comments, spaces, unknown lines, a shared group
		dst = append(dst, "# rules\n\nSitemap: /nothing.xml\nUser-agent: otherbot\nUser-agent: *\n  disallow : /private/ # all\n"...)
		return append(dst, "Noindex: /\nALLOW: /private/open/\nDisallow: /*.secret$\nDisallow: /*/hidden/*\nnonsense\n"...)
	}
	// percent-encoded letters are the same letters
	dst = append(dst, "User-agent: *\nDisallow: /pr%69vate/\nAllow: /private/op%65n/\n"...)
	return append(dst, "Disallow: /*.secret$\nDisallow: /*/hidden/"...)
}
