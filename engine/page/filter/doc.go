// Package filter decides by rules and expressions: which URLs are in scope and may be fetched, which pages are parsed
// and stored, which links are followed, and which hosts are excluded. Filters are compiled once. Then they are
// read-only and safe for concurrent use, except that HostSet and Seeds may be extended.
//
// It reads no clock, no files except through a given reader, and no bodies.
//
//	link  ---> [ Follow ]            all | none | expression                            is it followed?
//	URL   ---> [ Lists ] [ Scope ]   plain rules, then all | host | domain | prefix | expression
//	                                                                                    may it enter the frontier?
//	URL   ---> [ Lists ] [ Fetch ]   the same rules, then all | none | expression       may it be fetched now?
//	page  ---> [ Parse ]             all | none | expression                            is it searched for links?
//	page  ---> [ Store ]             all | none | expression                            is it stored?
//	link  ---> [ Score ]             expression that yields a number                    how soon is it fetched?
//	answer --> [ Stat ]              expression that yields a number                    what is added up?
//
// # The named scopes
//
// "host": the host is that of a seed, with any scheme and port. "domain": the registrable domain (public suffix list,
// private section included) is that of a seed. A host that is a public suffix or an address stands only for itself.
// "prefix": the URL begins with a seed that is cut after the last slash of its path, with any scheme.
//
// # Lists
//
// HostSet, SURTs and Extensions are large lists of simple rules: see there for their formats.
//
// # Expressions
//
// Anything else is an expression of https://expr-lang.org that yields a bool, for example
//
//	domain == "example.org" && depth <= 5 && !(path matches "^/calendar/")
//	in_domain or host endsWith ".museum"
//	status == 200 and content_type startsWith "text/" and size < 1000000
//	kind in ["anchor", "area"] and not nofollow and (same_domain or via_host == "www.example.org")
//
// All filter points know the URL in question, which at Follow is the link:
//
//	url     string  the normal form                    site    string  scheme://host[:port]
//	scheme  string  http or https                      host    string  without port
//	port    int     80 and 443 when not written        domain  string  registrable domain, or the host
//	path    string  from the slash to the query        query   string  after the question mark
//	depth   int     links from a seed                  hops    int     redirects followed since the last link
//	seed    bool    depth and hops are 0
//	in_host, in_domain, in_prefix  bool  what the named scopes would answer
//
// Fetch also knows try (int, attempts before this one) and via (string, the page with the link, if the crawl keeps
// it). Parse and Store know status (int), content_type (string, lower case, without parameters), size (int, stored
// bytes of the body) and truncated (bool). Store also knows duplicate (bool, the payload is stored already),
// needs_render (bool, scripts make the text: see parse.RenderLeast), and via as Fetch. Follow knows kind (string:
// anchor, area, link, image, script, frame, iframe, embed, object, media, refresh, css, form, background, use,
// resource, feed, sitemap, sitemapfile, speculative, pdf, mined, hook, or redirect) and nofollow (bool, rel=nofollow
// on the element). Of the page with the link it knows via (string, its URL), via_host, via_domain, status,
// content_type, needs_render, and same_host, same_domain (bool).
//
// Parse is not asked about a redirect: its target is a link of the kind redirect. Seeds are not links.
//
// Stat knows what Store knows, and outcome (string, as in crawl.log), stored (bool) and seconds (float, of the
// exchange). It is asked about failed requests, too: then status is 0. Numbers are int and float; true counts as 1.
//
// Score knows what Follow knows, and in lower case anchor (string, the text of the link), via_title (string) and
// via_count("word") (int, how often the text of the page has the word). A score is 0 or more, up to a limit.
//
// At all points, domain_of(host) gives the registrable domain of any host.
//
// An unknown name or a wrong type is an error when compiling, with its position. An error during an evaluation (a list
// index, a division by zero) is counted, and the cautious answer is used: Scope, Fetch and Follow refuse, so that
// nothing is fetched by mistake; Parse and Store accept, so that nothing is lost. Score and Stat yield 0. Regular
// expressions are RE2, in linear time.
//
// # Cost
//
// "all" and "none" cost a comparison. A named scope costs two or three map lookups and no allocation. An expression
// costs 0.1 to 0.5 microseconds and two to five allocations; domain and in_... are computed only if the expression uses
// them. A lookup in a HostSet costs one map access for each label of the host. In SURTs it costs one for each label
// that the list shares, and a search among the prefixes of that host. Neither allocates for names, and both hardly
// depend on the length of the list.
package filter
