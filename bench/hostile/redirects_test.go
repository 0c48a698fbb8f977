package hostile

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"orbweaver/engine"
	"orbweaver/engine/net/cookie"
	"orbweaver/internal/outcome"
)

// Rings are seen by the set of known URLs, and long ones end at ten hops before that. Each hop waits for the turn of
// its own site and address (the oracle holds the outside log against both delays), has its robots.txt asked for, and is
// recorded.
func TestHostile_R01_ringsEndAndEachHopWaitsItsTurn(t *testing.T) {
	play(t, "R01", nil, func(tr *trial) {
		for _, url := range []string{"http://r01.test/self", "http://r01.test/a", "http://r01.test/b"} {
			if all := tr.wants(url, outcome.Redirect); len(all) != 1 {
				tr.Errorf("%s was asked for %d times", url, len(all))
			}
		}
		before := tr.began
		for n := range 11 {
			o := outcome.Redirect
			if n == 10 {
				o = outcome.TooManyRedirects
			}
			ring, host := fmt.Sprintf("http://r01.test/ring/%d", n), fmt.Sprintf("http://n%d.r01.test/", n)
			l := tr.wants(ring, o)[0]
			if gap := l.at.Sub(before); n > 0 && gap < tr.cfg.Politeness.HostDelay {
				tr.Errorf("%s came %v after the hop before", ring, gap)
			}
			before = l.at
			tr.wants(host, o)
			tr.wants(host+"robots.txt", outcome.ClientError)
			tr.record(ring, "")
			tr.record(host, "")
		}
		if more := tr.attempts("http://r01.test/ring/11"); len(more) > 0 {
			t.Error("an eleventh hop")
		}
	})
}

// http leads to https, that sets a cookie and leads back: the third hop is a URL that is known. A crawler
// that sends the cookie to its own scheme only, as ours does, never gets the page. The log has both redirects, and
// the report says why it ended there.
func TestHostile_R03_aRingOfSchemesIsCutAndCounted(t *testing.T) {
	for _, cookies := range []bool{false, true} {
		change := func(c *engine.Config) {
			if cookies {
				c.Cookies.Mode = cookie.Site
			}
		}
		playSecure(t, "R03", change, func(tr *trial) {
			for _, url := range []string{"http://r03.test/", "https://r03.test/"} {
				if all := tr.wants(url, outcome.Redirect); len(all) != 1 {
					tr.Errorf("%s was asked for %d times", url, len(all))
				}
				tr.record(url, "")
			}
			if tr.report.Dropped["seen-cache"] == 0 {
				tr.Errorf("the ring is not counted: %v", tr.report.Dropped)
			}
		})
	}
}

// What a Location says is read as the URL standard reads it, and what has no normal form is dropped and counted. An
// empty one is no redirect, where a browser would take it for one to the same page: it comes to the same.
func TestHostile_R04_aLocationIsReadAsBrowsersDoOrDropped(t *testing.T) {
	want := []string{
		0: "", 1: "http://r04.test/relative", 2: "http://x.r04.test/slashes", 3: "http://x.r04.test/backslashes",
		4: "http://x.r04.test/three",
		5: "http://x.r04.test/mixed", 6: "", 7: "http://r04.test/a%01b%1Bc", 8: "http://r04.test/tabinside",
		9:  "http://xn--bcher-kva.r04.test/",
		10: "http://r04.test/caf%E9", 11: "http://r04.test/fragment", 12: "http://r04.test/12?query", 13: "", 14: "", 15: "",
		16: "", 17: "",
		18: "http://x.r04.test/case", 19: "http://r04.test/%0d%0aX-Evil:%201",
	}
	if len(want) != len(oddLocations) {
		t.Fatal("the table is not that of the case")
	}
	play(t, "R04", nil, func(tr *trial) {
		targets := 0
		for n, url := range want {
			o := outcome.Redirect
			if n == 0 {
				o = outcome.OtherStatus
			}
			tr.wants(fmt.Sprintf("http://r04.test/%d", n), o)
			if url != "" {
				targets++
				tr.wants(url, outcome.OK)
			}
		}
		asked := map[string]bool{}
		for _, l := range tr.lines {
			if strings.Contains(l.url, "r04.test") && !strings.HasSuffix(l.url, "/robots.txt") {
				asked[l.url] = true
			}
		}
		if len(asked) != 1+len(want)+targets {
			tr.Errorf("%d URLs were asked for, want %d: %v", len(asked), 1+len(want)+targets, asked)
		}
		if long, syntax := tr.dropped("too-long"), tr.dropped("syntax"); long != 1 || syntax != 4 {
			tr.Errorf("dropped: %d too long, %d for their syntax", long, syntax)
		}
	})
}

// No other scheme is followed; each is counted.
func TestHostile_R05_otherSchemesAreNotFollowed(t *testing.T) {
	play(t, "R05", nil, func(tr *trial) {
		for n := range foreignLocations {
			tr.wants(fmt.Sprintf("http://r05.test/%d", n), outcome.Redirect)
		}
		for _, l := range tr.lines {
			if strings.HasSuffix(l.url, "/no") || strings.Contains(l.url, "passwd") ||
				!strings.HasPrefix(l.url, "http://") {
				tr.Errorf("asked for %s", l.url)
			}
		}
		if n := tr.dropped("scheme"); n != int64(len(foreignLocations)) {
			tr.Errorf("%d counted, want %d", n, len(foreignLocations))
		}
	})
}

// Five statuses redirect, as the Fetch standard has them; the Location of any other is no link. The target of a Refresh
// field or element is a link: it takes a depth more, and no hop.
func TestHostile_R07_statusesByTheStandardAndARefreshIsALink(t *testing.T) {
	play(t, "R07", nil, func(tr *trial) {
		for status, goes := range moved {
			from := fmt.Sprintf("http://r07.test/%d", status)
			o := outcome.OtherStatus
			switch {
			case goes:
				o = outcome.Redirect
				tr.wants(fmt.Sprintf("http://r07.test/from-%d", status), outcome.OK)
			case status == 201:
				o = outcome.OK
			case status == 304:
				o = outcome.Unasked
			}
			tr.wants(from, o)
			if got := tr.attempts(fmt.Sprintf("http://r07.test/from-%d", status)); !goes && len(got) > 0 {
				tr.Errorf("the Location of a %d was asked for", status)
			}
		}
		for _, name := range []string{"header", "empty", "meta"} {
			tr.wants("http://r07.test/"+name, outcome.OK)
			if l := tr.wants("http://r07.test/from-"+name, outcome.OK)[0]; l.way != "LL" {
				tr.Errorf("the way to what %s refreshes to is %s, want LL", name, l.way)
			}
		}
		if l := tr.wants("http://r07.test/alone", outcome.OK); len(l) != 1 {
			tr.Errorf("a page that reloads itself was asked for %d times", len(l))
		}
	})
}

// Each hop is a URL of its own, and longer than the one before.
func TestHostile_R02_aGrowingChainEndsAtTheHopLimit(t *testing.T) {
	play(t, "R02", nil, func(tr *trial) {
		hops, last := 0, ""
		for _, l := range tr.lines {
			if strings.HasPrefix(l.url, "http://r02.test/") && !strings.HasSuffix(l.url, "/robots.txt") {
				hops, last = hops+1, l.outcome
			}
		}
		if hops != 11 || last != outcome.TooManyRedirects.String() {
			tr.Errorf("%d requests, the last with outcome %s", hops, last)
		}
		if took := tr.lines[len(tr.lines)-1].at.Sub(tr.began); took > 5*time.Minute {
			tr.Errorf("the crawl took %v", took)
		}
	})
}
