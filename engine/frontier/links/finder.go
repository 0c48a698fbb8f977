package links

import (
	"bytes"
	"errors"

	"orbweaver/engine/net/fetch"
	"orbweaver/engine/net/fetch/coding"
	"orbweaver/engine/net/robots"
	"orbweaver/engine/page/filter"
	"orbweaver/engine/page/parse"
	"orbweaver/engine/page/sitemap"
	"orbweaver/engine/state/queued"
	"orbweaver/engine/store/journal"
	"orbweaver/internal/invariants"
	"orbweaver/internal/outcome"
	"orbweaver/internal/urlx"
)

// Finder reads the links of one page at a time into links, in normal form. Parse workers have one each; a resume
// has one to read the archive again.
type Finder struct {
	scanner *parse.Scanner
	Decoder *coding.Decoder
	O       Options

	textLists textLists

	Marks
	Type        PageType     // of the page
	Links       []byte       // see journal.AppendLink
	Refused     Refused      // references that are no URL we can fetch
	Userinfo    int          // references with a user or a password, which are left out
	Unfollowed  int          // links that the follow filter refused
	NearSkipped int          // links of a near-duplicate, which are not followed
	Dropped     int          // links beyond the number taken from one page
	Budget      Budget       // of the page
	Encoding    coding.Fault // what is wrong with its content encoding
	Body        []byte       // decoded, of a page that was searched for links; good until the next page. Borrowed
	Render      int          // of such a page, if a browser must draw it: parse.Result.Render; otherwise 0
	Title       []byte       // of such a page, in UTF-8; nil if it has none. Borrowed
	Text        []byte       // of such a page, if Options.Text is set; good until the next page. Borrowed
	buffers     urlBuffers
	passage     passage
	numbering   numbering
}

// Marks say what a page is.
type Marks struct {
	Index       bool // it is an index of sitemaps
	IsNoSitemap bool // it is called a sitemap, and is none
	IsError     bool // it is an error page: only page requisites and the target of a refresh are taken
	IsForbidden bool // it asks that its links be left alone, and that is obeyed
	PDF         PDFMark
}

// PDFMark says what became of a PDF document.
type PDFMark uint8

// The marks of PDF documents.
const (
	NoPDF        PDFMark = iota // it is none, or is not searched for links
	PDFSearched                 // its links are known
	PDFPartly                   // parts of it cannot be read: they are damaged, or larger than the limits
	PDFEncrypted                // it needs a password, so its links are not known
)

// textLists reads the sitemaps that the scanner does not read.
type textLists struct {
	reader *sitemap.Reader
	source bytes.Reader // of the body
}

// urlBuffers are the memory of the URLs that are made of a reference.
type urlBuffers struct {
	base    []byte
	scratch []byte
	whole   []byte // a link before it lost something
}

// passage is what the filters know about the current page.
type passage struct {
	via     filter.Via        // the page, for the follow filter
	anchors map[int][]byte    // texts of links, by their index in the page
	anchor  []byte            // text of the link at hand
	scored  filter.ScoredPage // the page, for the scores of its links
	page    filter.Way        // how it was reached
	way     filter.Way        // how its links are
}

// Options say which links are taken.
type Options struct {
	Nofollow bool // obey rel=nofollow, meta robots and X-Robots-Tag
	// Requisites: page requisites have embed hops, see admission.Options
	Requisites  bool
	Speculative bool         // take strings of scripts and data that look like URLs
	PDF         bool         // take the links of PDF documents
	Forms       bool         // take the action of forms that only read
	Sitemaps    bool         // take what robots.txt files name, and read all that can be a sitemap
	Text        bool         // report the text of pages
	Judged      bool         // a program is asked about the links: EachWithText gives them
	Longest     int          // bytes of a link; longer ones are refused. 0 for no limit but urlx.LengthMax
	Strip       *urlx.Params // what links lose
	By          Filters
}

