// Package parse finds the links of a body, its base, its character set and its wishes about robots: a pure function
// with scratch space.
//
// It is not a tree builder and knows no policy: it resolves nothing, fetches nothing, and keeps nothing beyond the next
// Scan. Whether a link is followed is for others to say.
//
//	body, content type
//	   |
//	   +-- format: HTML, XML, CSS or none, by type; by the first bytes when there is no type
//	   |           XML whose root says so, and HTML that is none, is a feed or a sitemap (engine/sitemap reads it)
//	   +-- character set: byte-order mark, header, <meta> in 1,024 bytes, guess
//	   v
//	[ scanMarkup ]--tag--> attributes --> element --> decode --> Link
//	   |   comments, CDATA, raw text, templates: stepped over
//	   +-- <style>, style= --> [ scanStyle ] --> Link
//
// HTML is read by the rules of the standard's tokenizer: raw text elements, comments as browsers end them, character
// references with and without semicolons, the first of two equal attributes. Scripting is off, so noscript is markup.
// Templates are skipped, but for shadow roots. SVG and MathML are followed as far as that can be done without a tree:
// where their elements are misnested with HTML's, a browser may see a few links differently.
//
// # Links
//
//	a area link           href             img source input   src srcset
//	script embed          src              object             data
//	frame iframe          src (srcdoc)            video audio track  src poster
//	meta http-equiv=refresh                body table td ...  background
//	SVG a image feImage use script         href, else xlink:href
//	style sheets          url() @import    form button input  action formaction (Options.Forms, method GET)
//	<?xml-stylesheet?>    href             feeds, sitemaps    see engine/sitemap
//
// Not links: cite, longdesc, data-*, usemap, and link rel=dns-prefetch or preconnect. References with a scheme other
// than http and https are counted and not reported; they would be most of the bytes, as data URLs.
//
// # Character sets
//
// Nearly all of them contain ASCII, so the markup is scanned as bytes and only a reference with other bytes is decoded.
// UTF-16 and ISO-2022-JP bodies, and feeds, are decoded as a whole first. In a page that is not UTF-8, the characters of a query are
// written as percent-encoded bytes of the page's character set, as browsers do. A page that names no character set is
// taken as windows-1252, but each reference that reads as UTF-8 is taken as that, and when one comes that does not, the
// text is looked at: it may be in one of East Asia's character sets, or in an alphabet that is not Latin.
//
// # Promises
//
// Untrusted bytes never panic. Time is linear in the body. At most Options.LinksMax links come out and the others are
// counted. A warm Scanner allocates nothing, but for rare character references.
//
// # Owners
//
// A Scanner belongs to one worker. It borrows the body until the next Scan; the Result is its own, and is valid as long.
package parse
