// Package warc writes WARC archives and reads anybody's: WARC 1.1 (ISO 28500:2017), each record a gzip member (or a zstd
// frame) of its own, a sorted CDXJ beside each complete file.
//
// It is not a fetcher: it gets bytes as they were on the wire and digests that were made while they were warm. It does not decide
// what is a duplicate, starts no goroutine, and holds no opinion on what a page is.
//
//	 parse worker                                      one place
//	+-------------------------+                   +----------------------+        PREFIX-TIME-SERIAL-HOST.warc.gz.open
//	| Record -> Encoder       |      Group        | Writer.Append        |        +----------+--------+-----+---------+-
//	|  header, digest,        | ----------------> |  stamp, one write,   | -----> | warcinfo | resp.  | req.| meta.   |
//	|  compress: one member   |  (whole members)  |  index line, rotate  |        +----------+--------+-----+---------+-
//	+-------------------------+                   +----------------------+          member     \____ one Group ____/
//
//	Archive.ReadGroup, OpenWriter(cut) <--- Reader (streaming, any form) ---> Verifier, WriteIndex, package warctool
//
// # Bytes
//
// A record needs WARC-Warcinfo-ID, the identity of the first record of the file it lands in, but is packed before that
// file is known. So the version line and that field, 77 bytes, are kept out of the compressed stream: they stand in the
// member as a stored block of deflate (a raw block of zstd), and Append writes the identity over them. The checksum at
// the end is mended from those of the two parts (crc.go), in well under a microsecond. Nothing is packed twice.
//
//	gzip member:  | header 10 | 00 | len 2 | ~len 2 | WARC/1.1 CRLF WARC-Warcinfo-ID: <urn:uuid:...> CRLF | deflate ... | crc 4 | size 4 |
//	              |           |<------------ stored block: 77 bytes known at Append ------------>|           | mended |
//
// With a dictionary (dictionary.go) no part of a frame can be changed afterwards. Then the Encoder keeps records as they are and packs
// them when the file is known: in Encoder.Pack, or in Append.
//
// Block digests are of the block as stored. Payload digests are of the body without chunking, as the IIPC reads the standard;
// their maker leaves them out when a body did not end as its framing says. A revisit of the identical-payload-digest
// profile keeps the response's head and says WARC-Truncated: length, as the standard demands of such a record.
//
// # Promises
//
//   - A1: a finished file is a row of complete members; a reported offset is true, even after a failed write. A write that fails
//     or falls short is cut off again, at the latest before the next; the same Append may be repeated.
//   - A2: a final name appears only after the data and the directory are synced. Order at the end of a file: sync data, write
//     and sync the index, close, rename, sync the directory.
//   - After Sync, every group whose Append had returned survives a power cut. A Sync that failed is never repeated and believed:
//     the Writer is lost (ErrLost) and says so for ever.
//   - OpenWriter with a Cut leaves exactly the groups before it, in their places, and finishes files that were left open.
//   - No value from the network adds a line or a column to a header or an index.
//   - No bytes make the reader panic, hang, or hold more than its limits; damage costs the record it is in, and reading goes on behind it.
//
// # Owners
//
// An Encoder belongs to one worker. A Group borrows it until Reset. A Writer is safe for all; its lock is held during the write
// and during the making of a file, not during Sync and not while a full file is finished, which the goroutine does that filled
// it, or with FinishLater whoever calls Finish. The index of the open file is in memory, some 250 bytes a page, and made anew from the file after
// a kill: by OpenWriter, or with FinishLater by Finish, while the crawl goes on. A directory has one Writer: who
// opens it holds the crawl's lock.
//
// # Costs
//
// Per page of 16 KiB at gzip level 1: one deflate and one SHA-1 pass and a copy; no allocation. The prefix left uncompressed costs some 25
// bytes a record. Verifying holds some 90 bytes a record. See x_bench_test.go for numbers next to the bare parts.
package warc
