// Package filter decides by predicate: which URLs are in scope, which pages are kept, which hosts are excluded. What
// it decides by is compiled once and then only read.
//
// It is not a policy engine with state: it has no clock, no counters but its own, and reads no file but through a
// reader it is given. It never looks into a body.
//
//	URL, depth ----> [ Scope ]    all | host | domain | prefix | expression      admitted?
//	host ----------> [ HostSet ]  names, suffixes, address blocks                excluded?
//	Facts ---------> [ Store ]    all | none | expression                        kept?
//
// # The named scopes
//
// "host": the host is that of a seed, whatever the scheme or port. "domain": the registrable domain (the public suffix
// list's, private section included) is that of a seed; a host that is itself a public suffix, or an address, stands
// for itself only. "prefix": the URL begins with a seed cut after the last slash of its path, whatever the scheme.
//
// # Expressions
//
// Anything else is an expression of https://expr-lang.org that yields a bool, for example
//
//	domain == "example.org" && depth <= 5 && !(path matches "^/calendar/")
//	in_domain or host endsWith ".museum"
//	status == 200 and content_type startsWith "text/" and size < 1000000
//
// The names of a scope expression:
//
//	url     string  the normal form                    site    string  scheme://host[:port]
//	scheme  string  http or https                      host    string  without port
//	port    int     80 and 443 when not written        domain  string  registrable domain, or the host
//	path    string  from the slash to the query        query   string  after the question mark
//	depth   int     links from a seed
//	in_host, in_domain, in_prefix  bool  what the named scopes would say
//
// The names of a store expression: url, site, host, path (and query), depth, status, content_type (lower case, without
// parameters), size (bytes of the body), via (URL of the page that linked here), seed (bool), kind (what the link was),
// truncated (bool), duplicate (bool).
//
// In both, domain_of(host) gives the registrable domain of any host.
//
// An unknown name or a wrong type is an error with its position when compiling, not at run time. What can still go
// wrong when running (a list index, a division by zero) is counted, and the answer is the cautious one: a scope does
// not admit, a store keeps. Regular expressions are RE2: linear.
//
// # Costs
//
// A named scope costs two or three map look-ups and no allocation. An expression costs about a microsecond and a
// few allocations. A HostSet look-up is one map look-up for each label of the host.
package filter
