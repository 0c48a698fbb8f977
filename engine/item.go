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
//
// A crawl that keeps where URLs came from (WARCConfig.Via) has, between depth and rest, two strings more, each behind its length
// as a uvarint: the letters of the way, and the URL of the page that the link stood in.
type Item struct {
	Seed     bool
	Listed   bool   // an index of sitemaps names it
	Delayed  bool   // it waits, or has waited, until its site has nothing else: see delays.go
	RobotsOf []byte // site whose robots.txt this hop of a redirect chain is for; nil for a page
	Try      int    // attempts made before this one, 0 to 15
	Hops     int    // redirects followed to get here, 0 to 15
	Depth    int    // links from a seed
	Way      []byte // a letter for each hop from a seed, see hopOf; empty if it is not kept or not known. Borrowed like Rest
	Via      []byte // URL of the page that led here; nil if it is not kept. Borrowed like Rest
	Rest     []byte // URL or path: borrowed from the bytes that were decoded
}

// depthMax is the largest depth that an item holds. A page behind more links counts as one behind so many.
const depthMax = 1 << 20

const (
	itemSeed    = 1 << 0
	itemRobots  = 1 << 1
	itemVia     = 1 << 2
	itemDelayed = 1 << 3
	itemListed  = 1 << 7
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
	if it.Via != nil {
		flags |= itemVia
	}
	if it.Delayed {
		flags |= itemDelayed
	}
	dst = append(dst, flags, byte(min(it.Hops, 15))<<4|byte(min(it.Try, 15)))
	dst = binary.AppendUvarint(dst, uint64(min(it.Depth, depthMax)))
	if it.Via != nil {
		dst = appendBytes(appendBytes(dst, it.Way), it.Via)
	}
	if it.RobotsOf != nil {
		dst = appendBytes(dst, it.RobotsOf)
	}
	return append(dst, it.Rest...)
}

// decodeItem reads what appendItem wrote; false says that the bytes are no item.
func decodeItem(b []byte) (Item, bool) {
	if len(b) < 3 {
		return Item{}, false
	}
	it := Item{Seed: b[0]&itemSeed != 0, Listed: b[0]&itemListed != 0, Delayed: b[0]&itemDelayed != 0, Try: int(b[1] & 15), Hops: int(b[1] >> 4)}
	depth, n := binary.Uvarint(b[2:])
	if n <= 0 || depth > depthMax {
		return Item{}, false
	}
	it.Depth = int(depth)
	rest := b[2+n:]
	var ok bool
	if b[0]&itemVia != 0 {
		it.Way, rest, _ = cutBytes(rest)
		if it.Via, rest, ok = cutBytes(rest); !ok {
			return Item{}, false
		}
	}
	if b[0]&itemRobots != 0 {
		if it.RobotsOf, rest, ok = cutBytes(rest); !ok {
			return Item{}, false
		}
	}
	it.Rest = rest
	return it, true
}

// appendBytes appends a string behind its length.
func appendBytes(dst, s []byte) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(s))), s...)
}

// cutBytes reads what appendBytes wrote, never nil, and gives what follows. After a fault nothing follows, and the next cut fails too.
func cutBytes(b []byte) (s, rest []byte, ok bool) {
	size, n := binary.Uvarint(b)
	if n <= 0 || size > uint64(len(b)-n) {
		return nil, nil, false
	}
	return b[n : n+int(size)], b[n+int(size):], true
}

// mustItem decodes bytes that we wrote ourselves and kept under a checksum.
func mustItem(b []byte) Item {
	it, ok := decodeItem(b)
	if !ok {
		panic("BUG: engine: a queue gave back bytes that are no item")
	}
	return it
}
