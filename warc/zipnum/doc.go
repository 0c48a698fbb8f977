// Package zipnum writes and reads the index of a whole archive as a ZipNum cluster, the form of Common Crawl and pywb.
//
//	cdx-00000.gz, cdx-00001.gz, ...   sorted CDXJ lines, 3,000 in each gzip member (a block)
//	cluster.idx                       a line for each block: key, part, offset, length, number; separated by tabs
//	cluster.loc                       a line for each part: its name, and its path beside cluster.loc
//
// The key of a block is that of its first line: SURT and time. So a reader begins with the block before the first key
// that is not less than the wanted one. Writer takes sorted lines and has one block in memory. Cursor reads a range and
// has one block in memory, too.
package zipnum
