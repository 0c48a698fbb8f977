// Package page is a chapter of the engine, without code of its own: it reads what a server has sent: the links of a
// document, a sitemap, a robots.txt, a challenge. It works on bytes alone, and each reader has a bound of bytes and of
// time.
//
//	parse         links of HTML, CSS, XML, scripts, playlists and JSON
//	pdflinks      links of PDF documents
//	sitemap       sitemaps and feeds
//	filter        scope, expressions and rules of hosts: which URLs are wanted
//	robotsanswer  what follows from the answer to a request for a robots.txt
//	hook          questions to a program of the user: --hook
//	wall          challenges and captchas of protection services, which are not pages
//
// docs/links.md has what is read of each media type, with a test for each row.
package page
