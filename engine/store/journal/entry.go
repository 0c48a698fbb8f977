package journal

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/zeebo/xxh3"

	"orbweaver/engine/page/parse"
	"orbweaver/engine/state/queued"
	"orbweaver/internal/outcome"
)

// Entry is one finished attempt in the journal, which carries the crawl from one checkpoint to the next. It is written
// after its records. What the journal names is done and is not fetched again. Its links are read back from the archive,
// or from the entry itself where the archive does not hold the payload.
//
// After the head (chain.go) come the entries, little-endian, each 63 bytes and its links:
//
//	+-------+------+----+---------+--------+-------+------+--------+--------+--------+---------+--------+-------+-----+
//	| links | kind | fp | outcome | status | depth | hops | serial | offset | length | siteDue | ipDue  | links | crc |
//	| 4     | 1    | 16 | 1       | 2      | 3     | 1    | 4      | 7      | 4      | 8       | 8      | n     | 4   |
//	+-------+------+----+---------+--------+-------+------+--------+--------+--------+---------+--------+-------+-----+
//
// The highest bit of kind says that sums stand before the links, and links counts their bytes: a uvarint with the
// length of the sums, and the sums. The next bit says the same of a rule for a host, behind the sums. The three highest
// bits of depth are the number of embed hops, 7 for a speculative link, or 6 for a mined URL. The highest bits of hops
// say that an index of sitemaps names the URL (128), that it is one (64), or that a robots.txt calls it one (32).
// links is the length n of the links; serial is one more than the archive file's, 0 when no record was written; the crc
// (Castagnoli) is over all before it.
// The 15 highest bits of offset belong to length, above its 32: a record may have 128 TiB, and begin within 2 TiB.
// Dues are nanoseconds from the writing of the entry on, which no clock that is set can change; 0 for none.
type Entry struct {
	Kind    Kind
	FP      xxh3.Uint128
	Outcome outcome.Outcome
	Status  int
	Depth   int
	Embeds  int // see queued.URL
	// Speculative: see queued.URL. Not with Embeds.
	Speculative bool
	Mined       bool // the same of a mined URL
	Hops        int
	Sitemap     bool // a robots.txt or an index calls it a sitemap
	Listed      bool // an index of sitemaps names the URL
	Index       bool // it is such an index
	Serial      uint32
	Offset      int64
	Length      int64
	SiteDue     int64
	IPDue       int64
	Links       []byte // see AppendLink; empty when the archive holds the payload
	Sums        []byte // what is added to counters.Sums; see counters.AppendSum
	Rule        []byte // that a program of --hook has given for the host of the URL
}

// Kind is the kind of an entry. The numbers are on disk.
type Kind byte

// The kinds of entries.
const (
	KindPage    Kind = 1 // the URL is done
	KindRetry   Kind = 2 // an attempt that will be repeated; only its record and dues count
	KindRobots  Kind = 3 // a robots.txt
	KindMessage Kind = 4 // a message of another agent, which is in its links
	kindSynced  Kind = 5 // a sync mark, see syncmark.go; the reader keeps it to itself
)

// size is how many bytes the entry takes.
func (e *Entry) size() int { return journalFixed + e.extraSize() + len(e.Links) + 4 }

// extraSize is how many bytes sums and rule take in front of the links.
func (e *Entry) extraSize() int { return partSize(e.Sums) + partSize(e.Rule) }

// partSize is how many bytes a part takes with its length.
func partSize(part []byte) int {
	if len(part) == 0 {
		return 0
	}
	return len(binary.AppendUvarint(make([]byte, 0, binary.MaxVarintLen64), uint64(len(part)))) + len(part)
}

// appendPart appends a part with its length; nothing if it is empty.
func appendPart(dst, part []byte) []byte {
	if len(part) == 0 {
		return dst
	}
	return append(binary.AppendUvarint(dst, uint64(len(part))), part...)
}

// cutPart cuts what appendPart has appended. It fails for other bytes, and a longer form of the length.
func cutPart(b []byte) (part, rest []byte, isWhole bool) {
	size, head := binary.Uvarint(b)
	if head <= 0 || size == 0 || size > uint64(len(b)-head) {
		return nil, b, false
	}
	part = b[head:][:size]
	return part, b[head+int(size):], partSize(part) == head+int(size)
}

