package parsers

import (
	"fmt"
	"log/slog"
	"testing"

	"github.com/zeebo/xxh3"

	"orbweaver/engine/frontier/links"
	"orbweaver/engine/net/fetch"
	"orbweaver/engine/page/parse"
	"orbweaver/engine/records/neardup"
	"orbweaver/engine/state/attempt"
	"orbweaver/engine/state/queued"
	"orbweaver/engine/store/journal"
	"orbweaver/internal/outcome"
	"orbweaver/internal/sha1pair"
	"orbweaver/internal/vfs"
	"orbweaver/sieve/fpcache"
)

// memoRig is an extractor that remembers what it has searched.
type memoRig struct{ *extractor }

func newMemoRig() memoRig {
	return memoRig{newExtractor(&Crawl{
		Near: neardup.None{}, Rules: inForce(Rules{Links: links.Options{Sitemaps: true, PDF: true}}),
		Parsed:  fpcache.New(1<<16, 1),
		Journal: journal.NewStore(), Faults: NewFaultFiles(vfs.NewMem(1), "faults", slog.New(slog.DiscardHandler)),
	})}
}

// search extracts the links of an answer, as a parse worker does, and returns how many there are.
func (g memoRig) search(t *testing.T, a attempt.Attempt, fields, body string) (found int) {
	t.Helper()
	a.Outcome = outcome.OK
	return g.searchAnswer(t, a, "200 OK", fields, body)
}

// searchAnswer is search for an answer with another status and outcome.
func (g memoRig) searchAnswer(t *testing.T, a attempt.Attempt, status, fields, body string) (found int) {
	t.Helper()
	answer := fmt.Appendf(nil, "HTTP/1.1 %s\r\n%sContent-Length: %d\r\n\r\n%s", status, fields, len(body), body)
	p, ok := fetch.Stored(a.URL, answer)
	if !ok {
		t.Fatal("no page")
	}
	p.Sum(sha1pair.NewHasher())
	g.extract(p, p, &a)
	if err := journal.EachLink(g.finder.Links, func(parse.Kind, []byte) { found++ }); err != nil {
		t.Fatal(err)
	}
	g.noteParsed()
	return found
}

// The same bytes have other links under another type, character set, coding, address or distance. Nothing but the same
// page is passed over.
func TestExtractor_theSameBytesAreSearchedAgainIfAnythingElseDiffers(t *testing.T) {
	const body, html = "<a href=x>1</a>", "Content-Type: text/html\r\n"
	g := newMemoRig()
	page := func(url string) attempt.Attempt { return attempt.Attempt{URL: []byte(url)} }
	deep := page("http://a.test/p")
	deep.Hops = queued.Hops{Depth: 3}
	listed := page("http://a.test/p")
	listed.Called = queued.Called{Sitemap: true, ByIndex: true}
	called := page("http://a.test/p")
	called.Called.Sitemap = true
	for _, c := range []struct {
		what   string
		a      attempt.Attempt
		fields string
		want   int
	}{
		{"as text", page("http://a.test/p?view=raw"), "Content-Type: text/plain\r\n", 0},
		{"as HTML", page("http://a.test/p"), html, 1},
		{"again", page("http://a.test/p"), html, 0},
		{"with another query", page("http://a.test/p?a"), html, 0},
		{"in another character set", page("http://a.test/p"), "Content-Type: text/html;charset=gbk\r\n", 1},
		{"with a coding", page("http://a.test/p"), html + "Content-Encoding: gzip\r\n", 1},
		{"at another address", page("http://a.test/q"), html, 1},
		{"deeper", deep, html, 1},
		{"named by an index of sitemaps", listed, html, 1},
		{"named by a robots.txt", called, html, 1},
		{"with a link in its head", page("http://a.test/p"), html + "Link: </next>; rel=next\r\n", 1},
		{"with another link in its head", page("http://a.test/p"), html + "Link: </3>, </4>\r\n", 2},
		{"in two lines", page("http://a.test/p"), "Content-Type: text/plain\r\n" + html, 0},
	} {
		if n := g.search(t, c.a, c.fields, body); n != c.want {
			t.Errorf("%s: %d links, want %d", c.what, n, c.want)
		}
	}
}

