// Package robots parses robots.txt and matches paths against it, by RFC 9309.
//
// It is a pure package: it fetches nothing, caches nothing, and knows no clock. Whether a missing or broken file allows or
// denies everything (AllowAll, DenyAll) is for its users to decide, and so is the cap on crawl delays.
//
//	body ---> [ Parse ] lines -> groups for the agent, else for "*" -> canonical patterns, strongest first ---> Rules
//
//	path ---> [ canonical spelling ] ---> [ first rule that matches ] ---> Allowed, Explain
//
// Both sides are brought to one spelling (see canon.go), so that %7e, %7E and ~ are the same, and é is %C3%A9. The rules are
// sorted once by strength, so that the first match decides and most questions end early.
//
// Rules are one string of octets, which is at the same time what Append writes and Decode reads; numbers are varints:
//
//	+---------+-------+----------+--------+----------------+----------+---------------------+
//	| version | flags | delay ms | length | rules          | sitemaps | per sitemap:        |
//	| 1 octet | 1     |          | of     | ...            | (number) | length, octets      |
//	+---------+-------+----------+--------+----------------+----------+---------------------+
//
//	rule:  length of pattern << 2 | has text << 1 | allow,  line,  pattern,  [ length of text, text ]
//
// In a pattern "*" is the octet 0 and a final "$" the octet 1. The text is the line as written, kept only if it is not
// "Allow: PATTERN" or "Disallow: PATTERN".
//
// Beyond the RFC it forgives what people write: a missing colon, misspelt keys, a crawl delay with a unit, control
// characters, a file in UTF-16, lines of any length (16 KiB count). It does not read "Allow: /x/index.html" as allowing /x/.
//
// Promises:
//
//   - R1: the longest matching pattern decides, in octets of canonical spelling; of equals, Allow; without a match all is
//     allowed.
//   - R2: a question takes time linear in the path for each rule, never more; a file that would still cost more than some
//     milliseconds for a path denies that path.
//   - R3: no body and no snapshot panics; what Append writes Decode gives back; other octets are ErrCorrupt.
//   - R4: /robots.txt itself is always allowed.
//
// Parse and the questions borrow their arguments. Rules own their octets, are never changed, and may be shared freely;
// equal ones have equal hashes and need to be held once.
//
// What it costs: 20 us to parse an ordinary file of 42 rules, 0.4 us for a question to it and no allocation; 5,000 rules
// full of wildcards against a path of 8 KB take less than 0.4 ms. In memory, the patterns and a few octets for each.
package robots
