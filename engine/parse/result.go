package parse

import "errors"

// Kind says what sort of reference a Link is, by the element and attribute it came from.
type Kind uint8

// The kinds of links.
const (
	Anchor      Kind = iota // <a href>, also SVG's
	Area                    // <area href>
	LinkRel                 // <link href> of a document: alternate, next, canonical, ...; nothing for dns-prefetch and preconnect
	Image                   // <img src, srcset>, <source srcset>, <input type=image>, SVG <image>
	Script                  // <script src>
	Frame                   // <frame src>
	IFrame                  // <iframe src>
	Embed                   // <embed src>
	Object                  // <object data>
	Media                   // <audio>, <video>, <source>, <track> src and <video poster>
	MetaRefresh             // the URL of <meta http-equiv=refresh>
	CSS                     // url() and @import, in style sheets
	Form                    // the action of a form whose method is GET
	Background              // the old background attribute
	Use                     // SVG <use href>
	Resource                // <link href> of what a page is shown with: stylesheet, icon, preload, ...; <?xml-stylesheet?>
	Feed                    // what a feed is about
	Sitemap                 // a page that a sitemap names
	SitemapFile             // a sitemap that an index names, or a robots.txt
	Redirect                // the target of a redirect: of an answer, not of a body
	Robots                  // a robots.txt, asked for before anything else of its site
	kindCount
)

// KindCount is the number of kinds: arrays indexed by Kind have this length.
const KindCount = int(kindCount)

// String gives the kind's name in lower case.
func (k Kind) String() string {
	if k >= kindCount {
		return "unknown"
	}
	return [kindCount]string{
		"anchor", "area", "link", "image", "script", "frame", "iframe", "embed", "object", "media",
		"refresh", "css", "form", "background", "use", "resource", "feed", "sitemap", "sitemapfile", "redirect", "robots",
	}[k]
}

// Letter gives the kind as archives write it in the path of hops from a seed: L for a link that a reader follows, E for
// what a page is shown with, R for what a browser is sent to, S for a form that is submitted, M for a sitemap's word, and
// P for what must be asked first. (Of others' letters there are none here: I, inferred, and X, guessed from scripts.)
func (k Kind) Letter() byte {
	if k >= kindCount {
		return '-'
	}
	return "LLLEEEEEEERESEEELMMRP"[k]
}

// Link is one reference as the page wrote it, not resolved.
//
// Ref is UTF-8 with character references decoded and without the control bytes and spaces around it. It borrows the
// body or the Scanner's scratch space: it is valid until the next Scan and while the body is unchanged.
type Link struct {
	Kind     Kind
	NoFollow bool // rel=nofollow on the element itself; the page's own wish is in Result.NoFollow
	Ref      []byte
}

// Format says which scanner read the body.
type Format uint8

// The formats.
const (
	None       Format = iota // not scanned: a type without links
	HTML                     // HTML by the rules of HTML
	XML                      // XHTML, SVG and other XML, read leniently
	Style                    // a style sheet
	FeedFile                 // RSS or Atom
	SitemapXML               // a sitemap or an index of sitemaps
)

// String gives the format's name in lower case.
func (f Format) String() string {
	switch f {
	case HTML:
		return "html"
	case XML:
		return "xml"
	case Style:
		return "css"
	case FeedFile:
		return "feed"
	case SitemapXML:
		return "sitemap"
	default:
		return "none"
	}
}

// Result is what one body said. It belongs to the Scanner and is valid until its next Scan.
type Result struct {
	Format       Format
	Base         []byte // href of the first <base> that has one, not resolved; nil if there is none or it cannot be a base
	Links        []Link // in document order, at most Options.LinksMax; of a sitemap, at most the 50,000 of the protocol if that is more
	LinksDropped int    // links beyond LinksMax
	LinksLong    int    // references longer than RefMax
	LinksForeign int    // references whose scheme is not http or https (mailto, javascript, data, ...): not in Links
	NoFollow     bool   // <meta name=robots> or our own name said nofollow or none
	NoIndex      bool   // the same for noindex or none
	Charset      string // WHATWG name in lower case, "" when the format has none
	Title        []byte // text of the first <title>, in UTF-8, trimmed, at most TitleMax bytes; nil if there is none
}

func (r *Result) reset() {
	*r = Result{Links: r.Links[:0]}
}

// ErrOptions is wrapped by every fault that Options.Validate finds.
var ErrOptions = errors.New("parse: bad options")
