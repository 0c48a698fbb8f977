// Package sitemap reads the URLs of sitemaps and feeds from a stream, in constant memory. The formats are those of
// sitemaps.org, RSS 2.0, RDF (RSS 1.0) and Atom (RFC 4287).
//
// It resolves nothing and fetches nothing. The caller decides whether a URL is followed, whether a sitemap may name
// URLs of a host, and that an index may name sitemaps but no further index.
//
//	bytes ---> gunzip, if they are gzip ---> UTF-8 ---> window of 64 KiB ---> tags and text ---> Entry
//	                                                  |
//	                                                  +-- root element, or "http" for a list ---> Format
//
//	urlset        loc: Page      loc of other elements (image:loc), content_loc, ...: Resource     xhtml:link: Related
//	sitemapindex  loc: Sitemap
//	text          each line: Page
//	rss, RDF      link, guid, comments: Page    enclosure, media:content, itunes:image, ...: Resource
//	              atom:link: by its rel
//	feed (Atom)   link: by its rel              content src, icon, logo: Resource                  uri: Related
//
// ResetFile reads a file that is called a sitemap, and believes its bytes alone. It reads up to two layers of gzip and
// any character set. It skips text in front of the root element or of the first URL, such as a warning of PHP. Names of
// elements count in any case, and with any prefix. ResetBytes reads a body that is XML already.
//
// The content of elements of a feed that may have HTML is returned as written, of a body in memory (Options.Markup).
// Without this option it is treated as text. An Entry of a feed has the base (xml:base) of its element.
//
// # Limits
//
// Options has the limits of the protocol: 50,000 URLs, 50 MiB of unpacked bytes, 2,048 bytes for a URL. Reading ends at
// a limit; a URL that is too long is omitted. The Summary tells which limit was reached.
//
// # Promises
//
// No input causes a panic. Time is linear in the unpacked bytes, and memory is constant. Of elements in one another,
// eight may have a base, of 2 KiB each. Character references and the
// five predefined XML entities are replaced; other entities are never expanded, so none can grow without limit. The
// result does not depend on how the stream is split into reads. A Reader that has been used before allocates nothing,
// except for gzip.
//
// # Ownership
//
// A Reader belongs to one goroutine. An Entry belongs to the Reader and is valid until the next call.
package sitemap
