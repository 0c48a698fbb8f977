// Package fixity knows what closed WARC files contain, without reading them again.
//
//   - File is what is known of a closed file: name, length, SHA-256, number of records.
//   - Listener is told of each file when it is closed. It is the only place where this is announced.
//   - Digest computes the SHA-256 of a file that is still written, behind its writer.
package fixity