// Each URL of an application has the same payload. Whatever the memory forgets meanwhile, it needs a browser.
func TestExtractor_theSameBytesNeedABrowserAgain(t *testing.T) {
	const shell = `<noscript>You need to enable JavaScript to run this app.</noscript><div id=root></div>`
	g := newMemoRig()
	g.crawl.Parsed = fpcache.New(1<<10, 1)
	for i := range 300 {
		g.search(t, attempt.Attempt{URL: fmt.Appendf(nil, "http://a.test/%d?q", i/2)}, "Content-Type: text/html\r\n", shell)
		if g.finder.Render < parse.RenderLeast {
			t.Errorf("page %d has %d", i, g.finder.Render)
		}
		for n := range i % 30 {
			g.crawl.Parsed.Put(xxh3.HashString128(fmt.Sprint(i, n)))
		}
	}
	if n := g.crawl.Journal.Count.Unparsed.Load(); n < 50 || n == 150 {
		t.Errorf("%d pages of 150 are passed over", n)
	}
}

// A PDF document is counted, and its line in crawl.log says if its links are not all known.
func TestExtractor_pdfDocumentsAreCounted(t *testing.T) {
	const action = "1 0 obj<</S/URI/URI(/a%d)>>endobj "
	const damaged = "2 0 obj<</Type/ObjStm/N 1/First 4/Filter/FlateDecode>>stream\nxxxx\nendstream endobj "
	g := newMemoRig()
	for i, c := range []struct {
		rest, note string
		links      int
	}{
		{"trailer<<>>", "", 1},
		{damaged + "trailer<<>>", "pdf-partly-parsed", 1},
		{"trailer<</Encrypt 3 0 R>>", "pdf-encrypted", 0},
	} {
		body := "%PDF-1.7\n" + fmt.Sprintf(action, i) + c.rest
		n := g.search(t, attempt.Attempt{URL: []byte("http://a.test/p")}, "Content-Type: application/pdf\r\n", body)
		if note := g.annotate(""); n != c.links || note != c.note {
			t.Errorf("%s: %d links, %q", c.rest, n, note)
		}
	}
	count := &g.crawl.Journal.Count
	all, encrypted, partly := count.PDFsParsed.Load(), count.PDFsEncrypted.Load(), count.PDFsPartlyParsed.Load()
	if all != 3 || encrypted != 1 || partly != 1 {
		t.Errorf("%d documents, %d encrypted, %d partly", all, encrypted, partly)
	}
}

// A page at which the parser failed was not searched: the same page is searched again.
func TestExtractor_aPageThatWasNotSearchedIsNotNoted(t *testing.T) {
	g := newMemoRig()
	a := attempt.Attempt{URL: []byte("http://a.test/p")}
	const body, html = "<a href=x>1</a>", "Content-Type: text/html\r\n"
	g.finder.Decoder = nil // the next page makes the parser fail
	if n := g.search(t, a, html, body); n != 0 || g.crawl.Journal.Count.ParseFaults.Load() != 1 {
		t.Fatalf("%d links, %d faults of the parser", n, g.crawl.Journal.Count.ParseFaults.Load())
	}
	if n := g.search(t, a, html, body); n != 1 {
		t.Errorf("%d links after the fault", n)
	}
}

// The page requisites of equal error pages of a site are taken once, and those of few others. What answers a request
// for a requisite has none. Where a page refreshes to is always taken.
func TestExtractor_fewErrorPagesOfASiteAreSearched(t *testing.T) {
	const body, html = "<img src=x.png><a href=y>y</a>", "Content-Type: text/html\r\n"
	g := newMemoRig()
	search := func(url, body string, embeds int) int {
		a := attempt.Attempt{URL: []byte(url), Outcome: outcome.ClientError}
		a.Embeds = embeds
		return g.searchAnswer(t, a, "404 Not Found", html, body)
	}
	for _, c := range []struct {
		url    string
		embeds int
		want   int
	}{{"http://a.test/1/2", 1, 0}, {"http://a.test/1/2", 0, 1}, {"http://a.test/1/3", 0, 0}, {"http://b.test/1/2", 0, 1}} {
		if n := search(c.url, body, c.embeds); n != c.want {
			t.Errorf("%s with %d embeds: %d links, want %d", c.url, c.embeds, n, c.want)
		}
	}
	searched := 1
	for i := range 100 {
		searched += search(fmt.Sprintf("http://a.test/%d/", i), fmt.Sprint(i, body), 0)
	}
	if searched != errorPagesMost {
		t.Errorf("%d error pages of a site were searched", searched)
	}
	if n := search("http://a.test/last", "<meta http-equiv=refresh content='0;url=/home'>"+body, 0); n != 1 {
		t.Errorf("%d links of an error page that refreshes", n)
	}
	if n := g.search(t, attempt.Attempt{URL: []byte("http://a.test/1/2")}, html, body); n != 2 {
		t.Errorf("a page with the same bytes has %d links", n)
	}
}
