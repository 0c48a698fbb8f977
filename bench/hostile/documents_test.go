package hostile

import (
	"bytes"
	"strings"
	"testing"

	"orbweaver/engine"
	"orbweaver/internal/outcome"
)

// bodyOf is what the archive has of a URL, without the head.
func (tr *trial) bodyOf(url, truncated string) []byte {
	tr.Helper()
	_, body, _ := bytes.Cut(tr.record(url, truncated).Block, []byte("\r\n\r\n"))
	return body
}

// finds says that links were found, and that none was that is called /no or /no-..., since that is none.
func (tr *trial) finds(host string, paths ...string) {
	tr.Helper()
	for _, path := range paths {
		tr.wants("http://"+host+path, outcome.OK)
	}
	for _, l := range tr.lines {
		if path, ours := strings.CutPrefix(l.url, "http://"+host+"/no"); ours && (path == "" || path[0] == '-') {
			tr.Errorf("%s was found, and is no link", l.url)
		}
	}
}

// A million nested elements are stepped over one after the other: there is no tree. What is behind them is found, and
// the archive has every byte.
func TestHostile_P01_whatIsBehindAMillionElementsIsFound(t *testing.T) {
	large := func(c *engine.Config) { c.Fetch.BodyMax = 16 << 20 }
	play(t, "P01", large, func(tr *trial) {
		for name, body := range nested {
			tr.finds("p01.test", "/"+name, "/end-"+name)
			if !bytes.Contains(tr.bodyOf("http://p01.test/"+name, ""), []byte(body())) {
				tr.Errorf("/%s is not stored as it was sent", name)
			}
		}
	})
}

// What is opened and never closed swallows what follows, as it does in a browser: that is no link that a user could
// click on. What is closed at last, even after a megabyte, swallows no more than a browser would let it. A page is cut
// at --max-body.
func TestHostile_P02_whatIsNotClosedEndsWhereABrowserEndsIt(t *testing.T) {
	play(t, "P02", nil, func(tr *trial) {
		for name := range unclosed {
			tr.finds("p02.test", "/"+name, "/before-"+name)
			after := "http://p02.test/after-" + name
			// In HTML a CDATA section is a comment that ends at the next >, which here is the end of the link's tag; a
			// tag in which a tag begins takes it for the name of an attribute, and so are both swallowed.
			found := name == "attribute" || name == "closed"
			if got := tr.attempts(after); found != (len(got) > 0) {
				tr.Errorf("%s: found %v, want %v", after, !found, found)
			}
		}
		tr.wants("http://p02.test/endless", outcome.TruncatedLength)
		tr.finds("p02.test", "/before-endless")
		if n := len(tr.bodyOf("http://p02.test/endless", "length")); n != 2<<20 {
			tr.Errorf("%d bytes are stored of a body that is too long", n)
		}
	})
}

// Links that lead nowhere a crawl can go are counted, however they are spelt.
func TestHostile_P05_otherSchemesAreCountedAndDropped(t *testing.T) {
	play(t, "P05", nil, func(tr *trial) {
		tr.finds("p05.test", "/", "/good")
		if n, want := tr.dropped("scheme"), int64(len(foreignLinks)+1); n != want {
			tr.Errorf("%d are counted, want %d", n, want)
		}
		for _, l := range tr.lines {
			if strings.Contains(l.url, "p05.test") && !strings.HasPrefix(l.url, "http://p05.test/") {
				tr.Errorf("asked for %s", l.url)
			}
		}
	})
}

// Of a million links the first 20,000 are taken, and the others counted as far as the page is searched: its first
// 16 MiB.
func TestHostile_P06_linksBeyondTheLimitAreCounted(t *testing.T) {
	few := func(c *engine.Config) {
		c.Fetch.BodyMax = 64 << 20
		c.Filters.Follow = `kind != "anchor" || host != "p06.test" || path == "/0" || path == "/19999"`
	}
	play(t, "P06", few, func(tr *trial) {
		tr.finds("p06.test", "/", "/0", "/19999")
		if n, partly := tr.dropped("links-per-page"), tr.report.PagesPartlyParsed; n != 714_269 || partly != 1 {
			tr.Errorf("%d links are counted as too many, %d pages are searched in part", n, partly)
		}
		if n := tr.report.Dropped["follow"]; n != 19_998 {
			tr.Errorf("%d links were offered and not followed", n)
		}
		if n := len(tr.bodyOf("http://p06.test/", "")); n < 20_000_000 {
			tr.Errorf("%d bytes are stored", n)
		}
	})
}

