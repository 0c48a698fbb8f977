package parse

import "errors"

// Kind is the kind of a reference, by its element and attribute.
type Kind uint8

// The kinds of links.
const (
	Anchor      Kind = iota // <a href>, also in SVG
	Area                    // <area href>
	LinkRel                 // <link href> of a document: alternate, next, canonical, ...; not dns-prefetch and preconnect
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
	Background              // the obsolete background attribute
	Use                     // SVG <use href>
	Resource                // <link href> of a page requisite: stylesheet, icon, preload, ...; <?xml-stylesheet?>
	Feed                    // an entry of a feed
	Sitemap                 // a page that a sitemap lists
	SitemapFile             // a sitemap that an index or a robots.txt lists
	Redirect                // the target of a redirect response
	Robots                  // a robots.txt, fetched before any page of its site
	Speculative             // a string in a script or in data that looks like a URL
	PDF                     // a link in a PDF document
	Mined                   // no page has it: see engine/frontier/mining
	Hook                    // a program of the user has found it: see engine/page/hook
	kindCount
)

// KindCount is the number of kinds: arrays indexed by Kind have this length.
const KindCount = int(kindCount)

// String returns the kind's name in lower case.
func (k Kind) String() string {
	if k >= kindCount {
		return "unknown"
	}
	return [kindCount]string{
		"anchor", "area", "link", "image", "script", "frame", "iframe", "embed", "object", "media",
		"refresh", "css", "form", "background", "use", "resource", "feed", "sitemap", "sitemapfile", "redirect", "robots",
		"speculative", "pdf", "mined", "hook",
	}[k]
}

// Letter returns the letter of the kind in a hop path, as in Heritrix: L for a navigational link, E for an embed, R for
// a redirect, S for a form submission, M for a sitemap, P for a prerequisite, X for a speculative link, I (inferred)
// for a mined URL.
func (k Kind) Letter() byte {
	if k >= kindCount {
		return '-'
	}
	return "LLLEEEEEEERESEEELMMRPXLIL"[k]
}

// IsRequisite reports whether a page needs a link of the kind to be shown: a style sheet, an image, a script, a frame.
func (k Kind) IsRequisite() bool { return k.Letter() == 'E' }

// Context returns where in a page a link of the kind stands, in the words of Heritrix.
func (k Kind) Context() string {
	switch k {
	case Anchor:
		return "a/@href"
	case Area:
		return "area/@href"
	case Form:
		return "form/@action"
	case LinkRel, Resource:
		return "link/@href"
	case Image:
		return "img/@src"
	case Script:
		return "script/@src"
	case Frame:
		return "frame/@src"
	case IFrame:
		return "iframe/@src"
	case Embed:
		return "embed/@src"
	case Object:
		return "object/@data"
	case Background:
		return "body/@background"
	case Use:
		return "use/@href"
	case MetaRefresh:
		return "meta"
	case Redirect:
		return "Location:"
	case Sitemap, SitemapFile:
		return "=MANIFEST_MISC"
	case Feed, PDF:
		return "=NAVLINK_MISC"
	case Speculative:
		return "=SPECULATIVE_MISC"
	case Mined:
		return "=INFERRED_MISC"
	case Hook:
		return "=HOOK_MISC"
	default:
		return "=EMBED_MISC"
	}
}

// Link is one reference as the page wrote it, not resolved.
//
// Ref is UTF-8 with character references decoded and without the control bytes and spaces around it. It borrows the
// body or the Scanner's scratch space: it is valid until the next Scan and while the body is unchanged.
type Link struct {
	Kind     Kind
	NoFollow bool // rel=nofollow on the element; for the page see Result.NoFollow
	Ref      []byte
}

// Format says how the body was read.
type Format uint8

// The formats.
const (
	None         Format = iota // not scanned: a type without links
	HTML                       // HTML by the rules of HTML
	XML                        // XHTML, SVG and other XML, read leniently
	Style                      // a style sheet
	FeedFile                   // RSS, Atom or JSON Feed
	SitemapXML                 // a sitemap or an index of sitemaps
	ScriptFile                 // JavaScript or JSON: see Options.Speculative
	PlaylistFile               // HLS, DASH or M3U: see engine/page/parse/playlist
	PDFFile                    // see Options.PDF
	DataFile                   // a manifest of an application: see engine/page/parse/jsonlinks
)

// isData reports whether files of the format name no character set.
func (f Format) isData() bool { return f == PlaylistFile || f == DataFile || f == PDFFile }

// String returns the format's name in lower case.
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
	case ScriptFile:
		return "script"
	case PDFFile:
		return "pdf"
	case PlaylistFile:
		return "playlist"
	case DataFile:
		return "data"
	default:
		return "none"
	}
}

// Result is what a body contains. It belongs to the Scanner and is valid until its next Scan.
type Result struct {
	Format Format
	// href of the first <base> that has one, not resolved; nil if there is none or it cannot be a base
	Base []byte
	// in document order, at most Options.LinksMax; for a sitemap, at least up to the protocol's 50,000
	Links        []Link
	LinksDropped int    // links beyond LinksMax
	LinksLong    int    // references longer than RefMax
	LinksForeign int    // references whose scheme is not http or https (mailto, javascript, data, ...): not in Links
	NoFollow     bool   // <meta name=robots>, or with the crawler's own name, contains nofollow or none
	NoIndex      bool   // the same for noindex or none
	Charset      string // WHATWG name in lower case, "" when the format has none
	Render       int    // of HTML: how much says that scripts make the text, see RenderLeast
	Text         []byte // of HTML and XHTML, in lines, if Options.Text is set; the title is the first one
	Title        []byte // text of the first <title>, in UTF-8, trimmed, at most TitleMax bytes; nil if there is none
	// of a PDF file: it needs a password, so its links are not known; and how many of its object streams were not read
	// whole
	IsEncrypted   bool
	StreamsUnread int
	// if Options.Details is set, in document order
	Elements []Element

	decoder *textDecoder
}

func (r *Result) reset() {
	*r = Result{Links: r.Links[:0], Elements: r.Elements[:0], decoder: r.decoder}
}

// ErrOptions is wrapped by every error of Options.Validate.
var ErrOptions = errors.New("parse: bad options")
