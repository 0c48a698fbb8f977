package sitemap

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
)

// Reader reads one file at a time and may be used again, so that it allocates nothing once warm. It is not safe for
// concurrent use.
type Reader struct {
	o   Options
	win window
	gz  *gzip.Reader // nil until a file was packed

	limit  int64 // octets read at most of this file
	begun  bool
	root   [16]byte // the prefix of the root element
	prefix int      // its length
	text   text
	named  int // pages and sitemaps given
	sum    Summary

	keepCDATA func([]byte) // text.keepVerbatim, made once
}

// NewReader returns a Reader without a file: Reset gives it one. It panics if o, after WithDefaults, does not validate.
func NewReader(o Options) *Reader {
	o = o.WithDefaults()
	if err := o.Validate(); err != nil {
		panic("BUG: " + err.Error())
	}
	r := &Reader{o: o}
	r.keepCDATA = r.text.keepVerbatim
	return r
}

// Reset begins with a stream, which is borrowed until the next Reset. If it is packed with gzip, once, it is unpacked.
func (r *Reader) Reset(src io.Reader) { r.ResetLimit(src, r.o.Bytes) }

// ResetLimit is Reset with a limit of the octets that are read, unpacked, where that is below Options.Bytes.
func (r *Reader) ResetLimit(src io.Reader, limit int64) {
	limit = min(limit, r.o.Bytes)
	r.restart()
	r.limit = limit
	r.win.open(src, limit)
	if !r.win.at("\x1F\x8B") {
		return
	}
	head := bytes.NewReader(bytes.Clone(r.win.buf))
	whole := io.Reader(head)
	if r.win.src != nil {
		whole = io.MultiReader(head, src)
	}
	var err error
	if r.gz == nil {
		r.gz, err = gzip.NewReader(whole)
	} else {
		err = r.gz.Reset(whole)
	}
	r.win.open(r.gz, limit)
	if err != nil {
		r.gz, r.win.src, r.win.err = nil, nil, err
	}
}

// ResetBytes begins with a file that lies in memory and is not packed. The body is borrowed until the next Reset.
func (r *Reader) ResetBytes(body []byte) {
	r.restart()
	r.limit = int64(len(body))
	r.win.hold(body, r.o.Bytes)
}

// Unpacked is how many octets of the file were read so far, unpacked.
func (r *Reader) Unpacked() int64 { return r.limit - r.win.left }

func (r *Reader) restart() {
	r.begun, r.prefix, r.named, r.sum = false, 0, 0, Summary{}
	r.text.drop()
}

// Format says what the file is: by its root element, or by the first line of a list.
func (r *Reader) Format() Format {
	if !r.begun {
		r.begin()
	}
	return r.sum.Format
}

// Summary says what became of the file so far. A packed file that ends too early, or is damaged, has given what there
// was; Err then says why.
func (r *Reader) Summary() Summary {
	s := r.sum
	s.TooLarge = r.win.over
	if r.win.err != nil {
		s.Err = fmt.Errorf("sitemap: %w", r.win.err)
	}
	return s
}

// begin finds out what there is to read.
func (r *Reader) begin() {
	r.begun = true
	w := &r.win
	if w.at("\xEF\xBB\xBF") {
		w.pos += 3
	}
	for w.need(1) && isSpace(w.buf[w.pos]) {
		w.pos++
	}
	switch {
	case w.at("http://"), w.at("https://"):
		r.sum.Format = Text
	case w.at("<"):
		for {
			t, ok := r.nextTag()
			if !ok {
				return
			}
			if t.end || len(t.prefix) > len(r.root) {
				continue
			}
			r.sum.Format = formatOf(&t)
			r.prefix = copy(r.root[:], t.prefix)
			return
		}
	}
}

// formatOf tells a file by its root element.
func formatOf(root *tag) Format {
	switch string(root.local) {
	case "urlset":
		return Pages
	case "sitemapindex":
		return Index
	case "rss", "RDF", "feed":
		return Feed
	}
	return None
}

