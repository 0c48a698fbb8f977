// Package parse extracts links, base URL, character set, title and robots directives from a body.
//
// It builds no tree and applies no policy: it resolves nothing, fetches nothing, and keeps nothing beyond the next
// Scan. The caller decides which links to follow.
//
//	body, content type
//	   |
//	   +-- format: HTML, XML, CSS or none, by type; by the first bytes if there is no type
//	   |           XML with such a root, and mislabelled HTML, is a feed or sitemap (read by engine/page/sitemap)
//	   +-- character set: byte order mark, header, <meta> in the first 1,024 bytes, guess
//	   v
//	[ scanMarkup ]--tag--> attributes --> element --> decode --> Link
//	   |   comments, CDATA, raw text, templates: skipped
//	   +-- <style>, style= --> [ scanStyle ] --> Link
//
// The types follow this order, and each has the next one by value: Scanner chooses the format; markupReader reads tags
// and raw text; elementReader knows what the attributes of an element mean; linkList collects links, also of style
// sheets; textDecoder turns bytes into UTF-8.
//
// HTML is read by the tokenizer rules of the HTML standard (html.spec.whatwg.org): raw text elements, the ends of
// comments, character references with and without semicolons, and the first of two equal attributes. Scripting is off,
// so noscript is markup. Templates are skipped, except shadow roots. SVG and MathML are followed as far as possible
// without a tree: if their elements are misnested with HTML's, a browser may see other links.
//
// # Links
//
//	a area link           href             img source input   src srcset
//	script embed          src              object             data
//	frame iframe          src (srcdoc)            video audio track  src poster
//	meta http-equiv=refresh                body table td ...  background
//	SVG a image feImage use script         href, else xlink:href
//	style sheets          url() @import    form button input  action formaction (Options.Forms, method GET)
//	<?xml-stylesheet?>    href             feeds, sitemaps    see engine/page/sitemap
//	HLS, DASH, M3U        see playlist     manifests, JSON Feed    see jsonlinks
//	img source iframe video audio track    data-src and others: see elementReader.lazy
//	meta property, name   og:image og:url twitter:image ... content
//	script, JavaScript and JSON files, onclick= and others, javascript: URLs, option value    engine/page/parse/script
//	                                                                                   (Options.Speculative)
//	other XML (OPML, KML), RTF             engine/page/parse/script (Options.Speculative)
//	PDF files                              see engine/page/pdflinks (Options.PDF)
//
//	old pages: applet, param, bgsound, layer, lowsrc, dynsrc, longdesc, manifest, noframes, noembed,
//	conditional comments                   see oldElement
//
// Not links: cite, other data-*, usemap, link rel=dns-prefetch or preconnect. References with another scheme than http
// and https are counted and not reported; data URLs would be most of the bytes. docs/links.md has all media types.
//
// # Character sets
//
// Nearly all character sets contain ASCII, so markup is scanned as bytes, and only references with other bytes are
// decoded. UTF-16 and ISO-2022-JP bodies, and feeds, are decoded as a whole first. In a page that is not UTF-8, the
// query of a link is percent-encoded in the page's character set, as in browsers (URL standard). A page without a
// declared character set is read as windows-1252. But a reference that is valid UTF-8 is read as UTF-8. At the first
// one that is not, the text is examined: it may be in an East Asian character set or a non-Latin alphabet.
//
// # Promises
//
// No input causes a panic. Time is linear in the length of the body. At most Options.LinksMax links are returned; the
// others are counted. A Scanner that was used before allocates nothing, except for rare character references.
//
// # Ownership
//
// A Scanner belongs to one worker. It borrows the body until the next Scan; the Result belongs to the Scanner and is
// valid until then.
package parse
