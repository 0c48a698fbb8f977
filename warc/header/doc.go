// Package header appends the lines of the header of a WARC record to a buffer. It does not know which fields a record
// needs: package warc does, and derive/extracts for WET and WAT files. It reads
// the identity of a record, and no other field.
//
// A value never adds a line: control characters become spaces, and what is not allowed in a URI is percent-encoded.
//
// The functions allocate only for dst, as the built-in append does, and borrow everything else.
package header