// Filters are the filters that a page and its links pass on their way to the door; nil where all pass.
type Filters struct {
	Parse  *filter.Parse
	Follow *filter.Follow
	Score  *filter.Score
}

// Page is a page as the filters see it.
type Page struct {
	URL         []byte
	Page        *fetch.Page // head
	Way         filter.Way
	Size        int64 // of the payload
	IsTruncated bool
}

// NewFinder returns a Finder for one goroutine.
func NewFinder(o Options) *Finder {
	of := parse.Options{
		Robot: robots.Token, Forms: o.Forms, Speculative: o.Speculative, PDF: o.PDF,
		Text: o.Text,
	}
	if by := o.By.Score; by != nil {
		of.Text, of.Details = of.Text || by.AsksText(), by.AsksAnchor()
	}
	of.Details = of.Details || o.Judged
	return &Finder{
		scanner:   parse.NewScanner(of),
		textLists: textLists{reader: sitemap.NewReader(sitemap.Options{})},
		Decoder:   coding.New(coding.Options{}),
		O:         o,
	}
}

// Again makes another one like it, after a panic left it in no good state.
func (l *Finder) Again() *Finder { return NewFinder(l.O) }

// linksKept is how much memory for links is kept from page to page, in bytes: a sitemap has megabytes of them.
const linksKept = 1 << 20

// Reset forgets the links of the last page.
func (l *Finder) Reset() {
	if invariants.Mangle(l.Links); cap(l.Links) > linksKept {
		l.Links = nil
	}
	l.Links, l.Refused, l.Userinfo, l.Unfollowed, l.Dropped = l.Links[:0], Refused{}, 0, 0, 0
	l.NearSkipped = 0
	l.Marks, l.Encoding = Marks{}, coding.OK
	l.Body, l.Title, l.Text, l.Render = nil, nil, nil, 0
	l.Budget.Open(0, 0)
	l.numbering.reset()
}

// Open begins with a page, and says whether it must be searched for links. A redirect is none that is searched, nor is
// a robots.txt, so there the answer is of no interest.
func (l *Finder) Open(from Page) bool {
	l.Reset()
	l.identifyOnce(from.Page)
	if l.O.By == (Filters{}) {
		return true
	}
	r := filter.Response{
		Status:      from.Page.Status,
		ContentType: l.Type.Media,
		Size:        from.Size,
		Truncated:   from.IsTruncated,
	}
	l.passage.page = from.Way
	if l.O.By.Follow != nil {
		l.O.By.Follow.From(&l.passage.via, from.URL, &r)
	}
	if l.O.By.Score != nil {
		l.O.By.Score.From(&l.passage.scored, from.URL, &r)
	}
	return l.O.By.Parse == nil || l.O.By.Parse.Reads(from.URL, from.Way, &r)
}

// Redirect takes the target of a redirect as the one link.
func (l *Finder) Redirect(url, location []byte) {
	l.Reset()
	l.passage.way = l.passage.page
	l.passage.way.Hops++
	l.Resolve(url, location, parse.Redirect, false)
}

// Forbids says whether a response's header asks that its links be left alone, and that is obeyed. Unlike what the body
// says it is not part of the payload, so equal payloads may differ in it.
func (l *Finder) Forbids(p *fetch.Page) bool {
	if !l.O.Nofollow {
		return false
	}
	for value := range p.Head().Values("x-robots-tag") {
		if robots.ParseTag(value, robots.Token)&robots.NoFollow != 0 {
			return true
		}
	}
	return false
}

// Scan takes the links of a body, whatever the header says.
func (l *Finder) Scan(url []byte, p *fetch.Page, called queued.Called) {
	l.Reset()
	l.identifyOnce(p)
	l.IsError = p.Status >= statusError
	if !isSearched(p.Status, l.Type.Media) {
		return
	}
	body, fault := p.Decoded(l.Decoder)
	l.Encoding = fault
	l.Budget.Open(p.PayloadLen, int64(len(body)))
	switch {
	case !outcome.IsPageStatus(p.Status):
		l.scanPage(url, body, p)
		l.Text = nil // it is compared with that of pages
	case !l.listed(url, body, p, called):
		l.scanPage(url, body, p)
	}
	if called.ByIndex && l.Index {
		l.Links, l.Refused, l.Userinfo = l.Links[:0], Refused{}, 0
		l.numbering.reset()
	}
}

