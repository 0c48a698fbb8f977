// Package novelty is the budget of a crawl that notices when a part of the web has nothing new to say: it counts, for each part
// of a site, how many of its pages brought something that the site had not said before, and refuses more of what has
// become repetition.
//
// It is not the test whether a URL is known (the sieve) or a payload (content seen). It cannot tell an endless supply of real
// text from a large site; for that there are limits in plain numbers.
//
// The picture.
//
//	            https://shop.example/list/2024?colour=red&size=3
//	            |                   |     |   |
//	keys:       site                /list/    /list/0?    /list/0?colour&size
//
//	Weigh(page) -> words -> sketch: fresh or not --> each key's count, down from the nearest that stands alone
//	Allows(url) <- the deepest key with evidence: is what it brings still worth asking for?
//
// Digits in paths are one digit, so that a calendar is one prefix and not one for each year. A key that has evidence
// stands alone: it counts no more for what is above it, so that a trap in one folder does not speak for the rest of the site. Below the first
// folder only what is worth something stands alone: a thousand combinations of one search stay together.
//
// What is new. A payload that the crawl has already stored is not. Of a text, a word that its site has not used is new, and so are
// several pairs of words that did not stand side by side before; markup, scripts and the values of attributes are not
// read. Words are remembered in a filter that forgets what is oldest, so that a site seems newer than it is, never older.
//
// The judgement. A key has evidence after 64 pages, and is poor when fewer than one in eight of the last 128 to 256 brought anything. Of what a poor key
// stands for, all is refused but what the group has credit for: a group begins with 16, and earns one for
// every 64 pages that brought something. Credit goes to URLs of a kind that was not met yet, and to probes of the old
// kinds, at distances that double. A kind half of whose first pages bring something is asked for on its own merit.
//
// The promises:
//
//   - X1: nothing is refused in a group in which every key brings something new with one page in four, but by a chance that is told in
//     the test.
//   - X2: of a group without an end, all of it repetition, no more is allowed than evidence, credit and one page in 64 of what
//     brought something.
//   - X3: memory stays below MemoryBytes, whoever chooses the URLs; a group that goes for want of it is as if it had never been met.
//
// Groups are sites; and for those who have many, also domains and addresses, whose pages are the first pages of their sites.
//
// Who owns what. A Watch is safe for concurrent use; a Words belongs to one goroutine. Nothing is kept of what is borrowed. There
// are no goroutines.
package novelty