// A page is read by what the standard makes of its words about itself; the archive has its bytes, whatever was made of
// them.
func TestHostile_P08_pagesThatLieAboutTheirCharsetAreReadByTheStandardAndKeptAsTheyAre(t *testing.T) {
	play(t, "P08", nil, func(tr *trial) {
		for name, body := range liarBodies {
			tr.wants("http://p08.test/"+name, outcome.OK)
			if got := tr.bodyOf("http://p08.test/"+name, ""); string(got) != body {
				tr.Errorf("/%s is not stored as it was sent: %q", name, got)
			}
		}
		tr.finds(
			"p08.test",
			"/yes-utf7",
			"/yes-%C3%A9",
			"/yes-late-%D0%B0",
			"/yes-early-%D0%B0",
			"/yes-mixed-%EF%BF%BD",
			"/yes-mixed-%C3%BC",
			"/yes-bom-%C3%BC",
			"/yes-nonsense-%C3%BC",
		)
	})
}

// XML is read as tags and nothing else: what a document type declares is stepped over, and nothing is loaded that no
// element links to.
func TestHostile_P09_nothingIsExpandedOrLoaded(t *testing.T) {
	play(t, "P09", nil, func(tr *trial) {
		tr.finds(
			"p09.test",
			"/laughs",
			"/yes-laughs",
			"/a-&l29;",
			"/external",
			"/yes-external",
			"/namespaces",
			"/yes-namespaces",
			"/feed",
			"/yes-feed",
		)
		for _, l := range tr.lines {
			if strings.HasPrefix(l.url, "http://dtd.") || strings.Contains(l.url, "passwd") ||
				strings.Contains(l.url, "haha") {
				tr.Errorf("asked for %s", l.url)
			}
		}
		if !bytes.Contains(tr.bodyOf("http://p09.test/laughs", ""), []byte("<!ENTITY l29 ")) {
			tr.Error("the document is not stored as it was sent")
		}
	})
}

// Style sheets that import each other, and a playlist that lists itself, are fetched once each, since a URL is. JSON is
// not searched for links here, so that its depth costs nothing.
func TestHostile_P11_whatRefersToItselfIsFetchedOnce(t *testing.T) {
	play(t, "P11", nil, func(tr *trial) {
		for _, path := range []string{"/", "/a.css", "/b.css", "/deep.json", "/list.m3u8"} {
			if all := tr.wants("http://p11.test"+path, outcome.OK); len(all) != 1 {
				tr.Errorf("%s was asked for %d times", path, len(all))
			}
			tr.record("http://p11.test"+path, "")
		}
		tr.finds("p11.test")
	})
}

// A page of 20,000 short links against a long base costs as many bytes of URLs as its own size allows. Each link is
// taken or counted, and a copy of the page, whose links are in the journal, costs no more.
func TestHostile_P13_linksMadeLongByTheirBaseAreBounded(t *testing.T) {
	few := func(c *engine.Config) {
		c.Filters.Follow = `host != "p13.test" || path == "/8000" || path == "/1900" || path == "/copy"`
	}
	play(t, "P13", few, func(tr *trial) {
		tr.finds("p13.test", "/", "/8000", "/1900", "/copy")
		long, many, refused := tr.dropped("too-long"), tr.dropped("link-bytes-per-page"), tr.dropped("follow")
		if long+many+refused != 3*20_000 || long == 0 || long > 1000 || refused > 6000 {
			tr.Errorf(
				"%d links are too long, %d have no room, %d are not followed: want 60,000 together",
				long,
				many,
				refused,
			)
		}
		for _, path := range []string{"/8000", "/1900", "/copy"} {
			if note := tr.wants("http://p13.test"+path, outcome.OK)[0].note; !strings.Contains(note, "links-dropped:") {
				tr.Errorf("crawl.log says %q of %s", note, path)
			}
		}
	})
}