func (l *Finder) scanPage(url, body []byte, p *fetch.Page) {
	res, err := l.scanner.Scan(body, l.Type.Media)
	if err != nil {
		return // bytes that cannot be read as text have no links
	}
	l.Dropped, l.Refused.Foreign, l.Refused.Long = res.LinksDropped, res.LinksForeign, res.LinksLong
	l.Body, l.Title, l.Text, l.PDF = body, res.Title, res.Text, pdfMark(res)
	if res.Render >= parse.RenderLeast && !l.IsError {
		l.Render, l.passage.via.NeedsRender = res.Render, true
	}
	l.leadOn(res.Format == parse.SitemapXML && len(res.Links) > 0 && res.Links[0].Kind == parse.SitemapFile)
	if l.IsForbidden = l.O.Nofollow && res.NoFollow; l.IsForbidden {
		return
	}
	l.readForScores(res)
	var base []byte
	base, l.buffers.base = urlx.Base(l.buffers.base, url, res.Base)
	for i := range res.Links {
		if link := &res.Links[i]; !l.O.Nofollow || !link.NoFollow {
			l.passage.anchor = l.passage.anchors[i]
			l.Resolve(base, link.Ref, link.Kind, link.NoFollow)
		}
	}
	l.passage.anchor = nil
}

// readForScores notes what the scores of links need of a page.
func (l *Finder) readForScores(res *parse.Result) {
	by := l.O.By.Score
	if by != nil {
		by.Read(&l.passage.scored, res.Title, res.Text, l.Render > 0)
	}
	if !l.O.Judged && (by == nil || !by.AsksAnchor()) {
		return
	}
	if l.passage.anchors == nil {
		l.passage.anchors = map[int][]byte{}
	}
	clear(l.passage.anchors)
	for i := range res.Elements { // of two before one link, the first has no link of http
		e := &res.Elements[i]
		if at := e.SheetFrom; at < len(res.Links) && res.Links[at].Kind == parse.Anchor {
			l.passage.anchors[at] = e.Text
		}
	}
}

// scoreOf returns the score of a link. That of the target of a redirect is the largest, as its URL has had its turn.
func (l *Finder) scoreOf(kind parse.Kind, url []byte, nofollow bool) int {
	switch by := l.O.By.Score; {
	case by == nil:
		return 0
	case kind == parse.Redirect:
		return queued.ScoreMax
	default:
		link := filter.Link{URL: url, Way: l.wayOf(kind), Kind: kind.String(), NoFollow: nofollow}
		return by.Of(&l.passage.scored, link, l.passage.anchor, queued.ScoreMax)
	}
}

// pdfMark returns what became of a PDF document.
func pdfMark(res *parse.Result) PDFMark {
	switch {
	case res.Format != parse.PDFFile:
		return NoPDF
	case res.IsEncrypted:
		return PDFEncrypted
	case res.StreamsUnread > 0:
		return PDFPartly
	}
	return PDFSearched
}

// leadOn notes whether the page is an index of sitemaps, and how its links are, therefore.
func (l *Finder) leadOn(index bool) {
	l.Index = index
	l.passage.way = filter.Way{Depth: LeadsTo(&Lead{Depth: l.passage.page.Depth, Index: index}).Depth}
}

