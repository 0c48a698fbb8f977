package parse

import "bytes"

// renderSigns collects what says that a browser must draw an HTML page: that its text comes from scripts.
type renderSigns struct {
	visible     int // bytes of text that a reader sees, up to richText
	hiddenTo    int // offset of the end of the last noscript element
	noscripts   int
	isMounted   bool // there is an empty element into which scripts draw the page
	asksScripts bool // a noscript element asks for scripts
	hasForm     bool // there are fields that a person fills in
}

const (
	// RenderLeast is the least Result.Render of a page that needs a browser.
	RenderLeast = 4

	renderMost    = 12 // no page has more
	poorText      = 200
	richText      = 400
	largePage     = 2000
	noscriptMost  = 512 // bytes of a noscript element that are read
	noscriptsMost = 8   // noscript elements that are read
	renderBytes   = 256 << 10
)

// addText counts the text between two tags. from is its offset in the body.
func (r *renderSigns) addText(text []byte, from int) {
	if from < r.hiddenTo {
		return
	}
	for len(text) > 0 && text[0] <= ' ' {
		text = text[1:]
	}
	for len(text) > 0 && text[len(text)-1] <= ' ' {
		text = text[:len(text)-1]
	}
	r.visible = min(r.visible+len(text), richText)
}

// tag is called with the start tags that can be signs. b[at:p] is the tag behind its name.
func (r *renderSigns) tag(name tag, b []byte, at, p int) {
	switch name {
	case tagAppRoot:
		r.isMounted = r.isMounted || closesSoon(b, p, "app-root")
	case tagDiv:
		r.isMounted = r.isMounted || closesSoon(b, p, "div") && isMountPoint(b[at:p])
	case tagInput:
		r.hasForm = r.hasForm || at > r.hiddenTo && !bytes.Contains(b[at:p], []byte("hidden"))
	case tagTextarea:
		r.hasForm = r.hasForm || at > r.hiddenTo
	case tagNoscript:
		if r.noscripts++; r.noscripts > noscriptsMost {
			return
		}
		r.asksScripts = r.asksScripts || asksForScripts(b[p:min(p+noscriptMost, len(b))])
		r.hiddenTo = endOfText(b, p, "noscript")
	}
}

// closesSoon reports whether nothing but spaces is before the end of an element.
func closesSoon(b []byte, p int, name nameKey) bool {
	for p < len(b) && class[b[p]]&isSpace != 0 {
		p++
	}
	return p < len(b) && b[p] == '<' && closes(b, p+1, name)
}

// isMountPoint reports whether a tag has an id that the usual frameworks draw pages into.
func isMountPoint(tag []byte) bool {
	e := Element{tag: tag}
	found := false
	e.EachAttribute(func(name, raw []byte) {
		if fold(name, "id") {
			switch string(raw) {
			case "root", "app", "__next", "__nuxt":
				found = true
			}
		}
	})
	return found
}

// asksForScripts reports whether the start of a noscript element says that the page needs scripts. Attributes, such as
// those of a counter's picture, say nothing.
func asksForScripts(b []byte) bool {
	text := make([]byte, 0, noscriptMost)
	isTag := false
	for i, c := range b {
		if c == '<' {
			if closes(b, i+1, "noscript") {
				break
			}
			isTag = true
		}
		if !isTag {
			text = append(text, lower[c])
		}
		isTag = isTag && c != '>'
	}
	if !bytes.Contains(text, []byte("javascript")) {
		return false
	}
	for _, word := range [...]string{"enable", "requir", "without", "need"} {
		if bytes.Contains(text, []byte(word)) {
			return true
		}
	}
	return false
}

// score weighs the signs. Most pages have text and no strong sign, so that their bytes are not looked at again.
func (r *renderSigns) score(body []byte, res *Result) int {
	if !r.isMounted && !r.asksScripts && r.visible >= poorText {
		return 0
	}
	n := 0
	add := func(is bool, weight int) {
		if is {
			n += weight
		}
	}
	has := func(mark string) bool { return bytes.Contains(body[:min(len(body), renderBytes)], []byte(mark)) }
	add(r.isMounted, 3)
	add(r.asksScripts, 3)
	add(r.visible < poorText, 1)
	add(r.visible < poorText && len(body) > largePage, 1)
	add(r.visible >= richText, -2)
	add(r.hasForm, -3)
	add(hasBundle(res.Links), 1)
	// An underscore is rare in pages, so that this search is fast. The others are only for pages that they can decide on.
	isNext := has("_next/static/")
	isEmptyNext := isNext && has(`"pageProps":{}`)
	add(isNext && (isEmptyNext || !has("__NEXT_DATA__")), 2)
	add(n >= RenderLeast-1 && has("ng-version"), 1)
	if n >= RenderLeast {
		add(isNext && has("__NEXT_DATA__") && !isEmptyNext || has("data-reactroot") || has("__next_f") ||
			has("data-server-rendered"), -3)
	}
	return max(n, 0)
}

// hasBundle reports whether a script has the name of a bundler's file, such as main.3f2a1b9c.js.
func hasBundle(links []Link) bool {
	for i := range links {
		if links[i].Kind != Script && links[i].Kind != Resource {
			continue
		}
		name, _, _ := bytes.Cut(links[i].Ref, []byte("?"))
		name, isScript := bytes.CutSuffix(name[bytes.LastIndexByte(name, '/')+1:], []byte(".js"))
		name = bytes.TrimSuffix(bytes.TrimSuffix(name, []byte(".chunk")), []byte(".bundle"))
		if hash := name[bytes.LastIndexAny(name, ".-")+1:]; isScript && len(hash) < len(name) && isHash(hash) {
			return true
		}
	}
	return false
}

// isHash reports whether a word can be a hash: 8 to 32 letters and digits, of both kinds.
func isHash(word []byte) bool {
	letters, digits := 0, 0
	for _, c := range word {
		switch {
		case class[c]&isAlpha != 0 || c == '_':
			letters++
		case '0' <= c && c <= '9':
			digits++
		}
	}
	return len(word) >= 8 && len(word) <= 32 && letters+digits == len(word) && letters > 0 && digits > 0
}