// errJournalRange says that append refused an entry that Read would not give back as it was.
var errJournalRange = errors.New("journal: an entry exceeds the limits of the format")

// check says whether the format can hold the entry.
func (e *Entry) check() error {
	if n := e.extraSize() + len(e.Links); n > JournalLinksMax {
		return fmt.Errorf("%w: %d bytes of sums, rule and links, at most %d", errJournalRange, n, JournalLinksMax)
	}
	if e.Status>>16 != 0 || e.Depth>>depthBits != 0 ||
		uint(e.Embeds) >= minedHop || e.Hops&^(journalSitemap-1) != 0 ||
		e.Offset>>offsetBits != 0 || e.Length>>(32+7*8-offsetBits) != 0 ||
		int(e.Outcome) >= outcome.Count ||
		e.Kind < KindPage ||
		e.Kind > kindSynced {
		return fmt.Errorf("%w: kind %d, outcome %d, status %d, depth %d, hops %d, offset %d, length %d",
			errJournalRange, e.Kind, e.Outcome, e.Status, e.Depth, e.Hops, e.Offset, e.Length)
	}
	return nil
}

func appendJournalEntry(dst []byte, e *Entry) []byte {
	start := len(dst)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(e.extraSize()+len(e.Links)))
	kind := byte(e.Kind)
	if len(e.Sums) > 0 {
		kind |= hasSums
	}
	if len(e.Rule) > 0 {
		kind |= hasRule
	}
	dst = append(dst, kind)
	dst = binary.LittleEndian.AppendUint64(dst, e.FP.Hi)
	dst = binary.LittleEndian.AppendUint64(dst, e.FP.Lo)
	dst = append(dst, byte(e.Outcome))
	dst = binary.LittleEndian.AppendUint16(dst, uint16(e.Status))
	hops := byte(e.Hops)
	if e.Listed {
		hops |= journalListed
	}
	if e.Index {
		hops |= journalIndex
	}
	if e.Sitemap && !e.Listed {
		hops |= journalSitemap
	}
	depth := e.Depth | e.Embeds<<depthBits
	if e.Speculative {
		depth |= speculativeHop << depthBits
	}
	if e.Mined {
		depth |= minedHop << depthBits
	}
	dst = append(dst, byte(depth), byte(depth>>8), byte(depth>>16), hops)
	dst = binary.LittleEndian.AppendUint32(dst, e.Serial)
	offset := uint64(e.Offset) | uint64(e.Length>>32)<<offsetBits
	dst = binary.LittleEndian.AppendUint64(dst, offset)[:len(dst)+7]
	dst = binary.LittleEndian.AppendUint32(dst, uint32(e.Length))
	dst = binary.LittleEndian.AppendUint64(dst, uint64(e.SiteDue))
	dst = binary.LittleEndian.AppendUint64(dst, uint64(e.IPDue))
	dst = appendPart(appendPart(dst, e.Sums), e.Rule)
	dst = append(dst, e.Links...)
	return binary.LittleEndian.AppendUint32(dst, crc32.Checksum(dst[start:], Castagnoli()))
}

var errJournalTorn = errors.New("journal: torn entry")

