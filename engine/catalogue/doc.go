// Package catalogue says where in the archive the good answers of each URL lie, for who asks a site whether a page has changed.
//
// It knows fingerprints and places, and no records: what lies at a place is for the reader to judge, and a fingerprint may be that of
// another URL. It is written once, from what an extsort.Sorter gives, and then only read. It starts no goroutine.
//
// The picture.
//
//	extsort --Write--> [ block | block | ... | block | fence ]        Lookup: fence in memory --> one block, with one read
//
// The bytes: blocks of 4080, each 170 entries of 24 as the sorter has them (high half, low half, tag; little-endian), the last one
// shorter; then the fence, for each block the high half of its first entry (8) and its checksum (4, Castagnoli). The Cut, which the
// manifest keeps, has the number of entries and the checksum of the fence, so no byte is believed that was not written with the rest.
//
// A tag is serial<<42 | offset<<1 | revisit, so that later places of a URL come later. Of revisits only one that is the last place of
// its URL is kept: an earlier one says nothing that a later answer has not replaced.
//
// Who owns what. A Catalogue may be used by many goroutines at once; each brings its own buffer.
//
// What it costs. 24 bytes of disk a place, and in memory 12 for 170 of them.
package catalogue
