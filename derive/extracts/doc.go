// Package extracts makes WET and WAT files: the text of pages, and the metadata of all records, as WARC files in the
// form of Common Crawl. Both are gzip files with a member for each record.
//
//	NAME.warc.gz --> DIR/wet/NAME.warc.wet.gz   warcinfo, then a conversion record for each page that has text
//	             --> DIR/wat/NAME.warc.wat.gz   warcinfo, then a metadata record (JSON) for each record
//
// The text is that of the parser, which has Common Crawl's block rules. Headers of WET records are in the order that
// readers by position expect: the digest is the seventh line, Content-Length the ninth.
//
// A WAT record has the links that Common Crawl lists, by the elements and attributes of elementRules. docs/outputs.md
// compares each field with Common Crawl's.
//
// Record identities are computed from those of the records that are described, so that a repeated run writes the same
// files. A record that has no identity gets one from its file and offset.
//
// A Product may be used by several goroutines, a writer by one.
package extracts
