// Package playlist finds the files of videos and sounds that are sent in pieces: those of HLS (RFC 8216) and of DASH
// (ISO/IEC 23009-1), and those of plain M3U lists and PLS.
//
//	HLS     each line that is no tag: a playlist or a segment; URI of EXT-X-KEY, EXT-X-MAP, EXT-X-MEDIA and others
//	DASH    BaseURL of representations, SegmentList, SegmentBase, and SegmentTemplate where its segments can be counted
//
// It resolves nothing and fetches nothing. References of DASH are below the BaseURL of the elements around them.
//
// # Limits
//
// A list names at most filesMost files; the others are counted. A DASH file has at most dashMost bytes.
//
// # Promises
//
// No input causes a panic. Time is linear in the length of the list and of what it returns.
package playlist
