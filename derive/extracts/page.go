package extracts

import (
	"bytes"

	"orbweaver/engine/page/parse"
	"orbweaver/internal/jsontext"
)

// elementRule says which links an element has, and where they are listed.
type elementRule struct {
	place place
	links []linkRule
}

// place is a list of links in HTML-Metadata.
type place uint8

const (
	bodyLinks place = iota
	headLinks
	headScripts
	placeCount
)

// linkRule is an attribute with a URL, and others of the same element that describe it.
type linkRule struct {
	url  string
	more []string
}

// elementRules are those of Common Crawl, by name of the element.
func elementRules() map[string]elementRule {
	sources := elementRule{links: []linkRule{{url: "src"}}}
	quotation := elementRule{links: []linkRule{{url: "cite"}}}
	return map[string]elementRule{
		"a":    {links: []linkRule{{"href", []string{"target", "alt", "title", "rel", "hreflang", "type"}}}},
		"area": {links: []linkRule{{"href", []string{"rel"}}}},
		"form": {links: []linkRule{{"action", []string{"target", "method"}}}},
		"img":  {links: []linkRule{{"src", []string{"alt", "title"}}, {url: "longdesc"}}},
		"link": {headLinks, []linkRule{{"href", []string{"rel", "type"}}}},

		"script": {headScripts, []linkRule{{"src", []string{"type"}}}},
		"applet": {links: []linkRule{{url: "codebase"}, {url: "cdata"}}},
		"object": {links: []linkRule{{url: "codebase"}, {url: "cdata"}, {url: "data"}}},
		"video":  {links: []linkRule{{url: "src"}, {url: "poster"}}},
		"input":  {links: []linkRule{{url: "src"}, {url: "formaction"}}},
		"button": {links: []linkRule{{url: "formaction"}}},

		"menuitem": {links: []linkRule{{url: "icon"}}},
		"audio":    sources, "embed": sources, "frame": sources, "iframe": sources, "source": sources, "track": sources,
		"blockquote": quotation, "del": quotation, "ins": quotation, "q": quotation,
	}
}

// pageWriter describes pages.
type pageWriter struct {
	rules      map[string]elementRule
	page       *parse.Result
	name       []byte // of the element at hand, in lower case
	attributes []attribute
	metas      jsontext.Object
	lists      [placeCount]jsontext.Object
}

// attribute is one of the element at hand.
type attribute struct {
	name []byte
	raw  []byte
}

// describe adds what is in the head of a page, and its links.
func (w *pageWriter) describe(o *jsontext.Object, page *parse.Result) {
	w.page = page
	w.metas.Reset()
	for i := range w.lists {
		w.lists[i].Reset()
	}
	for i := range page.Elements {
		w.element(&page.Elements[i])
	}
	o.Name("HTML-Metadata")
	o.Open('{')
	o.Name("Head")
	o.Open('{')
	if len(page.Title) > 0 {
		o.Bytes("Title", bytes.Join(bytes.Fields(page.Title), []byte(" ")))
	}
	if len(page.Base) > 0 {
		o.Bytes("Base", page.Base)
	}
	addList(o, "Metas", &w.metas)
	addList(o, "Link", &w.lists[headLinks])
	addList(o, "Scripts", &w.lists[headScripts])
	o.Close('}')
	addList(o, "Links", &w.lists[bodyLinks])
	o.Close('}')
}

// addList adds a list that has elements.
func addList(o *jsontext.Object, name string, list *jsontext.Object) {
	if len(list.Text) == 0 {
		return
	}
	o.Name(name)
	o.Open('[')
	o.Text = append(o.Text, list.Text...)
	o.Close(']')
}

// element adds what an element says.
func (w *pageWriter) element(e *parse.Element) {
	w.name = w.name[:0]
	for _, c := range e.Name[bytes.LastIndexByte(e.Name, ':')+1:] {
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		w.name = append(w.name, c)
	}
	w.attributes = w.attributes[:0]
	e.EachAttribute(func(name, raw []byte) { w.attributes = append(w.attributes, attribute{name, raw}) })
	for _, name := range []string{"background", "data-href", "data-uri"} {
		w.link(bodyLinks, linkRule{url: name}, nil)
	}
	switch string(w.name) {
	case "html":
		w.language("lang")
		w.language("xml:lang")
	case "meta":
		w.meta()
	case "style":
		w.sheet(w.page.Links[e.SheetFrom:e.SheetTo])
	default:
		rule := w.rules[string(w.name)]
		for _, l := range rule.links {
			w.link(rule.place, l, e.Text)
		}
	}
}

// get returns the value of an attribute of the element at hand.
func (w *pageWriter) get(name string) (value []byte, ok bool) {
	for i := range w.attributes {
		if len(w.attributes[i].name) == len(name) && bytes.EqualFold(w.attributes[i].name, []byte(name)) {
			return w.page.Value(w.attributes[i].raw), true
		}
	}
	return nil, false
}

// link adds a link, if the element at hand has one.
func (w *pageWriter) link(where place, rule linkRule, text []byte) {
	url, ok := w.get(rule.url)
	if !ok {
		return
	}
	o := &w.lists[where]
	o.Open('{')
	w.path(o, "path", rule.url)
	o.Bytes("url", trimData(url))
	for _, name := range rule.more {
		if value, ok := w.get(name); ok {
			o.Bytes(name, value)
		}
	}
	if len(text) > 0 {
		o.Bytes("text", bytes.ReplaceAll(text, []byte("\n"), []byte(" ")))
	}
	o.Close('}')
}

// path adds a member that says where a value is, as "A@/href".
func (w *pageWriter) path(o *jsontext.Object, name, attribute string) {
	o.Name(name)
	o.Text = jsontext.AppendContent(append(o.Text, '"'), bytes.ToUpper(w.name))
	o.Text = append(append(append(o.Text, "@/"...), attribute...), '"')
}

// language adds the language that the html element declares, as a meta element.
func (w *pageWriter) language(attribute string) {
	value, ok := w.get(attribute)
	if !ok {
		return
	}
	o := &w.metas
	o.Open('{')
	w.path(o, "name", attribute)
	o.Bytes("content", value)
	o.Close('}')
}

// meta adds a meta element, if it has two attributes that count.
func (w *pageWriter) meta() {
	o := &w.metas
	before := len(o.Text)
	o.Open('{')
	count := 0
	for _, name := range []string{"name", "rel", "content", "http-equiv", "property"} {
		if value, ok := w.get(name); ok {
			o.Bytes(name, trimData(value))
			count++
		}
	}
	o.Close('}')
	if count < 2 {
		o.Text = o.Text[:before]
	}
}

// sheet adds the links of a style sheet in the page.
func (w *pageWriter) sheet(links []parse.Link) {
	o := &w.lists[bodyLinks]
	for i := range links {
		o.Open('{')
		o.String("path", "STYLE/#text")
		o.Bytes("href", links[i].Ref)
		o.Close('}')
	}
}

// dataMost is how much of a data URL is kept, in bytes.
const dataMost = 128

// trimData returns a URL. Of a data URL, only the media type is kept.
func trimData(url []byte) []byte {
	if !bytes.HasPrefix(url, []byte("data:")) {
		return url
	}
	head := url[:min(len(url), dataMost)]
	if comma := bytes.IndexByte(head, ','); comma >= 0 {
		return head[:comma+1]
	}
	return head
}
