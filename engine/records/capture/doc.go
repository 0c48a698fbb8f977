// Package capture says what a record of the archive tells about the attempt that it was stored for.
//
// # The part catalogue
//
// This part implements the answer index: it finds the earlier captures of a URL in the archive. A recrawl uses
// it to make conditional requests.
//
// The index maps the 128-bit fingerprint of a URL to the places of its records. It contains no URLs and no records: the
// caller reads the record and compares the URL, since fingerprints may collide. The file is written once, from an
// extsort.Sorter, and then only read. The package starts no goroutine.
//
//	extsort --Write--> [ block | block | ... | block | fence ]        Lookup: fence in memory, then one read of a block
//
// Format, little-endian: blocks of 4080 bytes with 170 entries of 24 bytes each (high half, low half, tag); the last
// block may be shorter. Then the fence: for each block the high half of its first entry (8 bytes) and its CRC-32C
// checksum (4 bytes). The manifest keeps the number of entries and the checksum of the fence (Checkpoint), so every
// changed byte is detected.
//
// A tag is serial<<42 | offset<<1 | revisit, so later places of a URL sort later. A revisit record is kept only if it
// is the last place of its URL.
//
// Cost: 24 bytes on disk for each place, and 12 bytes of memory for 170 places. A Lookup reads one block.
package capture
