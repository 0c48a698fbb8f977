// Package warc writes WARC archives and reads those of any crawler. It writes WARC 1.1 (ISO 28500:2017): each record is
// a gzip member or zstd frame of its own, and each complete file has a sorted CDXJ index.
//
// It does not fetch: it gets bytes as they were on the wire, with their digests. It does not decide what is a
// duplicate, starts no goroutine, and does not interpret pages.
//
//	 parse worker                                      one place
//	+-------------------------+                   +----------------------+        PREFIX-TIME-SERIAL-HOST.warc.gz.open
//	| Record -> Encoder       |      Group        | Writer.Append        |        +----------+--------+-----+---------+-
//	|  header, digest,        | ----------------> |  stamp, one write,   | -----> | warcinfo | resp.  | req.| meta.   |
//	|  compress: one member   |  (whole members)  |  index line, rotate  |        +----------+--------+-----+---------+-
//	+-------------------------+                   +----------------------+          member     \____ one Group ____/
//
//	Archive.ReadGroup <--- Reader (streaming, any form) ---> ScanRecords ---> Verifier, repair, WriteIndex,
//	                                                                          OpenWriter(at), fsck, rebuild, recrawl
//
// Packages below it have one subject each: member (compression of one record), block (HTTP heads, chunking, digests),
// cdxj (lines of an index), deflate (gzip at level 1), repair (damaged files), warctool (the commands). FindInputs
// finds the files that a command reads, and names those that it leaves out: a file that is left out silently looks like
// an archive without its captures. CompleteManifest reads closed files for a manifest that lacks their lines.
//
// # Format
//
// A record needs WARC-Warcinfo-ID, the identity of the first record of its file, but it is compressed before its file
// is known. So the version line and that field, 77 bytes, are not compressed: they are a stored block of deflate (a raw
// block of zstd), and Append overwrites the identity in them. The checksum at the end is computed from those of the two
// parts (package member) in less than a microsecond. Nothing is compressed twice.
//
//	gzip member:  | header 10 | 00 | len 2 | ~len 2 | WARC/1.1 CRLF WARC-Warcinfo-ID: <urn:uuid:...> CRLF |
//	              |           |<------------ stored block: 77 bytes known at Append ------------>|
//	              | deflate ... | crc 4 | size 4 |
//	                            | updated |
//
// With a dictionary no part of a frame can be changed later. Then the Encoder stores the records and
// compresses them when the file is known: in Encoder.Pack, or in Append.
//
// Block digests are of the stored block. Payload digests are of the body without chunking, as the IIPC interprets the
// standard. They are omitted if a body did not end as its framing says. A revisit of the identical-payload-digest
// profile contains the response head and "WARC-Truncated: length", as the standard requires.
//
// # Promises
//
//   - A1: a finished file consists of complete members, and a reported offset is true, even after a failed write. A
//     failed or short write is truncated, at the latest before the next write; the same Append may be repeated.
//   - A2: a final name appears only after data and directory are synced. The order at the end of a file is: sync data,
//     write and sync the index, close, rename, sync the directory.
//   - After Sync, every group whose Append had returned survives a power failure. A failed Sync is never repeated: all
//     later calls return ErrLost.
//   - OpenWriter with a Checkpoint leaves exactly the groups before it, at their positions, and finishes files that
//     were left open.
//   - No value from the network adds a line or a column to a header or an index.
//   - No bytes make the reader panic, hang, or exceed its memory limits. Damage costs the record that contains it, and
//     reading continues after it.
//
// # Ownership and concurrency
//
// An Encoder belongs to one goroutine. A Group borrows its memory until Reset. A Writer is safe for concurrent use. Its
// lock is held during a write and the creation of a file, but not during Sync. It is not held while a full file is
// finished either. The Append that filled the file finishes it, or with FinishLater a call of Finish. The index of the
// open file is in memory, about 250 bytes per page. Sync also writes it beside the file, every 4 MiB (package
// openindex). After a kill it is read from there and from the end of the file: by OpenWriter, or with FinishLater by
// Finish while the crawl continues. A directory has one Writer; the caller must hold the lock of the crawl directory.
//
// # Costs
//
// Per page of 16 KiB at gzip level 1: one deflate pass, one SHA-1 pass and a copy; no allocation. The uncompressed
// prefix costs about 25 bytes per record. Verifying takes about 90 bytes of memory per record. For numbers see
// x_bench_test.go.
package warc
