// Package novelty finds the parts of the web that look like a trap: it counts, for each part of a site, how many of its pages brought
// something that the site had not said before. URLs of a part that brings next to nothing are delayed until the site has nothing else. Only if
// the delayed part turns out to have no end are URLs left out.
//
// It is not the test whether a URL is known (the sieve) or a payload (content seen). It cannot tell an endless supply of new
// text from a large site; for that there are limits in plain numbers.
//
// The picture.
//
//	            https://shop.example/list/2024?colour=red&size=3
//	            |                   |     |   |
//	keys:       site                /list/    /list/0?    /list/0?colour&size
//
//	Weigh(page)   -> words -> sketch: fresh or not --> each key's count, down from the nearest that stands alone
//	Delays(url)   <- the deepest key with evidence: is what it brings worth asking for before everything else?
//	Take(delayed) <- each key's windows: does it repeat itself and grow without an end?
//
// Digits in paths are one digit, so that a calendar is one prefix and not one for each year. A key that has evidence
// stands alone: it no longer counts for what is above it, so that a trap in one folder does not speak for the rest of the site. Below the first
// folder only what is worth something stands alone: a thousand combinations of one search stay together.
//
// What is new. A payload that the crawl has already stored is not. Of a text, a word that its site has not used is new, and so are
// several pairs of words that did not stand side by side before; markup, scripts and the values of attributes are not
// read. Words are remembered in a filter that forgets what is oldest, so that a site seems newer than it is, never older.
//
// What is delayed. A key has evidence after 64 pages, and is poor when fewer than one in eight of the last 128 to 256 brought anything. URLs of a
// poor key are delayed, except of kinds that were not met yet, while there is credit: one for eight pages that brought something. A kind
// half of whose first pages bring something is not delayed.
//
// What is left out. Delayed URLs that are fetched are counted in windows of an eighth of the floor, for each key above them. A window is
// evidence if at least three new URLs were delayed for every four that were fetched, and fewer than one page in ten brought something. The
// evidence is strong if moreover fewer than one page in ten had another payload than the page before, or three of four URLs repeat their own folders or
// parameter names. A key is endless when it has had its floor, its last windows, half a floor of them, were all evidence, and
// these were all strong or the part has led to ten floors of URLs. The deepest key of a URL needs these numbers once, the keys above it twice. Of an
// endless key everything else that is delayed is left out. So a part that has an end is fetched whole if it was found before it was fetched,
// or if it has up to ten floors of URLs.
//
// The promises:
//
//   - X1: nothing is delayed in a group in which every key brings something new with one page in four, except by a chance that is told in
//     the test.
//   - X2: of an endless part that repeats itself one floor is fetched, of a site of endless parts two, and some windows beside. If the payloads
//     of the part differ, up to ten floors: the fewer, the more URLs each page leads to.
//   - X3: memory stays below MemoryBytes, whoever chooses the URLs; a group that goes for want of memory is as if it had never been met.
//   - X4: of a part that repeats itself and does not grow while it is fetched nothing is left out, however large it is.
//   - X5: of a part of up to ten floors of URLs nothing is left out, whatever leads to them, unless its payloads or its URLs repeat themselves.
//
// Groups are sites; and for sites of one domain the domain, whose pages are the first pages of its sites (Join).
//
// Who owns what. A Watch is safe for concurrent use; a Words belongs to one goroutine. Nothing is kept of what is borrowed. There
// are no goroutines.
package novelty
