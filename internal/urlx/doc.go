// Package urlx computes normal forms of URLs: bytes in, bytes out.
//
// The normal form is the serialization of the WHATWG URL standard (url.spec.whatwg.org) without fragment and user
// information, for http and https only. It identifies a URL in the whole crawl: it is fingerprinted, split into site
// and path, queued, fetched and archived.
//
// The package applies no policy, unless Params and Form ask for it: it does not sort parameters, and keeps session
// identifiers and "index.html". It decodes nothing that the standard does not decode. (SURT, the key of the CDXJ index,
// does these things, like the tools that read the index.) The package does not decide which hosts or ports may be
// fetched, and does no I/O.
//
//	raw or ref ---> [ clean ] trim, drop tabs and line ends, cut the fragment
//	                    |
//	                    v
//	base ---------> [ resolve ] scheme? authority? path? query?
//	                    |                 |
//	                    |                 v
//	                    |           [ host ] plain -> lower case      other -> decode, IDNA, IPv4, IPv6
//	                    v
//	                [ path and query ] dot segments, percent-encoding ---> normal form, appended to dst
//
//	https://example.com:8080/a/b?q=1
//	\______________________/\______/
//	          site            path        Split; Host, Port and HTTPS take a site or a whole URL
//
// Every input is parsed in a single pass; only host names with non-ASCII characters need a second step, for IDNA.
// TestRandomReferencesAgainstTheOracle and FuzzResolve compare the result with a literal implementation of the
// standard's state machine.
//
// Differences from the standard: bytes that are not UTF-8 are percent-encoded one by one, so that the server sees what
// the page contains (the standard lets the caller replace them by U+FFFD). ASCII labels that begin with "xn--" are not
// checked, as in the current standard. bench/results/conformance.md is about the published test suites.
//
// Promises:
//
//   - UN1: a normal form is a fixed point: normalizing it again gives the same bytes. It consists of printable ASCII.
//   - UN2: a normal form has at most LengthMax bytes; a longer one is refused with ErrTooLong.
//   - UN3: no input causes a panic, and the time is linear in the length of the input. IDNA takes quadratic time, so
//     names that would cost more than any valid DNS name are refused with ErrHost first.
//
// Every function borrows its inputs and appends to dst, which belongs to the caller; Split and Host return parts of
// their inputs. All functions are safe for concurrent use.
//
// Cost: about 80 ns to resolve and fingerprint a typical link, without allocation. Non-ASCII names, IPv6 literals, and
// SURT keys of URLs with session identifiers allocate.
package urlx
