package main

import (
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
)

// difference is what two crawlers found on one site.
type difference struct {
	*run
	site         *site
	ours, theirs set
	speculative  map[string]bool // of ours
	log          []logged        // of wget
}

func (d *difference) both() (n int) {
	for e := range d.ours {
		if d.theirs[e] {
			n++
		}
	}
	return n
}

// explain looks at what only one of the two found. A difference that no rule explains, with evidence from the files, is
// a fault of one of them, to be looked into. It returns those URLs of wget that are no links of the site.
func (d *difference) explain() set {
	wrong := set{}
	onlyOurs, onlyTheirs := d.only(d.ours, d.theirs), d.only(d.theirs, d.ours)
	if d.site.cut {
		onlyOurs = nil
	}
	onlyOurs = d.explained(onlyOurs, "linked from an SVG document, which wget does not read", d.svg())
	onlyOurs = d.explained(onlyOurs, "found as text in a script, which wget does not read", d.inScript)
	onlyOurs = d.explained(onlyOurs, "spelt both with and without an escape, and wget fetched the other", d.spelling())
	onlyTheirs = d.explained(
		onlyTheirs,
		"a backslash in a reference, which means a slash and which wget escapes",
		func(e exchange) bool {
			wrong[e] = wrong[e] || d.backslash(e)
			return wrong[e]
		},
	)
	onlyTheirs = d.explained(
		onlyTheirs,
		"the quotes around the URL of a meta refresh, which wget takes for a part of it",
		func(e exchange) bool {
			wrong[e] = wrong[e] || d.quotes(e)
			return wrong[e]
		},
	)
	for _, e := range first(onlyOurs) {
		d.fail("%s: only orbweaver fetched %s %s (%d such), not explained", d.site.name, e.status, e.url, len(onlyOurs))
	}
	for _, e := range first(onlyTheirs) {
		d.fail("%s: only wget fetched %s %s from %s (%d such), not explained", d.site.name, e.status, e.url,
			d.referrer(e.url), len(onlyTheirs))
	}
	return wrong
}

func (d *difference) only(a, b set) (of []exchange) {
	for e := range a {
		if !b[e] {
			of = append(of, e)
		}
	}
	slices.SortFunc(of, func(a, b exchange) int { return strings.Compare(a.url, b.url) })
	return of
}

// explained takes out what a rule explains and says how many that are.
func (d *difference) explained(of []exchange, why string, rule func(exchange) bool) []exchange {
	left, example, n := []exchange{}, "", 0
	for _, e := range of {
		if rule(e) {
			example, n = e.url, n+1
		} else {
			left = append(left, e)
		}
	}
	if n > 0 {
		d.say("%s: explained, %d: %s, such as %s", d.site.name, n, why, example)
	}
	return left
}

func (d *difference) referrer(u string) string {
	for _, l := range d.log {
		if l.url == u {
			return l.referrer
		}
	}
	return ""
}

func (d *difference) inScript(e exchange) bool { return d.speculative[e.url] }

var reference = regexp.MustCompile(`(?:href|src)="([^"#:]+)[#"]`)

// svg: an SVG document has links, too, which a browser follows. wget reads HTML and CSS.
func (d *difference) svg() func(exchange) bool {
	linked := map[string]bool{}
	for _, l := range d.log {
		if !strings.HasPrefix(l.kind, "image/svg") || !strings.HasPrefix(l.url, d.site.seed()) {
			continue
		}
		text, err := os.ReadFile(d.file(d.site, l.url))
		base, _ := url.Parse(l.url)
		if err != nil || base == nil {
			continue
		}
		for _, found := range reference.FindAllSubmatch(text, -1) {
			if to, err := base.Parse(string(found[1])); err == nil {
				linked[to.String()] = true
			}
		}
	}
	return func(e exchange) bool { return linked[e.url] }
}

// spelling: wget takes two URLs for one that differ only in whether a reserved character is escaped, and fetches the
// first it meets. By RFC 3986, section 2.2, they are two.
func (d *difference) spelling() func(exchange) bool {
	unescape := func(e exchange) exchange {
		if plain, err := url.PathUnescape(e.url); err == nil {
			e.url = plain
		}
		return e
	}
	theirs := set{}
	for e := range d.theirs {
		theirs[unescape(e)] = true
	}
	return func(e exchange) bool { return theirs[unescape(e)] }
}

var leadingBackslash = regexp.MustCompile(`(?:href|src)="?\\`)

// backslash: in a reference, the URL Standard and every browser take a backslash for a slash; wget escapes it. The page
// that wget came from must have such a reference, and ours must have gone to where the slash leads.
func (d *difference) backslash(e exchange) bool {
	at := strings.LastIndex(e.url, "%5C")
	if at < 0 {
		return false
	}
	text, err := os.ReadFile(d.file(d.site, d.referrer(e.url)))
	if err != nil || !leadingBackslash.Match(text) {
		return false
	}
	meant := strings.TrimSuffix(d.site.seed(), "/") + "/" + e.url[at+len("%5C"):]
	for _, status := range []string{"200", "301", "404"} {
		if d.ours[exchange{status, meant}] {
			return true
		}
	}
	return false
}

// quotes: a meta refresh may have quotes around its URL, which the HTML Standard takes away and wget keeps. The page
// that wget came from must have such a refresh, and ours must have gone to where it leads.
func (d *difference) quotes(e exchange) bool {
	quoted, found := strings.CutSuffix(e.url, "'")
	at := strings.LastIndex(quoted, "/'")
	if !found || at < 0 {
		return false
	}
	from := d.referrer(e.url)
	text, err := os.ReadFile(d.file(d.site, from))
	if err != nil || !strings.Contains(string(text), "URL='"+quoted[at+2:]+"'") {
		return false
	}
	base, err := url.Parse(from)
	if err != nil {
		return false
	}
	meant, err := base.Parse(quoted[at+2:])
	return err == nil && (d.ours[exchange{"200", meant.String()}] || d.ours[exchange{"404", meant.String()}])
}
