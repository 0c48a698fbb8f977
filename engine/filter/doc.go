// Package filter decides by predicate: which URLs are in scope and are asked for, which pages are searched and kept, which
// links are followed, which hosts are excluded. What it decides by is compiled once and then only read.
//
// It is not a policy engine with state: it has no clock, no counters but its own, and reads no file but through a
// reader it is given. It never looks into a body.
//
//	link  ---> [ Follow ]            all | none | expression                            does it lead on?
//	URL   ---> [ Lists ] [ Scope ]   plain rules, then all | host | domain | prefix | expression    may it enter the frontier?
//	URL   ---> [ Lists ] [ Fetch ]   the same rules, then all | none | expression      is it asked for now?
//	page  ---> [ Parse ]             all | none | expression                            is it searched for links?
//	page  ---> [ Store ]             all | none | expression                            is it kept?
//
// # The named scopes
//
// "host": the host is that of a seed, whatever the scheme or port. "domain": the registrable domain (the public suffix
// list's, private section included) is that of a seed; a host that is itself a public suffix, or an address, stands
// for itself only. "prefix": the URL begins with a seed cut after the last slash of its path, whatever the scheme.
//
// # Lists
//
// HostSet, SURTs and Extensions are rules for people who have many of them and no expression: see there for their forms.
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
// All points know the URL that is asked about, which at Follow is the link:
//
//	url     string  the normal form                    site    string  scheme://host[:port]
//	scheme  string  http or https                      host    string  without port
//	port    int     80 and 443 when not written        domain  string  registrable domain, or the host
//	path    string  from the slash to the query        query   string  after the question mark
//	depth   int     links from a seed                  hops    int     redirects followed since the last link
//	seed    bool    depth and hops are 0
//	in_host, in_domain, in_prefix  bool  what the named scopes would say
//
// Fetch knows also try (int, attempts made before this one). Parse and Store know status (int), content_type (string, lower
// case, without parameters), size (int, bytes of the body as kept) and truncated (bool, the body is not whole); Store also
// duplicate (bool, the payload was seen before). Follow knows kind (string: anchor, area, link, image, script, frame, iframe,
// embed, object, media, refresh, css, form, background, use, or redirect), nofollow (bool, rel=nofollow on the element), and
// of the page that links: via (string, its URL), via_host, via_domain, status, content_type; and same_host, same_domain (bool).
//
// A redirect is no page that Parse is asked about: its target is a link, of the kind redirect. Seeds are not links.
//
// In all of them, domain_of(host) gives the registrable domain of any host.
//
// An unknown name or a wrong type is an error with its position when compiling, not at run time. What can still go
// wrong when running (a list index, a division by zero) is counted, and the answer is the cautious one: Scope, Fetch and
// Follow say no, so that nobody is asked by mistake; Parse and Store say yes, so that nothing is lost. Regular expressions
// are RE2: linear.
//
// # Costs
//
// What is all or none costs a comparison. A named scope costs two or three map look-ups and no allocation. An expression
// costs 0.1 to 0.5 microseconds and two to five allocations; domain and in_... are worked out only if it asks for them.
// A look-up in a HostSet is one map look-up for each label of the host, in SURTs one for each label that the list
// shares and a search among the prefixes of that host; neither allocates for names, and both hardly grow with the list.
package filter
