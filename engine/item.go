package engine

import "encoding/binary"

// Item is what travels with a URL from the door to the fetch worker: where it came from and what was tried.
//
// Its bytes, as the sieve, the ready queue, the virtualizer and the workbench carry them:
//
//	+-------+---------+-------+------------------------------------------+
//	| flags | tries   | depth | rest                                     |
//	| 1     | 1       | 1-3   | the URL before the distributor splits it,|
//	|       | hi: hops|uvarint| path and query behind; for a robots hop  |
//	|       | lo: try |       | uvarint length + origin site, then path  |
//	+-------+---------+-------+------------------------------------------+
type Item struct {
	Seed     bool
	Listed   bool   // an index of sitemaps names it
	RobotsOf []byte // site whose robots.txt this hop of a redirect chain is for; nil for a page
	Try      int    // attempts made before this one, 0 to 15
	Hops     int    // redirects followed to get here, 0 to 15
	Depth    int    // links from a seed
	Rest     []byte // URL or path: borrowed from the bytes that were decoded
}

const (
	itemSeed   = 1 << 0
	itemRobots = 1 << 1
	itemListed = 1 << 7
)

// appendItem appends the item's bytes to dst.
func appendItem(dst []byte, it *Item) []byte {
	var flags byte
	if it.Seed {
		flags |= itemSeed
	}
	if it.RobotsOf != nil {
		flags |= itemRobots
	}
	if it.Listed {
		flags |= itemListed
	}
	dst = append(dst, flags, byte(min(it.Hops, 15))<<4|byte(min(it.Try, 15)))
	dst = binary.AppendUvarint(dst, uint64(it.Depth))
	if it.RobotsOf != nil {
		dst = binary.AppendUvarint(dst, uint64(len(it.RobotsOf)))
		dst = append(dst, it.RobotsOf...)
	}
	return append(dst, it.Rest...)
}

// decodeItem reads what appendItem wrote; false says that the bytes are no item.
func decodeItem(b []byte) (Item, bool) {
	if len(b) < 3 {
		return Item{}, false
	}
	it := Item{Seed: b[0]&itemSeed != 0, Listed: b[0]&itemListed != 0, Try: int(b[1] & 15), Hops: int(b[1] >> 4)}
	depth, n := binary.Uvarint(b[2:])
	if n <= 0 || depth > 1<<20 {
		return Item{}, false
	}
	it.Depth = int(depth)
	rest := b[2+n:]
	if b[0]&itemRobots != 0 {
		size, n := binary.Uvarint(rest)
		if n <= 0 || size > uint64(len(rest)-n) {
			return Item{}, false
		}
		it.RobotsOf = rest[n : n+int(size)]
		rest = rest[n+int(size):]
	}
	it.Rest = rest
	return it, true
}

// mustItem decodes bytes that we wrote ourselves and kept under a checksum.
func mustItem(b []byte) Item {
	it, ok := decodeItem(b)
	if !ok {
		panic("BUG: engine: a queue gave back bytes that are no item")
	}
	return it
}
