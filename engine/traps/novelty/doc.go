// Package novelty finds the parts of a site that look like a trap: many pages, but no new content. For each part it
// counts how many pages contained something that the site had not said before. URLs of a part with almost nothing new
// are delayed until their site has no other URLs. Only if the delayed part seems endless, its remaining URLs are
// skipped.
//
// It does not check whether a URL (sieve) or a payload (payload deduplication) is known. It cannot distinguish an
// endless supply of new text from a large site; fixed limits exist for that (--max-per-host).
//
//	            https://shop.example/list/2024?colour=red&size=3
//	            |                   |     |   |
//	keys:       site  site?         /list/    /list/0?    /list/0?colour&size
//
//	NotePage(page)        -> words -> sketch: new or not --> counts of each key, from the deepest independent key down
//	ShouldDelay(url)      <- the deepest key with evidence: does it bring enough new content?
//	ReleaseDelayed(url)   <- the windows of each key: does the part repeat itself and grow without end?
//
// Keys. URLs with and without a query share the key of their site only, also below the same folder. Applications show
// each page in many views with queries, and these views are no evidence about the pages. Each run of digits in a path
// counts as one digit, so a calendar is one part and not one for each year. A key with evidence becomes independent:
// its pages no longer count for the keys above it. So a trap in one folder does not count against the rest of the site.
// Below the first folder only keys with new content become independent, so that a thousand combinations of one search
// stay together.
//
// New content. A page whose payload is already stored is not new. Other pages are new if they contain a word that the
// site has not used, or several pairs of words that did not stand side by side before. Markup, scripts and attribute
// values do not count. What stands in an address does not count either: in the page's own, and in those of its links. A
// word with a digit (number, date, id) is a figure. A page needs eight new figures, and one that is next to a known
// number is not new. So a page that shows its number or its date says nothing new, and a table does. Words are
// remembered in a filter that forgets the oldest ones, so pages may count as new by mistake, but never as old.
//
// Delayed URLs. A key has evidence after 64 pages. It is poor if fewer than one in eight of the last 128 to 256 pages
// was new. URLs below a poor key are delayed. Exempt are kinds of URLs without enough pages, as long as the group has
// credit (one for each eight new pages), and kinds with at least half of their first pages new.
//
// Skipped URLs. Delayed URLs that are fetched are counted in windows of an eighth of the floor (Options.Floor), for
// each key above them. A window is evidence if for every four fetched URLs at least three new ones were delayed, and
// fewer than one page in ten was new. The evidence is strong if also fewer than one page in ten had another payload
// than the page before, or three of four URLs repeat their own folders or parameter names. A key is endless if all of
// this holds: a floor of URLs was fetched; the last windows, half a floor of them, were evidence; and all of these were
// strong, or the part has led to ten floors of URLs. The deepest key of a URL needs these numbers once, the keys above
// it twice. Redirects, failures and pages without new content that follow a delayed URL count for its part, as URLs
// that were found and fetched, up to the next page with new content. All other delayed URLs of an endless key are
// skipped. Its counts are taken from the keys above it, so that a trap is no evidence against the rest of its site.
// This holds for the first trap of a group: a site of traps is bounded as a whole. So a finite part is fetched
// completely if its URLs were found before they were fetched, or if it has at most ten floors of URLs.
//
// Promises:
//
//   - X1: nothing is delayed in a group whose keys all have something new on one page in four, except with the
//     probability that the test states.
//   - X2: of an endless part that repeats itself, one floor of requests is made. Of a site of endless parts, two floors
//     of URLs with a query are fetched, two without, and some windows more. One part can add its own. If the payloads
//     of the part differ, it is up to ten floors; fewer if each page leads to more URLs.
//   - X3: memory stays below MemoryBytes, whatever URLs a site contains. A group that is evicted starts again from
//     nothing.
//   - X4: of a part that repeats itself and does not grow while it is fetched, no URL is skipped, however large it is.
//   - X5: of a part of up to ten floors of requests, no URL is skipped, however it is linked, unless its payloads or
//     its URLs repeat themselves. This holds beside one trap of the same site.
//   - X6: no URL without a query is skipped by evidence of URLs with a query, and the other way round. The same holds
//     for URLs with a parameter that does not change their page.
//
// A group is a site, or a domain whose members are its sites: the pages of such a group are the first pages of the
// sites (JoinMember).
//
// Ownership: a Detector is safe for concurrent use; a Words belongs to one goroutine. No function keeps a borrowed
// buffer. There are no goroutines.
package novelty
