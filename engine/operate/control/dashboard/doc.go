// Package dashboard is the pages for a browser that engine/operate/control serves: files, login, and the numbers of the
// crawl as they change.
//
//	a request without the token of scripts -> Gate.ServeHTTP: page files, login, else sessions.isValid -> the control API
//	Live.Events -> history.Recorder.Now, once a second for all browsers
//
// # Access
//
// The page files hold nothing of the crawl, and any client gets them. For all else a browser logs in with the token. It
// gets a cookie that scripts of pages cannot read, and a key that the page sends as a header field. Each request needs
// both. So a page of another origin has no access, and neither has another server on this machine, to whose port
// browsers send the same cookie. A request that changes something needs the Origin of this server, too.
//
// A session is a signed time. It needs no memory, and is valid after a restart that keeps the token.
//
// # The page of a report
//
// WriteReportPage makes one page of HTML from what a crawl leaves behind: report.json, logs/history and the files of
// reports/. The page needs no other file, no script and no network, so that it can be kept beside the archive. It has
// at most 25 rows of each report and texts of at most 200 bytes (TestPage_isSmallWhateverTheCrawl). All that comes from
// servers is escaped by html/template.
//
// # What it costs
//
// Each open page is one request that waits. An event is made once a second for all of them, while one is open. Other
// answers are made once for all pages that ask the same within seconds (Reuse). A client
// that reads slowly misses events, and is closed when it has not read for some seconds. Without a client there is
// nothing: no goroutine and no timer.
package dashboard
