// Package urlx makes normal forms of URLs: bytes in, bytes out.
//
// The normal form is the WHATWG URL standard's serialisation without fragment and user information, for http and https
// only. It is what the crawl knows a URL by: it is fingerprinted, split into site and path, queued, fetched, archived.
//
// It is not a policy: parameters are not sorted, session identifiers and "index.html" stay, nothing is un-escaped that
// the standard leaves alone. (SURT, the key of the archive's index, does all that, as the tools do that read the index.)
// It knows nothing of which hosts or ports may be fetched, and does no I/O.
//
//	raw or ref ---> [ clean ] trim, drop tabs and line ends, cut the fragment
//	                    |
//	                    v
//	base ---------> [ resolve ] scheme? authority? path? query?
//	                    |                 |
//	                    |                 v
//	                    |           [ host ] plain -> as is, lower-case      odd -> decode, IDNA, IPv4, IPv6
//	                    v
//	                [ path and query ] dot segments, percent-encoding ---> normal form, appended to dst
//
//	https://example.com:8080/a/b?q=1
//	\______________________/\______/
//	          site            path        Split; Host, Port and HTTPS take either a site or the whole
//
// There is one lane, not a fast and a slow one: the structure is read in a single pass for every input, and only names
// outside ASCII leave it, for IDNA. A parser for all schemes that works on runes costs fifty times as much and has
// quadratic corners; it served as a judge while this one was written. TestRandomReferencesAgainstTheOracle and
// FuzzResolve hold it against the standard's state machine, written down literally.
//
// Where this differs from the standard: octets that are no UTF-8 are percent-encoded one by one (the standard has the
// caller replace them by U+FFFD, and the server would never see what it wrote); ASCII labels that begin with "xn--" are not
// checked, as the standard has it of late. docs/conformance.md has the scores on the published suites.
//
// Promises:
//
//   - N1: a normal form is a fixed point: normalising it again gives the same octets, printable ASCII all of them.
//   - N2: a normal form is at most LengthMax octets long; what would be longer is refused with ErrTooLong.
//   - N3: no input panics, and the time for any input is linear in its length. IDNA is quadratic: names that would cost it more than any
//     name that DNS can answer are refused with ErrHost before it sees them.
//
// Every function borrows its inputs and appends to dst, which stays the caller's; Split and Host return parts of what
// they were given. All are safe for concurrent use: the package's tables are never changed.
//
// What it costs: about 80 ns for resolving and fingerprinting a typical link, without an allocation. Names outside
// ASCII, IPv6 literals and keys of URLs with session identifiers allocate.
package urlx
