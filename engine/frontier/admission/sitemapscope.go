package admission

import (
	"bytes"

	"orbweaver/engine/page/filter"
	"orbweaver/engine/page/parse"
	"orbweaver/engine/state/queued"
	"orbweaver/internal/urlx"
)

// A site may keep its sitemaps on another host, such as an object store. So a file that a robots.txt or an index calls
// a sitemap need not be in the scope. What it names must.
//
// The other host gets one request for each file, in its own turns and within its own robots.txt. One page may name
// elsewhereMax such files. An index that is itself out of scope may name files of its own host only, so that a host
// cannot choose an index of another one to name a third.

// elsewhereMax is how many sitemaps out of scope one robots.txt or index may name.
const elsewhereMax = 1000

// source is what is known of the page that has the links.
type source struct {
	isSitemap bool // it was called a sitemap
	isKnown   bool // isInside is known
	isInside  bool // it is in scope or on the host of a seed; so is a page that is not known
	elsewhere int  // sitemaps out of scope that it names
}

// inside reports whether the page is in scope or on the host of a seed. Few pages need to know.
func (d *Scratch) inside() bool {
	if s := &d.source; !s.isKnown {
		s.isKnown = true
		s.isInside = len(d.Page) == 0 || d.rules.Scope.OnSeedHost(d.Page) || d.rules.Scope.Admits(d.Page, filter.Way{})
	}
	return d.source.isInside
}

// belongs reports whether the crawl has a place for a URL: the scope admits it, a page needs it, or it is called a
// sitemap.
func (d *Scratch) belongs(url []byte, it *queued.URL) bool {
	r := d.rules
	switch {
	case d.source.isSitemap && queued.IsRequisite(it.Embeds) && !d.inside():
		return r.Scope.Admits(url, filter.Way{Depth: it.Depth, Embeds: it.Embeds}) // what is no page needs nothing
	case r.inScope(url, it):
		return true
	case !it.Sitemap:
		return false
	case r.Scope.OnSeedHost(url), d.kind == parse.Redirect, len(d.Page) == 0:
		return true
	case !d.inside() && !(d.source.isSitemap && bytes.Equal(urlx.Host(d.Page), urlx.Host(url))):
		return false
	}
	d.source.elsewhere++
	return d.source.elsewhere <= elsewhereMax
}