// Next gives the next entry, false at the end.
func (r *Reader) Next() (Entry, bool) {
	for format := r.Format(); format != None && !r.sum.TooMany; {
		var url []byte
		var kind Kind
		var more bool
		if format == Text {
			url, more = r.line()
		} else {
			url, kind, more = r.element()
		}
		if !more {
			break
		}
		switch {
		case len(url) == 0:
			continue
		case len(url) > r.o.URLMax:
			r.sum.Long++
			continue
		}
		if kind <= Sitemap {
			if r.named == r.o.URLs {
				r.sum.TooMany = true
				break
			}
			r.named++
		}
		r.sum.Entries++
		return Entry{Kind: kind, URL: url}, true
	}
	return Entry{}, false
}

// line reads one line of a list; what does not look like a URL and nothing else is nothing.
func (r *Reader) line() (url []byte, more bool) {
	if !r.win.need(1) {
		return nil, false
	}
	r.text.begin(nil, Page)
	r.win.pass("\n", r.keepCDATA)
	if url = r.text.end(); !absolute(url) || bytes.ContainsAny(url, " \t") {
		return nil, true
	}
	return url, true
}

func absolute(url []byte) bool {
	return len(url) > 8 && (bytes.EqualFold(url[:7], []byte("http://")) || bytes.EqualFold(url[:8], []byte("https://")))
}

// element reads up to the end of the next tag, and gives what it says, if anything.
func (r *Reader) element() (url []byte, kind Kind, more bool) {
	t, ok := r.nextTag()
	if !ok {
		return nil, 0, false
	}
	x := &r.text
	if t.end {
		if !x.on || string(t.local) != string(x.local[:x.size]) {
			x.drop()
			return nil, 0, true
		}
		if url = x.end(); x.guid && !absolute(url) {
			return nil, 0, true
		}
		return url, x.kind, true
	}
	x.drop() // what holds another element is no URL
	if len(t.local) > len(x.local) {
		return nil, 0, true
	}
	if r.sum.Format == Feed {
		url, kind = r.feedElement(&t)
	} else {
		url, kind = r.sitemapElement(&t)
	}
	return url, kind, true
}

// sitemapElement reads the start tag of an element of a sitemap or an index.
func (r *Reader) sitemapElement(t *tag) (url []byte, kind Kind) {
	switch string(t.local) {
	case "loc":
		switch {
		case string(t.prefix) != string(r.root[:r.prefix]):
			r.gather(t, Resource)
		case r.sum.Format == Index:
			r.gather(t, Sitemap)
		default:
			r.gather(t, Page)
		}
	case "thumbnail_loc", "content_loc", "player_loc":
		r.gather(t, Resource)
	case "link":
		return r.text.set(t.attr("href")), Related
	}
	return nil, 0
}

// gather begins to gather the text of an element, if it can have any.
func (r *Reader) gather(t *tag, kind Kind) {
	if !t.empty {
		r.text.begin(t.local, kind)
	}
}

// feedElement reads the start tag of an element of a feed.
func (r *Reader) feedElement(t *tag) (url []byte, kind Kind) {
	switch string(t.local) {
	case "link":
		if href := t.attr("href"); href != nil {
			return r.text.set(href), kindOfRel(t.attr("rel"))
		}
		r.gather(t, Page)
	case "guid":
		if !bytes.EqualFold(t.attr("isPermaLink"), []byte("false")) {
			r.gather(t, Page)
			r.text.guid = true
		}
	case "comments":
		r.gather(t, Page)
	case "url", "icon", "logo":
		r.gather(t, Resource)
	case "uri", "commentRss":
		r.gather(t, Related)
	case "a":
		return r.text.set(t.attr("href")), Page
	case "source":
		return r.text.set(t.attr("url")), Related
	case "enclosure", "content", "thumbnail", "player", "image", "img":
		for _, name := range [...]string{"url", "src", "href"} {
			if v := t.attr(name); v != nil {
				return r.text.set(v), Resource
			}
		}
	}
	return nil, 0
}

// kindOfRel says what a link of Atom is.
func kindOfRel(rel []byte) Kind {
	switch string(bytes.ToLower(bytes.TrimSpace(rel))) {
	case "", "alternate":
		return Page
	case "enclosure":
		return Resource
	}
	return Related
}
