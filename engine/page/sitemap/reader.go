package sitemap

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
)

// Reader reads one file at a time and is reused for the next one. It is not safe for concurrent use.
type Reader struct {
	o   Options
	win window
	gz  [layersMax]*gzip.Reader // nil until the first file with so many layers

	limit     int64 // limit of bytes of this file
	isNamed   bool  // see ResetFile
	isStarted bool
	root      prefix   // of the root element
	parent    prefix   // of the last url or sitemap element
	name      [16]byte // scratch space for names in lower case
	text      text
	bases     bases
	unclosed  bool // an element with markup has no end: no more of them are looked for
	entries   int  // pages and sitemaps returned
	sum       Summary

	keepCDATA func([]byte) // text.keepVerbatim, bound once
}

// NewReader returns a Reader without a file; Reset sets one. It panics if o, after WithDefaults, is invalid.
func NewReader(o Options) *Reader {
	o = o.WithDefaults()
	if err := o.Validate(); err != nil {
		panic("BUG: " + err.Error())
	}
	r := &Reader{o: o}
	r.keepCDATA = r.text.keepVerbatim
	return r
}

// File is how a file is read that is called a sitemap.
type File struct {
	Bytes int64 // limit of unpacked bytes, if below Options.Bytes
	Layer int64 // limit of the bytes of a layer that is packed again
	// Text returns what makes a file UTF-8; nil if it is already. start, which it borrows, is the beginning of the file.
	Text func(start []byte) func(io.Reader) io.Reader
}

// Reset is ResetFile with the limits of the Options.
func (r *Reader) Reset(src io.Reader) { r.ResetFile(src, &File{Bytes: r.o.Bytes, Layer: r.o.Bytes}) }

// ResetFile starts to read a stream, which it borrows until the next reset. The bytes alone tell what it is. Up to two
// layers of gzip are unpacked. Text in front of the root element, such as a warning of PHP, is skipped.
func (r *Reader) ResetFile(src io.Reader, f *File) {
	r.restart()
	r.limit, r.isNamed = min(f.Bytes, r.o.Bytes), true
	r.win.open(src, r.limit)
	for i := range r.gz {
		if !r.win.at(packedMark) {
			break
		}
		whole := r.win.whole()
		if i > 0 {
			whole = &layer{whole, f.Layer}
		}
		r.unpack(i, whole)
	}
	if f.Text == nil || !r.win.need(1) {
		return
	}
	r.win.need(startMax)
	if inUTF8 := f.Text(r.win.buf[:min(len(r.win.buf), startMax)]); inUTF8 != nil {
		r.win.open(inUTF8(r.win.whole()), r.limit)
	}
}

// startMax is how many bytes of a file show its character set at most.
const startMax = 1 << 10

// packedMark is the beginning of gzip.
const packedMark = "\x1F\x8B"

// layersMax is how many layers of gzip are unpacked. Each one multiplies what a byte can cost, so all but the outermost
// have the limit File.Layer.
const layersMax = 2

// ErrLayer is the error of a file whose layers exceed File.Layer.
var ErrLayer = errors.New("sitemap: packed repeatedly")

// layer reads a limited number of bytes.
type layer struct {
	src  io.Reader
	room int64 // bytes that may still be read
}

func (l *layer) Read(b []byte) (n int, err error) {
	if l.room <= 0 {
		return 0, ErrLayer
	}
	n, err = l.src.Read(b[:min(int64(len(b)), l.room)])
	l.room -= int64(n)
	return n, err
}

// unpack reads whole as gzip.
func (r *Reader) unpack(i int, whole io.Reader) {
	var err error
	if r.gz[i] == nil {
		r.gz[i], err = gzip.NewReader(whole)
	} else {
		err = r.gz[i].Reset(whole)
	}
	r.win.open(r.gz[i], r.limit)
	if err != nil {
		r.gz[i], r.win.src, r.win.err = nil, nil, err
	}
}

