// Package lookup finds captures of URLs in WARC files, and reads them: those of a crawl that runs, of one that was
// killed, and of any other program.
//
//	Files.Scan -> search (binary search in the CDXJ of each closed file)  --+
//	           -> Writing (lines in the memory of a warc.Writer)            +-> merge -> sorted lines
//	           -> scanned (records of a file without index)               --+
//	Archive.Closest -> Lines.Scan -> Capture      Archive.Open -> Archive.original of a revisit -> Page
//
// A Range is a range of index lines by their bytes: one key, a prefix, a host, a domain. Lines come sorted, in pieces.
//
// Records are opened by vfs.OpenRange, with offset and length of the index: of a file in a store only the record is
// read.
//
// A file without an index is read once, and its lines are kept; of a file that grows, only what is new is read again. A
// record that is not complete at the end of such a file does not exist yet.
//
// DecodePayload removes content encodings from the payload of a capture. The decoders of the fetcher
// (engine/net/fetch/coding) work on whole buffers; these work on streams. Both have one rule: a header field is
// believed only if the first bytes agree. A payload without the encoding is passed on as it is. The number of encodings
// and the memory for a window are bounded. The length of the result is not: the caller must bound it.
//
// # Costs
//
// An index file costs about 17 reads of 8 KiB and one open for each query. While lines are merged, each file that has
// any takes chunkMost bytes or less, and no descriptor. Lines of files without index take about 250 bytes a record, in
// memory up to keepMost for all files, and beyond that in a temporary file without a name (TMPDIR). A Files is safe for
// concurrent use; Close removes that file.
package lookup
