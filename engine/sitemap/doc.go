// Package sitemap reads the URLs of sitemaps and feeds, from a stream and in constant memory.
//
// It is not an XML parser and knows no policy: it builds nothing, resolves nothing and fetches nothing. Whether a URL is
// followed, and whether a sitemap may speak for a host (the protocol lets it speak for its own, and for one whose
// robots.txt names it), is for others to say; so is that an index may name sitemaps but no further index.
//
//	octets ---> gunzip, if they are gzip ---> window of 64 KiB ---> tags and text ---> Entry
//	                                                  |
//	                                                  +-- root element, or "http" for a list ---> Format
//
//	urlset        loc: Page      loc of other languages (image:loc), content_loc, ...: Resource     xhtml:link: Related
//	sitemapindex  loc: Sitemap
//	text          a line each: Page
//	rss, RDF      link, guid, comments: Page    enclosure, media:content, itunes:image, ...: Resource   atom:link by its rel
//	feed (Atom)   link by its rel               content src, icon, logo: Resource                       uri: Related
//
// The rest of what a feed quotes, such as HTML inside descriptions, is text: the pages that it is about have it too.
//
// # Limits
//
// Those of the protocol, as Options: 50,000 URLs, 50 MiB after unpacking, 2,048 octets a URL. What is beyond ends the
// reading (or is left out, of a URL), and the Summary says so.
//
// # Promises
//
// Untrusted octets never panic. Time is linear in the unpacked octets and memory is constant. References to characters
// and the five names of XML are replaced; other entities are never expanded, wherever they are declared, so that none
// can blow up. What the octets are cut into on the way makes no difference. A warm Reader allocates nothing, but for gzip.
//
// # Owners
//
// A Reader belongs to one goroutine. An Entry is the Reader's and is valid until the next call.
package sitemap
