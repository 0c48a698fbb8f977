// Package corpus is the text that pages of a simulated web are cut of, bare and packed.
//
// To pack 240 KB takes a server longer than all else about a page, and a simulator that works harder than the crawler
// measures itself. So pages that may be sent packed are made of segments: pieces of the text that were packed once,
// with the level of real servers. The gzip form of a page is then a few copies. Only what stands between the segments
// is packed when a client asks for it.
//
//	payload   | head, links |  segment   | links |  segment  | segment | links, end |
//	gzip      | head | packed now | packed once | packed now | packed once | ... | end, CRC-32, length |
//
// A segment refers to nothing before it and ends at a byte, so it may stand anywhere in a stream.
//
// Text and Segments are read only. A Packer belongs to one connection.
package corpus
