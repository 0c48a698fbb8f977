// Package cookie keeps what sites ask a client to say again: one jar a site (scheme, host and port), in memory, bounded for each site and
// for all of them together.
//
// Set-Cookie is read by net/http and kept by RFC 6265bis, with what a crawler has no use for left out:
//
//   - A cookie goes back to the very site that set it, and to no other. Domain may only name the site's host or what is above it;
//     whatever it names, the cookie stays where it is. So there is no list of public suffixes to be wrong about.
//   - Secure needs https, since a site over http could not have it back. The prefixes __Secure- and __Host- are kept to.
//   - Path, Max-Age and Expires hold. A cookie without a time holds for as long as the Jars.
//   - SameSite and HttpOnly mean nothing here: there are no pages with scripts, and no other site asks.
//
// A jar that is full, by number or bytes, loses its oldest cookie. When all jars together have their memory, the jar is evicted that was
// not used for longest among those of the size that takes the most, and its cookies are counted as lost. A site that is visited keeps its session,
// however many other hosts set cookies. What has ended makes room when its site is asked again.
//
// Nothing is saved: a client that comes back after a stop comes as a new one. A site that answers with a redirect to the very same URL
// until it sees its cookie is not asked twice, since a crawl asks for a URL once; other pages of it are fetched with the cookie.
package cookie
