// Package reportpage makes one page of HTML from what a crawl leaves behind: report.json, logs/history and the files of
// reports/. The page needs no other file, no script and no network, so that it can be kept beside the archive.
//
//	WriteFile, Make: report, history and first rows -> Page.Write: template, with the style of the dashboard
//
// # Bounds
//
// A page has at most 25 rows of each report and texts of at most 200 bytes (TestPage_isSmallWhateverTheCrawl). All that
// comes from servers is escaped by html/template.
package reportpage