// ResetBytes starts to read a file in memory, without gzip. It borrows body until the next Reset.
func (r *Reader) ResetBytes(body []byte) {
	r.restart()
	r.limit = int64(len(body))
	r.win.hold(body, r.o.Bytes)
}

// Unpacked returns the number of unpacked bytes read so far.
func (r *Reader) Unpacked() int64 { return r.limit - r.win.remaining }

func (r *Reader) restart() {
	r.isNamed, r.isStarted, r.entries, r.sum = false, false, 0, Summary{}
	r.root, r.parent, r.unclosed = prefix{}, prefix{}, false
	r.bases.drop()
	r.text.drop()
}

// Format returns the format of the file: by its root element, or by the first line of a list.
func (r *Reader) Format() Format {
	if !r.isStarted {
		r.begin()
	}
	return r.sum.Format
}

// Summary describes what was read so far. Of a damaged gzip file, everything before the damage is returned; Err then
// has the error.
func (r *Reader) Summary() Summary {
	s := r.sum
	s.TooLarge = r.win.exceeded
	if r.win.err != nil {
		s.Err = fmt.Errorf("sitemap: %w", r.win.err)
	}
	return s
}

// begin finds the format.
func (r *Reader) begin() {
	r.isStarted = true
	w := &r.win
	if w.at("\xEF\xBB\xBF") {
		w.pos += 3
	}
	for w.need(1) && isSpace(w.buf[w.pos]) {
		w.pos++
	}
	if r.isNamed {
		w.need(rootMax)
		if start := w.buf[w.pos:]; !r.skipToRoot(start[:min(len(start), rootMax)]) {
			return
		}
	}
	w.need(len("https://"))
	switch {
	case beginsAbsolute(w.buf[w.pos:]):
		r.sum.Format = Text
	case w.at("<"):
		for {
			t, ok := r.nextTag()
			if !ok {
				return
			}
			if t.end || len(t.prefix) > prefixMax {
				continue
			}
			t.local = r.lower(t.local)
			r.sum.Format = formatOf(t.local)
			r.root.set(t.prefix)
			if r.sum.Format == Feed {
				r.bases.enter(&t)
			}
			return
		}
	}
}

// formatOf returns the format for a root element.
func formatOf(root []byte) Format {
	switch string(root) {
	case "urlset":
		return Pages
	case "sitemapindex":
		return Index
	case "rss", "rdf", "feed":
		return Feed
	}
	return None
}

// Next returns the next entry; false at the end.
func (r *Reader) Next() (Entry, bool) {
	for format := r.Format(); format != None && !r.sum.TooMany; {
		var e Entry
		var more bool
		if format == Text {
			e.URL, more = r.line()
		} else {
			e, more = r.element()
		}
		if !more {
			break
		}
		switch {
		case len(e.URL) == 0:
			continue
		case e.Kind == Markup:
			return e, true
		case len(e.URL) > r.o.URLMax:
			r.sum.Long++
			continue
		}
		if e.Kind <= Sitemap {
			if r.entries == r.o.URLs {
				r.sum.TooMany = true
				break
			}
			r.entries++
		}
		r.sum.Entries++
		return e, true
	}
	return Entry{}, false
}

// line reads one line of a list. A line that is not a URL gives none.
func (r *Reader) line() (url []byte, more bool) {
	if !r.win.need(1) {
		return nil, false
	}
	r.text.begin(nil, Page)
	r.win.passLine(r.keepCDATA)
	if url = r.text.end(); !absolute(url) || bytes.ContainsAny(url, " \t") {
		return nil, true
	}
	return url, true
}

func absolute(url []byte) bool {
	return len(url) > 8 && (bytes.EqualFold(url[:7], []byte("http://")) || bytes.EqualFold(url[:8], []byte("https://")))
}

