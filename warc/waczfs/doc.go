// Package waczfs shows WACZ files (WACZ 1.1.1) as directories of WARC files: site.wacz/NAME.warc.gz is what lies as
// archive/NAME.warc.gz in site.wacz. So each command that reads a directory of WARC files reads a WACZ.
//
// WACZ files that lie in it, or that a list of several names (profile multi-wacz-package), are read, too: their files
// are FILE.wacz/NAME. In a directory, WACZ files are listed with what lies in them. A file that is named is one by its
// first bytes; in a directory the suffix decides.
//
// WARC files lie in a WACZ as they are, so a record is read from its place, and nothing is unpacked. A file that is
// compressed once more by ZIP is refused. What cannot be read is listed, and reading it says why, so that each command
// names it and reads the rest. The lines that its index has of a file are NAME.lines, if the index has the digest of
// datapackage.json. Pages returns what its lists of pages say.
//
// The list of a WACZ file is read when it is first asked for, and again if the length of the file has changed. It is
// kept in memory: some 200 bytes for each file in it, from a ZIP directory of 4 MiB at most. Nothing can be written.
package waczfs
