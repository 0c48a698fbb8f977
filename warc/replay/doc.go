// Package replay shows an archive to a browser: the pages as they were, with their images, styles and links.
//
// The address of a capture is /TIME/URL, as in other archives: /20260131120000/https://example.org/a?b. The capture
// closest to the time is shown. TIME may be shorter, or missing for the last one; /TIMEid_/URL is the payload
// unchanged. References of HTML and style sheets are rewritten on the server to such addresses. Those that are relative
// need no rewriting, and what was missed is found by the address of the page that asks.
//
//	Handler -> target -> lookup.Archive.Closest, Read -> rewriter (HTML), rewriteCSS, or the payload as it is
//	Handler -> list of pages, list of the captures of a URL, cdxserver.Query, what is near a page that is missing
//
// A Player has an origin of its own. There ReplayWeb.page runs in the browser, and asks for payloads as they are.
//
// # Safety
//
// Archived pages are hostile. Each answer has a Content-Security-Policy: no script runs, no form is sent, and nothing
// is loaded from another origin. So a page can neither reach the control port of a crawl nor tell a server that it is
// read. The policy does not cover all that makes a browser connect to a server. So tags are written in one form (see
// rewriter), and links other than style sheets and icons, scripts and comments are left out. A document of its own is
// HTML, plain text, an image, a film or PDF: XML is shown as text, SVG as an image, and other types are saved.
// Requests for another name than that of this machine are refused: a name of the web may have been rebound to
// this address. Cookies are not stored. ReplayWeb.page lets scripts run, under a policy that forbids requests to other
// origins, but not preconnect.
//
// # Limits
//
// A list has listMost pages, and opens at most openMost records: for titles, and to find out whether a revisit is a
// page. It says where to go on. The first page counts countMost captures. A part of a payload is sent if its length is
// known. What is before the part is read, too.
//
// Scripts do not run, so what only a script would load or show is missing, and refreshes do not happen. HTML and style
// sheets are rewritten as they are read, whatever their length: see tagMost, refMost and addressesMost. A payload that
// is far longer than what is stored of it is not sent to its end (expansionMost). Pages are decoded to UTF-8.
package replay
