// Package mining makes URLs that no page may link to: the flag --mine. From the page /video/clips/a.html it makes the
// folders above it: /video/clips/, /video/ and / (ancestors). From numbered pages such as /pics/07.html it makes their
// neighbours: /pics/06.html, /pics/08.html and /pics/09.html (siblings). The number is the last one of the query, or of
// the last part of the path. The step of a series, and its zeros in front, are learned from the links of the site. Both
// kinds are those of Tarantula (Saxena, Dubey, Dhurandher and Woungang, ICSOFT).
//
//	parse worker   Mine       a page -> mined URLs, which are offered with its links
//	parse worker   NoteFind   a mined URL was a page with something new
//
// Mined URLs pass all that links pass: filters, scope, robots.txt, politeness, quotas, the search for traps. They come
// after all other URLs of their site. Their hop letter is I, for inferred.
//
// A site may try 20 mined URLs, and 20 more for each that was a page with something new. So mining stops at a site
// where less than one in 20 is; and each site has a limit (Options.MineMost). Until its text is compared, such a page
// brings four tries: else a site that answers everything with one page would use up 20 for each, before NoteFind takes
// it back. URLs that may not be tried yet wait. The folders of one depth, those with a number apart, are a shape, and
// so is each series. A shape without a find has at most half of the tries that are left, so that others have their
// turn.
//
// What is learned, and what waits, is in memory: at most 65,536 sites with 2 KiB of series and shapes each, and 32 MiB
// of URLs that wait. It is lost with the run, or if other sites need the room. Mined URLs that were offered are in the
// journal like links.
package mining
