// Command conformance scores the parts that read foreign bytes on the test suites that others have published.
//
//	conformance DATA           prints a score for each suite; fails if one has sunk or a failure is not explained
//	conformance DATA PAGE      writes them to PAGE as well, with every failure and its reason
//
// The suites are not part of this tree. DATA is a directory that holds them:
//
//	url/        urltestdata.json, toascii.json, IdnaTestV2.json, percent-encoding.json    web-platform-tests, folder url
//	            ada_extra_urltestdata.json, ada_long_urltestdata.json                     ada-url/ada, folder tests/wpt
//	robots/     google_robots_cases.json, google_robots_helpers.json      google/robotstxt, robots_test.cc, as JSON
//	charset/    sniffer/{bom,normal,no-result,utf}/*.html                 jsdom/html-encoding-sniffer, folder test
//	mimesniff/  mime-types.json, generated-mime-types.json        web-platform-tests, mimesniff/mime-types/resources
//	            mime-groups.json                                  web-platform-tests, mimesniff/mime-groups
//	            unknown-mime-types.json                     web-platform-tests, mimesniff/mime-type-sniffing/resources
//	fetch/      content-types.json                                web-platform-tests, fetch/content-type/resources
//	html/       html5lib/tokenizer/*.test, html5lib/encoding/**           html5lib/html5lib-tests
//	psl/        tests.txt                                                 publicsuffix/list, folder tests
//	warc/       *.warc, *.warc.gz, hello-world.warc.cdx                   iipc/warc-specifications, samples
//
// A robots case is an object {test, line, robots, agent, url, allowed, google_only}; a helper's is plain from its file.
// A suite whose files are not there is told and passed over.
//
// What was reached stands in held.go, one suite a line: a score below it is a fault, and one above it must be written
// there. reasons.go says why a case fails; a failure without a reason is a fault, and so is a reason without a failure.
//
// It judges what a crawl uses, from outside: no package knows that it is being scored. Where the suites are about more
// than a crawler does (URLs of other schemes, trees of elements) it asks about the part that a crawler does, and the
// page says so.
package main
