package parse

import (
	"bytes"
	"slices"
)

// renderSigns collects what says that a browser must draw an HTML page: that its text comes from scripts.
type renderSigns struct {
	visible     int // bytes of text that a reader sees, up to richText
	hiddenTo    int // offset of the end of the last noscript element
	noscripts   int
	hasRoot     bool // there is an element into which scripts draw the page; looked for up to bareText
	isMounted   bool // such an element is empty
	asksScripts bool // a noscript element asks for scripts
	hasForm     bool // there are fields that a person fills in
	hasAnchor   bool // there is an <a> outside of noscript elements
}

const (
	// RenderLeast is the least Result.Render of a page that needs a browser.
	RenderLeast = 4

	renderMost    = 11 // no page has more
	bareText      = 32 // no more than "Loading, please wait" has
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
		r.hasRoot, r.isMounted = true, r.isMounted || closesSoon(b, p, "app-root")
	case tagDiv:
		isEmpty := closesSoon(b, p, "div")
		if (isEmpty || r.visible <= bareText && !r.hasRoot) && !r.isMounted && isMountPoint(b[at:p]) {
			r.hasRoot, r.isMounted = true, isEmpty
		}
	case tagA:
		r.hasAnchor = r.hasAnchor || at > r.hiddenTo
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
			case "root", "app", "__next", "__nuxt", "___gatsby", "react-root", "q-app", "svelte":
				found = true
			}
		}
	})
	return found
}

// asksForScripts reports whether the start of a noscript element says that the page needs scripts. Attributes, such as
// those of a counter's picture, say nothing. Other texts are about a part of the page, or recommend scripts.
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
	contains := func(word string) bool { return bytes.Contains(text, []byte(word)) }
	return contains("javascript") && slices.ContainsFunc([]string{"enable", "requir", "without", "need"}, contains) &&
		!slices.ContainsFunc([]string{"comment", "this form", "this video", "best"}, contains)
}

// score weighs the signs. Most pages have text and no strong sign, so that their bytes are not looked at again.
func (r *renderSigns) score(body []byte, res *Result) int {
	if !r.isMounted && !r.asksScripts && r.visible >= poorText {
		return 0
	}
	isBare, hasBundle := r.visible <= bareText && !r.hasAnchor && !r.hasForm, hasBundle(res.Links)
	isMounted := r.isMounted || r.hasRoot && isBare
	// With text or links in the root element, the noscript element is that of the tool's template.
	isFromServer := r.hasRoot && !isMounted && (r.visible >= poorText || r.hasAnchor)
	n := 0
	add := func(is bool, weight int) {
		if is {
			n += weight
		}
	}
	has := func(mark string) bool { return bytes.Contains(body[:min(len(body), renderBytes)], []byte(mark)) }
	add(isMounted, 3)
	add(r.asksScripts && !isFromServer, 3)
	add(r.visible < poorText, 1)
	add(r.visible < poorText && len(body) > largePage, 1)
	add(r.visible >= richText, -2)
	add(r.hasForm, -3)
	add(hasBundle, 1)
	// An underscore is rare in pages, so that this search is fast. The others are only for pages that they can decide on.
	isNext := has("_next/static/")
	isEmptyNext := isNext && has(`"pageProps":{}`)
	add(isNext && (isEmptyNext || !has("__NEXT_DATA__")), 2)
	add(isBare && hasBundle && !isMounted && !isNext, 2)
	// Data is no text: a page that shows nothing at all is drawn from its data.
	if n >= RenderLeast && (r.visible > 0 || r.hasAnchor) && !has("BAILOUT_TO_CLIENT_SIDE_RENDERING") {
		add(isNext && has("__NEXT_DATA__") && !isEmptyNext || slices.ContainsFunc(serverMarks[:], has), -3)
	}
	return max(n, 0)
}

// serverMarks are what the tools write into pages whose text comes from the server.
var serverMarks = [...]string{ //nolint:gochecknoglobals // a table
	"data-reactroot", "__next_f", "data-server-rendered", `data-ssr="true"`, "ng-version", `"isSpaMode":false`,
	"node_ids: [", // SvelteKit
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
