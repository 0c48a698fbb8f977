// Package traps is a web of sites that waste a crawler's time, each beside honest pages: calendars without an end,
// sessions in URLs, paths that grow, searches by facets, names without number, babble that comes slowly, pages for
// whatever is asked, farms of links, one page under many names, redirects to one victim. And honest sites that look
// like them.
//
// It knows which of its pages are honest and which are trap, by their URL, and counts the requests for each. It shares
// no code with the crawler, opens no socket and starts no goroutine.
//
// A Web is a guest of a simulated world (origin.Web.Invite), which has the server, the network and the name server.
//
//	Case: seeds, addresses ---> Answer(host, target) ---> status, body, and what it is in truth
//	                                    |
//	                                  Tally: honest pages asked for, once and again; trap pages
//
// Waste is the share of trap pages among all pages that were asked for. Copies of an honest page under another name are
// trap.
package traps