// Resolve takes one reference of a page: resolves it against base, filters it, and appends it to Links or counts it.
func (l *Finder) Resolve(base, ref []byte, kind parse.Kind, nofollow bool) {
	l.numbering.references++
	if l.IsError && !kind.IsRequisite() && kind != parse.MetaRefresh || !l.Budget.take() {
		return
	}
	url, err := urlx.Resolve(l.buffers.scratch[:0], base, ref)
	if err != nil {
		if errors.Is(err, urlx.ErrHost) {
			l.Budget.misnamed(len(ref))
		}
		l.refuse(err)
		return
	}
	l.buffers.scratch = url
	l.Budget.made(len(url))
	l.Budget.named(urlx.Host(url))
	if urlx.HasUserinfo(ref) {
		l.Userinfo++
	}
	if l.O.Strip != nil {
		url = l.strip(url, base, kind)
	}
	if l.O.Longest > 0 && len(url) > l.O.Longest {
		l.Refused.Long++
		return
	}
	if by := l.O.By.Follow; by != nil &&
		!by.Follows(&l.passage.via, filter.Link{URL: url, Way: l.wayOf(kind), Kind: kind.String(), NoFollow: nofollow}) {
		l.Unfollowed++
		return
	}
	l.addLink(kind, l.scoreOf(kind, url, nofollow), url)
}

// AddMined takes a URL that no page has, in normal form, as a last link.
func (l *Finder) AddMined(url []byte) {
	l.endResponse()
	l.numbering.references++
	if by := l.O.By.Follow; by != nil &&
		!by.Follows(&l.passage.via, filter.Link{URL: url, Way: l.passage.way, Kind: parse.Mined.String()}) {
		l.Unfollowed++
		return
	}
	l.addLink(parse.Mined, 0, url)
}

// AddHooked takes a reference that a program of the user has found in the page, as a last link.
func (l *Finder) AddHooked(base, ref []byte) {
	l.endResponse()
	l.Resolve(base, ref, parse.Hook, false)
}

// wayOf is how far a link of a kind is from a seed.
func (l *Finder) wayOf(kind parse.Kind) filter.Way {
	if page := &l.passage.page; l.O.Requisites && kind.IsRequisite() && page.Embeds < queued.EmbedsMax {
		return filter.Way{Depth: page.Depth, Embeds: page.Embeds + 1}
	}
	return l.passage.way
}

// refuse counts a reference that has no normal form.
func (l *Finder) refuse(why error) {
	switch {
	case errors.Is(why, urlx.ErrScheme):
		l.Refused.Foreign++
	case errors.Is(why, urlx.ErrTooLong):
		l.Refused.Long++
		l.Budget.made(urlx.LengthMax)
	default:
		l.Refused.Syntax++
	}
}

// strip takes out of a link what links lose; not out of a redirect that would lead to where it comes from then.
func (l *Finder) strip(url, base []byte, kind parse.Kind) []byte {
	isFormed := l.O.Strip.Form() != urlx.WHATWG
	if kind == parse.Redirect || isFormed {
		l.buffers.whole = append(l.buffers.whole[:0], url...)
	}
	url = l.O.Strip.Strip(url)
	if kind == parse.Redirect && bytes.Equal(url, base) {
		return l.buffers.whole
	}
	if isFormed && !bytes.Equal(url, l.buffers.whole) {
		d := &l.numbering
		d.spellings = append(append(append(append(d.spellings, url...), ' '), l.buffers.whole...), '\n')
	}
	return url
}

// LeadsHome says that the links, a single link for a redirect, differ from the page's own URL in the query at most.
func (l *Finder) LeadsHome(url []byte) bool {
	own, _, _ := bytes.Cut(url, []byte{'?'})
	home := len(l.Links) > 0
	err := journal.EachLink(l.Links, func(_ parse.Kind, link []byte) {
		to, _, _ := bytes.Cut(link, []byte{'?'})
		home = home && bytes.Equal(own, to)
	})
	return home && err == nil
}

// Refused counts references of a page that are not offered to admission, by the reason.
type Refused struct {
	Syntax  int // no URL
	Foreign int // of a scheme other than http and https
	Long    int // longer than --max-url or than a normal form may be
	Hook    int // dropped by the program of --hook link
}