// element reads to the end of the next tag and returns its URL, if any.
func (r *Reader) element() (e Entry, more bool) {
	t, ok := r.nextTag()
	if !ok {
		return e, false
	}
	x := &r.text
	t.local = r.lower(t.local)
	if t.end {
		e.Base = r.bases.current()
		r.bases.leave(&t)
		if !x.on || string(t.local) != string(x.local[:x.size]) {
			x.drop()
			return e, true
		}
		if url := x.end(); !x.guid || absolute(url) {
			e.URL, e.Kind = url, x.kind
		}
		return e, true
	}
	x.drop() // an element with child elements is no URL
	if r.sum.Format != Feed {
		if len(t.local) <= len(x.local) {
			e.URL, e.Kind = r.sitemapElement(&t)
		}
		return e, true
	}
	r.bases.enter(&t)
	e.Base = r.bases.current()
	if len(t.local) <= len(x.local) {
		if e.URL = r.markup(&t); e.URL != nil {
			e.Kind = Markup
		} else {
			e.URL, e.Kind = r.feedElement(&t)
		}
	}
	if t.empty {
		r.bases.leave(&t)
	}
	return e, true
}

// sitemapElement handles a start tag of a sitemap or index.
func (r *Reader) sitemapElement(t *tag) (url []byte, kind Kind) {
	switch string(t.local) {
	case "url", "sitemap":
		r.parent.set(t.prefix)
	case "loc":
		switch {
		case !r.root.is(t.prefix) && !r.parent.is(t.prefix): // of an image
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

// gather starts to collect the text of an element, if it can have any.
func (r *Reader) gather(t *tag, kind Kind) {
	if !t.empty {
		r.text.begin(t.local, kind)
	}
}

// feedElement handles a start tag of a feed.
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
	case "uri", "commentrss":
		r.gather(t, Related)
	case "a":
		return r.text.set(t.attr("href")), Page
	case "source":
		return r.text.set(t.attr("url")), Related
	case "enclosure", "content", "thumbnail", "player", "image", "img", "transcript", "chapters":
		for _, name := range [...]string{"url", "src", "href"} {
			if v := t.attr(name); v != nil {
				return r.text.set(v), Resource
			}
		}
	}
	return nil, 0
}

// kindOfRel returns the kind of an Atom link.
func kindOfRel(rel []byte) Kind {
	switch string(bytes.ToLower(bytes.TrimSpace(rel))) {
	case "", "alternate":
		return Page
	case "enclosure":
		return Resource
	}
	return Related
}

// Format is the format of a file.
type Format uint8

// The formats.
const (
	None  Format = iota // no known format
	Pages               // a sitemap: <urlset>
	Index               // a sitemap index: <sitemapindex>
	Text                // a list of URLs, one in each line
	Feed                // RSS or Atom
)

// String returns the format's name.
func (f Format) String() string {
	if f > Feed {
		return "unknown"
	}
	return [...]string{"none", "urlset", "sitemapindex", "text", "feed"}[f]
}

// Kind is the kind of an Entry.
type Kind uint8

// The kinds.
const (
	Page     Kind = iota // a page that the file lists
	Sitemap              // a sitemap that an index lists
	Resource             // an image, a video, an enclosure
	Related              // a page in another language, the next page of a feed, an author's page
	Markup               // no URL, but HTML or text in a feed; see Options.Markup
)

// String returns the kind's name.
func (k Kind) String() string {
	if k > Markup {
		return "unknown"
	}
	return [...]string{"page", "sitemap", "resource", "related", "markup"}[k]
}

// Entry is one reference of the file. Character references are replaced and outer white space is removed, but it is not
// resolved: in a feed it may be relative. URL is never empty, and is valid until the next call to the Reader.
type Entry struct {
	Kind Kind
	URL  []byte // of Markup: the content of the element as written, borrowed from the body
	Base []byte // what URL and the references in the markup are relative to (xml:base), itself relative; nil for none
}

// Summary describes what was read.
type Summary struct {
	Format   Format
	Entries  int  // entries that Next has returned
	Long     int  // entries that were omitted because they are longer than Options.URLMax
	TooMany  bool // reading ended at Options.URLs
	TooLarge bool // reading ended at Options.Bytes
	Err      error
}
