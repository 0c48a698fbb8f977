package parsers

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"github.com/zeebo/xxh3"

	"orbweaver/engine/frontier/links"
	"orbweaver/engine/net/fetch"
	"orbweaver/engine/net/fetch/coding"
	"orbweaver/engine/page/filter"
	"orbweaver/engine/page/parse"
	"orbweaver/engine/records/neardup"
	"orbweaver/engine/state/attempt"
	"orbweaver/engine/state/counters"
	"orbweaver/engine/store/journal"
	"orbweaver/internal/outcome"
	"orbweaver/internal/urlx"
)

// extractor finds the links of Pages. The finder has those of the last Page.
type extractor struct {
	crawl   *Crawl
	finder  *links.Finder
	rules   *Rules // of the finder
	scratch []byte

	key        xxh3.Uint128 // of the last Page: see parsedKey
	isParsed   bool         // its whole payload was parsed, and is identified by key
	isPartly   bool         // its start has links, and its end was not searched
	isSearched bool         // it is a page that is searched for links
	isOpen     bool         // the same, or it is an error page
	bounce     bounce       // of the last Page, if its target is asked again
}

func newExtractor(c *Crawl) *extractor {
	x := &extractor{crawl: c}
	x.use(c.Rules.Load())
	return x
}

// use makes a Finder for rules.
func (x *extractor) use(rules *Rules) {
	o := rules.Links
	o.Text = x.crawl.Near.Mode() != neardup.Off
	x.finder, x.rules = links.NewFinder(o), rules
}

// extract finds the links of a Page. content has the payload: it is p, or the stored page if the page is unchanged.
func (x *extractor) extract(p, content *fetch.Page, a *attempt.Attempt) {
	if rules := x.crawl.Rules.Load(); rules != x.rules {
		x.use(rules)
	}
	x.finder.Reset()
	x.isParsed, x.isPartly, x.isSearched, x.isOpen, x.bounce = false, false, false, false, bounce{}
	if x.finder.Identify(content); content == p {
		t := &x.finder.Type
		a.Media = attempt.Media{Type: t.Media, IsSniffed: t.IsSniffed, Invalid: t.Invalid}
	}
	way := filter.Way{Depth: a.Depth, Embeds: a.Embeds, Hops: a.Redirects}
	switch {
	case a.IsRobots:
		if outcome.IsPageStatus(p.Status) {
			x.finder.SitemapsOf(a.URL, p, a.Outcome, filter.Way{Depth: a.Depth})
		}
		return
	case a.WillRetry, a.Outcome == outcome.Wall:
		return
	case a.Outcome == outcome.Redirect:
		x.followRedirect(p, a, way)
		return
	case x.finder.Forbids(p), !mayHaveLinks(content, a), content != p && x.finder.Forbids(content):
		return
	}
	page := links.Page{
		URL: a.URL, Page: content, Way: way, Size: content.PayloadLen, IsTruncated: a.Outcome.IsBodyTruncated(),
	}
	if !x.finder.Open(page) {
		if outcome.IsPageStatus(content.Status) {
			x.crawl.Journal.Count.PagesNotParsed.Add(1)
		}
		return
	}
	x.isOpen, x.isSearched = true, !links.IsErrorPage(a.Outcome, content.Status)
	x.parse(content, a)
	x.finder.Head(a.URL, content)
	x.finder.EarlyHints(a.URL, p)
	if x.finder.IsError && len(x.finder.Links) > 0 && !x.showsError(content, a) {
		x.finder.Keep(isRefresh)
	}
	x.crawl.Journal.Count.DroppedLinks.Add(int64(x.finder.Dropped))
}

// mayHaveLinks reports whether an answer has a payload or fields with links that count. Those of an error that answers
// a request for a requisite do not: otherwise relative ones would lead to errors without end.
func mayHaveLinks(p *fetch.Page, a *attempt.Attempt) bool {
	return (links.LeadsOn(a.Outcome, p.Status) || links.IsErrorPage(a.Outcome, p.Status) && a.Embeds == 0) &&
		(p.PayloadLen > 0 || links.HasFields(p))
}

// parse finds the links in a payload, unless they were taken before.
func (x *extractor) parse(p *fetch.Page, a *attempt.Attempt) {
	if p.PayloadLen == 0 {
		return
	}
	// The follow filter may look at more than the payload and the directory, and so may the program of --hook link.
	if p.Complete && x.finder.O.By.Follow == nil && !x.finder.O.Judged {
		x.key = x.parsedKey(p, a)
		isDrawn := x.crawl.Parsed.Seen(x.renderKey())
		if isDrawn || x.crawl.Parsed.Seen(x.key) {
			x.crawl.Journal.Count.Unparsed.Add(1)
			if isDrawn {
				x.finder.Render = parse.RenderLeast
			}
			return
		}
		x.isParsed = x.scan(p, a)
		return
	}
	x.scan(p, a)
}

func isRefresh(kind parse.Kind) bool { return kind == parse.MetaRefresh }

// refreshes reports whether the last Page is an error page that refreshes to another URL.
func (x *extractor) refreshes() (yes bool) {
	if !x.finder.IsError {
		return false
	}
	err := journal.EachLink(x.finder.Links, func(kind parse.Kind, _ []byte) { yes = yes || isRefresh(kind) })
	return yes && err == nil
}

// errorPagesMost is how many error pages of a site have page requisites.
const errorPagesMost = 32

