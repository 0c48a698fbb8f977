// Package header appends the lines of the header of a WARC record to a buffer. It does not know which fields a record
// needs: package warc does, and derive/extracts for WET and WAT files. It reads
// the identity of a record, and no other field.
//
// A value never adds a line: control characters become spaces, and what is not allowed in a URI is percent-encoded.
//
// The functions allocate only for dst, as the built-in append does, and borrow everything else.
//
// # The part arc
//
// This part reads the headers of records in ARC files, which web archives wrote before WARC: versions 1 and 2 of the
// Internet Archive's format. It does not read blocks: package warc does, as those of WARC records.
//
// A record begins with a line of 5 words (version 1) or 10 (version 2): URL, IP address, 14 digits of the time, media
// type, and at the end the length of the block. Writers have put spaces into URLs and types, so the words around them
// decide. The first record of a file has a URL of the scheme filedesc.
package header
