// Command dnscheck crawls sites whose names are resolved by unbound, dnsmasq and Knot DNS, directly and through
// middleboxes as old networks have them. run.sh starts it inside a network namespace that has loopback and nothing
// else.
//
//	crawl --> middlebox --> name server of Debian         zone dns.test, with addresses of 127.0.0.0/8
//	   |                                                   two.dns.test: at its first address nothing listens
//	   +--> sites of the zone                              many.dns.test: needs EDNS or TCP
//
// Each row is a server and a middlebox, and a crawl of all names. Every name must resolve, the name that does not exist
// must be recognised, and the crawl must not take longer than the fall-backs may cost. All rows run at the same time.
package main