// showsError reports whether the page requisites of an error page are taken. Those of an equal page of its site were
// not, and those of few others were. So a site is asked for few URLs that do not exist, even if those of its error
// pages are relative.
func (x *extractor) showsError(p *fetch.Page, a *attempt.Attempt) bool {
	site, _ := urlx.Split(a.URL)
	isNew := func(which []byte) bool {
		x.scratch = append(append(append(x.scratch[:0], "error "...), which...), site...)
		key := urlx.Fingerprint(x.crawl.HashSeed, x.scratch)
		if x.crawl.Parsed.Seen(key) {
			return false
		}
		x.crawl.Parsed.Put(key)
		return true
	}
	if !isNew(p.Digest[:]) {
		return false
	}
	for n := range byte(errorPagesMost) {
		if isNew([]byte{n}) {
			return true
		}
	}
	return false
}

// scan parses the payload. A panic in the parser is a bug, but one hostile page must not end the crawl. The result is
// false after a panic: then the page was not searched.
func (x *extractor) scan(p *fetch.Page, a *attempt.Attempt) (isSearched bool) {
	count := &x.crawl.Journal.Count
	defer func() {
		if cause := recover(); cause != nil {
			count.ParseFaults.Add(1)
			x.finder = x.finder.Again()
			x.crawl.Faults.Save(a.URL, p.Raw, cause)
		}
	}()
	x.finder.Scan(a.URL, p, a.Called)
	if x.finder.IsNoSitemap {
		count.NoSitemaps.Add(1)
	}
	x.countPDF(count)
	if x.isPartly = !p.IsSearchedWhole() && len(x.finder.Links) > 0; x.isPartly {
		count.PagesPartlyParsed.Add(1)
	}
	if x.finder.Encoding != coding.OK {
		count.BadEncodings.Add(1)
	}
	return true
}

// countPDF counts the last Page if it is a PDF document.
func (x *extractor) countPDF(count *counters.Live) {
	switch x.finder.PDF {
	case links.NoPDF:
		return
	case links.PDFEncrypted:
		count.PDFsEncrypted.Add(1)
	case links.PDFPartly:
		count.PDFsPartlyParsed.Add(1)
	}
	count.PDFsParsed.Add(1)
}

// EachAddress calls f for each link of the last Page. It implements novelty.Addresses.
func (x *extractor) EachAddress(f func(url []byte)) {
	err := journal.EachLink(x.finder.Links, func(_ parse.Kind, url []byte) { f(url) })
	if err != nil {
		panic(fmt.Sprintf("BUG: parsers: the list of links that was just made cannot be read: %v", err))
	}
}

// annotate adds to what crawl.log says of an attempt what was not searched or not taken of its links.
func (x *extractor) annotate(note string) string {
	if x.isPartly {
		note = join(note, "partly-parsed")
	}
	if x.finder.IsNoSitemap {
		note = join(note, "no-sitemap")
	}
	switch x.finder.PDF {
	case links.PDFEncrypted:
		note = join(note, "pdf-encrypted")
	case links.PDFPartly:
		note = join(note, "pdf-partly-parsed")
	}
	return x.finder.Budget.Annotate(note)
}

// join returns two lists of annotations as one.
func join(note, more string) string {
	if note == "" {
		return more
	}
	return note + "," + more
}

// noteParsed notes that the links of the last Page have been admitted, unless some were taken out of a near-duplicate.
// A page that forbids to follow its links must be read again, since it forbids those of its head, too.
func (x *extractor) noteParsed() {
	if x.isParsed && x.finder.NearSkipped == 0 && !x.finder.IsForbidden {
		key := x.key
		if x.finder.Render > 0 {
			key = x.renderKey()
		}
		x.crawl.Parsed.Put(key)
	}
}

// renderKey is put in place of the key of the last Page if a browser must draw it: each URL of an application may have
// the same payload. Of two keys, the cache could forget this one alone.
func (x *extractor) renderKey() xxh3.Uint128 {
	x.scratch = append(binary.BigEndian.AppendUint64(x.scratch[:0], x.key.Hi), "render"...)
	return urlx.Fingerprint(x.crawl.HashSeed, binary.BigEndian.AppendUint64(x.scratch, x.key.Lo))
}

// parsedKey identifies all that the links of a page and their admission depend on: its payload and how it is encoded,
// its media type and character set, its URL without query, against which references are resolved, and its distance from
// a seed. So the same payload in another directory, or under another type, is searched again.
func (x *extractor) parsedKey(p *fetch.Page, a *attempt.Attempt) xxh3.Uint128 {
	base, _, _ := bytes.Cut(a.URL, []byte{'?'})
	b := append(append(x.scratch[:0], p.Digest[:]...), base...)
	b = append(append(b, '\n'), x.finder.Type.Media...)
	for _, name := range [...]string{"content-encoding", "transfer-encoding"} {
		for value := range p.Head().Values(name) {
			b = append(append(b, '\n'), value...)
		}
	}
	b = binary.AppendUvarint(binary.AppendUvarint(append(b, 0), uint64(a.Depth)), uint64(a.Embeds))
	if a.Speculative {
		b = append(b, 's')
	}
	if links.IsErrorPage(a.Outcome, p.Status) {
		b = append(b, 'e')
	}
	switch {
	case a.Called.ByIndex:
		b = append(b, 'l')
	case a.Called.Sitemap:
		b = append(b, 'm')
	}
	x.scratch = b
	return urlx.Fingerprint(x.crawl.HashSeed, b)
}
