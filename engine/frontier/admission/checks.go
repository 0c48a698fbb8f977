package admission

import (
	"bytes"

	"orbweaver/engine/page/filter"
	"orbweaver/engine/page/parse"
	"orbweaver/engine/state/queued"
	"orbweaver/internal/urlx"
)

// Rules decide which URLs belong to the crawl. Those in force are read by many goroutines, so they never change:
// Frontier.SetRules replaces them.
type Rules struct {
	Scope *filter.Scope
	// Requisites says which page requisites have embed hops, and which of them the scope need not admit.
	Requisites Requisites
	Lists      *filter.Lists // nil if they can refuse nothing
	MaxDepth   int           // -1 for no limit
	MaxURL     int           // bytes; 0 for no limit but urlx.LengthMax
	// MaxRequisites of one page, frame or style sheet are fetched; 0 or less for no limit.
	MaxRequisites int
}

// Rules are those that the options and the filters make.
func (o *Options) Rules(by *filter.Filters) Rules {
	return Rules{
		Scope: by.Scope, Lists: by.Lists, Requisites: o.Requisites, MaxDepth: o.MaxDepth, MaxURL: o.MaxURL,
		MaxRequisites: o.MaxRequisites,
	}
}

// RulesInForce returns the rules for URLs that are found now. They must not be changed.
func (f *Frontier) RulesInForce() *Rules {
	if r := f.changed.Load(); r != nil {
		return r
	}
	return &f.Rules
}

// SetRules replaces the rules. Queued URLs stay queued: see Rules.KeepsQueued.
func (f *Frontier) SetRules(r Rules) { f.changed.Store(&r) }

// hop gives own the hops of a link, from the item that the links of a page have in common. A requisite of a requisite
// that is too deep is a link like any other, and stays too deep: see queued.EmbedsBeyond.
func (r *Rules) hop(own, it *queued.URL, kind parse.Kind) {
	own.Sitemap = kind == parse.SitemapFile || kind == parse.Redirect && it.Sitemap
	own.Mined = kind == parse.Mined
	own.Delayed = own.Mined // until its site has no other URL
	switch {
	case kind == parse.Redirect:
		own.Depth, own.Embeds, own.Speculative = it.Depth, it.Embeds, it.Speculative
	case r.Requisites != RequisitesOff && kind.IsRequisite() && it.Embeds < queued.EmbedsMax:
		own.Depth, own.Embeds, own.Speculative = it.Depth-1, it.Embeds+1, false
	case r.Requisites != RequisitesOff && kind.IsRequisite():
		own.Depth, own.Embeds, own.Speculative = it.Depth, queued.EmbedsBeyond, false
	default:
		own.Depth, own.Embeds, own.Speculative = it.Depth, 0, kind == parse.Speculative
	}
}

// inScope reports whether the scope admits a URL, or whether it is a requisite of a page and need not be in the scope.
func (r *Rules) inScope(url []byte, it *queued.URL) bool {
	if queued.IsRequisite(it.Embeds) && r.Requisites == RequisitesAll {
		return true
	}
	return r.Scope.Admits(url, filter.Way{Depth: it.Depth, Embeds: it.Embeds, Hops: it.Redirects})
}

// Refusal is the first check that a URL does not pass.
type Refusal uint8

// The checks, in their order.
const (
	Belongs Refusal = iota // it passes all
	TooDeep
	TooLong
	ExcludedByList // of hosts, SURTs or extensions
	ExcludedByRule // for hosts
	OutOfScope
	refusals
)

// Reason is its name in report.json and crawl.log.
func (r Refusal) Reason() string {
	return [refusals]string{"", "depth", "too-long", "scope", "scope", "scope"}[r]
}

// String says it to people.
func (r Refusal) String() string {
	return [refusals]string{
		"it belongs to the crawl", "deeper than --max-depth", "longer than --max-url",
		"a list of hosts, SURTs or extensions excludes it", "a host rule excludes the host", "out of --scope",
	}[r]
}

// refuses are the checks that need only the rules.
func (r *Rules) refuses(url []byte, it *queued.URL) Refusal {
	switch {
	case r.MaxDepth >= 0 && it.Depth > r.MaxDepth:
		return TooDeep
	case r.MaxURL > 0 && len(url) > r.MaxURL:
		return TooLong
	case r.Lists != nil && r.Lists.Refuses(url) != filter.NoList:
		return ExcludedByList
	}
	return Belongs
}

// check appends a URL to d.urls if it belongs to the crawl, and counts it.
func (f *Frontier) check(d *Scratch, url []byte, it *queued.URL) Refusal {
	d.found++
	why := d.rules.refuses(url, it)
	switch {
	case why != Belongs:
	case f.HostRules.Excludes(url):
		why = ExcludedByRule
	case !d.belongs(url, it):
		why = OutOfScope
	}
	if why != Belongs {
		d.refused[why]++
		return why
	}
	fp := urlx.Fingerprint(f.HashSeed, url)
	owner := 0
	if d.isShared {
		owner = d.ownerOf(url)
		d.owners = append(d.owners, owner)
		fp = d.view.Salted(fp, url, owner)
	}
	if owner == d.view.Self {
		fp.Hi, fp.Lo = fp.Hi^d.Salt.Hi, fp.Lo^d.Salt.Lo
	}
	d.urls, d.fingerprints = append(d.urls, url), append(d.fingerprints, fp)
	return Belongs
}

// KeepsQueued reports whether a URL that was queued under other rules belongs to the crawl under these. It borrows its
// arguments.
func (r *Rules) KeepsQueued(url []byte, it *queued.URL) bool {
	return r.refuses(url, it) == Belongs && (it.Sitemap || r.inScope(url, it))
}

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
