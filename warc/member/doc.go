// Package member reads and writes the members of a WARC file. A member is what can be decompressed alone: a gzip member
// or a zstd frame, which contains one record. A file without compression is a single member.
//
// It does not know what a record is, except for the bytes with which one starts. Package warc does.
//
//	Packer: Begin, Write, End --> [ prefix, not compressed | compressed ] ... --Stamp--> the prefix replaced in all
//	Reader: Next, Read ... io.EOF, Next, Read ...          --damage--> Resync: the next position of a possible start
//
// # Prefix
//
// A record names the first record of its file, but it is compressed before its file is known. So that text, the prefix,
// is not compressed: it is a stored block of deflate, or a raw block of zstd. Stamp overwrites it, and computes the
// checksum of a gzip member from those of its two parts. Nothing is compressed twice.
//
// With a dictionary this is not possible, because the blocks of a frame refer over the prefix into the dictionary. Then
// the Packer stores the records, and Stamp compresses them.
//
// # Damage
//
// A Reader detects the form of the file from its first bytes, or gets it. After a damaged member, Resync searches the
// start of the next one. If the file can seek, the search begins inside the damaged member, because valid members may
// follow it there. At most as many bytes as the file has, plus 16 MiB, are read again, so the work is linear.
//
// # Ownership and costs
//
// A Packer or a Reader belongs to one goroutine. Write borrows its bytes; Bytes are valid until Begin, Stamp or Reset.
// A Packer takes 300 KiB for gzip at level 1, 1 MB and more for others. It does not allocate after the first groups. A
// Reader takes 64 KiB and the window of the decoder, at most 64 MiB, and at most 16 MiB for a dictionary. Gzip members
// of up to 1 MiB with up to 4 MiB of content are decompressed from memory to memory, in half of the time. A Reader
// keeps up to 2 MiB for that. Of a larger member, the first 1 MiB is decompressed twice.
//
// With ReaderOptions.LengthAt, only the first 3 KiB of such a member are decompressed. SkipContent then moves behind
// it; if more is read, all of it is decompressed, the start again.
package member
