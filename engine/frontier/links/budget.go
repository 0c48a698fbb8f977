package links

import (
	"bytes"
	"strconv"

	"orbweaver/engine/store/journal"
)

// Budget bounds what the links of one page cost: the bytes of all normal forms that are made of them, kept or not.
// They are not bounded by the size of the page itself: a base of 8 KB turns a reference of one byte into a URL of 8 KB.
// The number of links is bounded by the scanner and by what a sitemap may name.
//
// The room grows with the page: linkRoomBase, and linkRoomBody for each byte that was searched, but not more than
// linkRoomRaw for each byte that came over the wire, so that a packed page gains nothing by repetition. A page of
// nothing but links of 14 bytes to URLs of 100 bytes has room for all. What does not fit is not resolved, and counted.
type Budget struct {
	room         int64 // bytes that may still be made
	whole        int64 // of the page
	LinksDropped int   // links that found no room
}

const (
	linkRoomBase = 64 << 10
	linkRoomBody = 8
	linkRoomRaw  = 64
	linkRoomMax  = 16 << 20 // of one page; a journal entry holds it
)

// An entry of the journal has room for the links of any page, and for the lengths in front of them.
const _ = uint(journal.JournalLinksMax - 2*linkRoomMax)

// Open begins with a page: raw bytes came over the wire, and searched bytes are searched.
func (b *Budget) Open(raw, searched int64) {
	room := min(linkRoomMax, linkRoomBase+min(linkRoomBody*searched, linkRoomRaw*raw))
	*b = Budget{room: room, whole: room}
}

// grow is open again when more of the same page was unpacked. What was made stays charged.
func (b *Budget) grow(raw, searched int64) {
	var more Budget
	more.Open(raw, searched)
	b.room += more.room - b.whole
	b.whole = more.room
}

// take says whether there is room for another link.
func (b *Budget) take() bool {
	if b.room <= 0 {
		b.LinksDropped++
		return false
	}
	return true
}

// made charges a normal form of so many bytes.
func (b *Budget) made(bytes int) { b.room -= int64(bytes) }

// IDNA takes time that is quadratic in a name (urlx bounds it for each name), so a name beyond ASCII is charged by the
// square of its length: 20,000 links to the dearest names took 3 s of CPU. A name of 40 octets costs 100 bytes of room,
// one label of 63 Han characters 2 KB, and the dearest name 64 KB.
const (
	nameRoom = 16 // octets squared for a byte of room
	// octets that are charged: urlx refuses a longer name beyond ASCII before IDNA sees it, or reads it in linear time
	nameLongest = 1024
)

// named charges the name of a normal form (borrowed), if IDNA made or checked it.
func (b *Budget) named(host []byte) {
	if bytes.Contains(host, []byte("xn--")) {
		b.misnamed(len(host))
	}
}

// misnamed charges a name of so many octets at most, which IDNA may have read to refuse it.
func (b *Budget) misnamed(octets int) {
	n := int64(min(octets, nameLongest))
	b.room -= n * n / nameRoom
}

// Annotate adds to what crawl.log says of an attempt how many links found no room.
func (b *Budget) Annotate(note string) string {
	if b.LinksDropped == 0 {
		return note
	}
	if note != "" {
		note += ","
	}
	return note + "links-dropped:" + strconv.Itoa(b.LinksDropped)
}
