package filter

import "orbweaver/internal/mediatype"

// Follow decides which links are followed. It is safe for concurrent use.
type Follow struct {
	predicate[followFacts]
	domains bool // the expression uses via_domain or same_domain
}

type followFacts struct {
	urlFacts
	Kind       string `expr:"kind"`
	NoFollow   bool   `expr:"nofollow"`
	Via        string `expr:"via"`
	ViaHost    string `expr:"via_host"`
	ViaDomain  string `expr:"via_domain"`
	SameHost   bool   `expr:"same_host"`
	SameDomain bool   `expr:"same_domain"`
	Status     int    `expr:"status"`
	PageType   string `expr:"content_type"`
	Render     bool   `expr:"needs_render"`
}

// Via is a page with the facts that its links need. The zero value is ready for Follow.From.
type Via struct {
	url, host, domain string
	pageType          string
	status            int

	NeedsRender bool // a browser must draw it; the caller sets it when the page is read
}

// CompileFollow compiles all, none or an expression. It keeps seeds, which may be nil if there are none.
func CompileFollow(text string, seeds *Seeds) (*Follow, error) {
	f := new(Follow)
	if err := f.compile(text, false, seeds); err != nil {
		return nil, err
	}
	f.domains = f.asks.any("via_domain", "same_domain")
	f.need.domain = f.need.domain || f.asks.any("same_domain")
	return f, nil
}

// From sets via to a page, for its links. It borrows url and r for the call.
func (f *Follow) From(via *Via, url []byte, r *Response) {
	*via = Via{status: r.Status}
	if f.program != nil {
		via.set(url, r, f.seeds, f.domains)
	}
}

// set sets v to a page. It looks for the registrable domain if domains is set.
func (v *Via) set(url []byte, r *Response, seeds *Seeds, domains bool) {
	*v = Via{status: r.Status}
	p, ok := split(url)
	if !ok {
		return
	}
	v.url, v.pageType = string(url), mediatype.Essence(r.ContentType)
	v.host = v.url[len(p.scheme)+3:][:len(p.host)]
	if domains {
		v.domain = v.host[seeds.cut(p.host):]
	}
}

// Link is a link of the page.
type Link struct {
	URL      []byte // normal form, borrowed
	Way      Way
	Kind     string // kind of the link: anchor, image, ..., or redirect
	NoFollow bool   // rel=nofollow
}

// Follows reports whether a link of the page is followed.
func (f *Follow) Follows(via *Via, link Link) bool {
	if f.program == nil {
		return f.answer
	}
	p, ok := split(link.URL)
	if !ok {
		return false
	}
	e := f.begin()
	facts := &e.facts
	facts.fill(link.URL, p, link.Way, f.need, f.seeds)
	facts.fillLink(via, &link, f.domains)
	return f.end(e)
}

// fillLink sets what the page and the link say. The facts of the URL must be there.
func (f *followFacts) fillLink(via *Via, link *Link, domains bool) {
	f.Kind, f.NoFollow = link.Kind, link.NoFollow
	f.Via, f.ViaHost, f.ViaDomain = via.url, via.host, via.domain
	f.Status, f.PageType, f.Render = via.status, via.pageType, via.NeedsRender
	f.SameHost = f.Host == via.host
	f.SameDomain = domains && f.Domain == via.domain
}