// decodeJournalEntry reads the entry at the head of b and says how many bytes it took. Links alias b.
func decodeJournalEntry(b []byte) (e Entry, n int, err error) {
	if len(b) < journalFixed+4 || !plausibleHead(b) {
		return e, 0, errJournalTorn
	}
	links := int64(binary.LittleEndian.Uint32(b))
	if links > int64(len(b)-journalFixed-4) {
		return e, 0, errJournalTorn
	}
	n = journalFixed + int(links) + 4
	if crc32.Checksum(b[:n-4], Castagnoli()) != binary.LittleEndian.Uint32(b[n-4:]) {
		return e, 0, errJournalTorn
	}
	e.Kind = Kind(b[4] &^ (hasSums | hasRule))
	e.FP.Hi = binary.LittleEndian.Uint64(b[5:])
	e.FP.Lo = binary.LittleEndian.Uint64(b[13:])
	e.Outcome = outcome.Outcome(b[21])
	e.Status = int(binary.LittleEndian.Uint16(b[22:]))
	depth := int(b[24]) | int(b[25])<<8 | int(b[26])<<16
	e.Depth, e.Embeds = depth&(1<<depthBits-1), depth>>depthBits
	if e.Embeds >= minedHop {
		e.Speculative, e.Mined, e.Embeds = e.Embeds == speculativeHop, e.Embeds == minedHop, 0
	}
	e.Hops = int(b[27] & (journalSitemap - 1))
	e.Sitemap = b[27]&(journalSitemap|journalListed) != 0
	e.Listed, e.Index = b[27]&journalListed != 0, b[27]&journalIndex != 0
	e.Serial = binary.LittleEndian.Uint32(b[28:])
	offset := int64(binary.LittleEndian.Uint64(b[32:]) & (1<<56 - 1))
	e.Offset = offset & (1<<offsetBits - 1)
	e.Length = offset>>offsetBits<<32 | int64(binary.LittleEndian.Uint32(b[39:]))
	e.SiteDue = int64(binary.LittleEndian.Uint64(b[43:]))
	e.IPDue = int64(binary.LittleEndian.Uint64(b[51:]))
	e.Links = b[journalFixed : n-4]
	if b[4]&hasSums != 0 {
		var isWhole bool
		if e.Sums, e.Links, isWhole = cutPart(e.Links); !isWhole {
			return e, 0, errJournalTorn
		}
	}
	if b[4]&hasRule != 0 {
		var isWhole bool
		if e.Rule, e.Links, isWhole = cutPart(e.Links); !isWhole {
			return e, 0, errJournalTorn
		}
	}
	return e, n, nil
}

// plausibleHead says whether kind and outcome of the entry at the head of b exist. It costs nothing, so it comes before
// the checksum: a search for entries at every offset must not sum up megabytes at each.
func plausibleHead(b []byte) bool {
	kind := Kind(b[4] &^ (hasSums | hasRule))
	return kind >= KindPage && kind <= kindSynced && int(b[21]) < outcome.Count
}

// offsetBits are the bits of an offset, as in package catalogue. Earlier versions have zeros above them: their lengths
// have 32 bits, and no archive file of theirs has 2 TiB.
const offsetBits = 41

// The bits of depth, and what stands above them for a mined URL and a speculative link.
const (
	depthBits      = 21
	minedHop       = 6
	speculativeHop = 7
)

// hasSums and hasRule are the bits of kind that say that there are sums, and a rule.
const (
	hasSums = 0x80
	hasRule = 0x40
)

// linkLengthBits are the bits of the length in front of a link. The kind of the link stands above them.
const linkLengthBits = 16

// linkKindBits are the bits of the kind. The score of the link stands above them.
const linkKindBits = 8

// AppendLink appends one link of a page to the journal's form: a uvarint with kind and length, and the normal form.
func AppendLink(dst []byte, kind parse.Kind, url []byte) []byte {
	return AppendScored(dst, kind, 0, url)
}

// AppendScored is AppendLink for a link with a score, which stands above the kind: see queued.URL.
func AppendScored(dst []byte, kind parse.Kind, score int, url []byte) []byte {
	what := uint64(score)<<linkKindBits | uint64(kind)
	dst = binary.AppendUvarint(dst, what<<linkLengthBits|uint64(len(url)))
	return append(dst, url...)
}

// EachLink calls f for each link that AppendLink wrote.
func EachLink(b []byte, f func(kind parse.Kind, url []byte)) error {
	return EachScored(b, func(kind parse.Kind, _ int, url []byte) { f(kind, url) })
}

// EachScored is EachLink with the scores.
func EachScored(b []byte, f func(kind parse.Kind, score int, url []byte)) error {
	for len(b) > 0 {
		head, n := binary.Uvarint(b)
		kind, size := head>>linkLengthBits&(1<<linkKindBits-1), head&(1<<linkLengthBits-1)
		score := head >> (linkLengthBits + linkKindBits)
		if n <= 0 || size > uint64(len(b)-n) || kind >= uint64(parse.KindCount) || score > queued.ScoreMax {
			return io.ErrUnexpectedEOF
		}
		f(parse.Kind(kind), int(score), b[n:n+int(size)])
		b = b[n+int(size):]
	}
	return nil
}
