// Package cookie stores the cookies of sites and returns them with later requests: one jar for each site (scheme, host
// and port), in memory, limited for each site and for all together.
//
// Set-Cookie is read as browsers read it, which is more than servers should send: a name or value may have any bytes
// but control characters, and a name may be empty. The rules are those of RFC 6265bis (section 5.7), with these
// simplifications:
//
//   - A cookie is sent only to the site that set it. Domain may name the site's host or a parent domain, but the cookie
//     stays with the site. So no list of public suffixes is needed.
//   - Secure cookies need https, because a site over http could not get them back. The prefixes __Secure- and __Host-
//     are respected.
//   - Path, Max-Age and Expires are respected. A cookie without expiry stays as long as the Jars.
//   - SameSite and HttpOnly have no meaning: there are no scripts and no requests on behalf of other sites.
//
// Limits: a full jar (20 cookies, 4 KiB) drops its oldest cookie. When all jars together use their memory, a jar is
// evicted and its cookies are counted as lost. It is the least recently used jar of the size class that uses most
// memory. So a site that is visited keeps its session, however many other hosts set cookies. Expired cookies are
// removed when their site is requested again.
//
// A file of cookies in Netscape's format gives sites cookies to begin with (Presets), for example of a login. As in
// browsers, such a cookie goes to its host, whatever the port; to hosts below that only if its line says so; and over
// plain HTTP unless its line or a prefix of its name asks for HTTPS.
//
// Nothing is saved: after a stop, the crawl comes without cookies. A site that redirects to the same URL until it gets
// its cookie is not requested twice, because a crawl fetches a URL once; its other pages are fetched with the cookie.
package cookie
