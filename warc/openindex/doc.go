// Package openindex keeps the index lines of a WARC file that is still written in a file beside it. After a kill only
// the end of the WARC file must be read again.
//
//	Marks.Add -> File.Mark ---> file ---> Read -> Part: lines, and where reading of the WARC file goes on
//
// The name is that of the index and ".open", such as x.cdxj.open for x.warc.gz.open.
//
// The file has batches of lines. Each ends with a mark: the end of the indexed part of the WARC file, a
// digest of the bytes before that end, the number of records by type, and a checksum. docs/formats.md has the form.
//
// The file is a hint. It is never synced, and its loss costs time only. Read takes the batches up to the first one that
// is damaged, or that the WARC file does not agree with. So a torn file counts as far as it is whole. So does the file
// of a WARC file that was cut and written again by a version that does not know it.
//
// A File belongs to one goroutine at a time. Nothing here starts one.
package openindex
