package queued

import (
	"encoding/binary"

	"orbweaver/engine/page/parse"
)

// URL is a queued URL with where it came from and what was tried. The sieve, the ready queue, the queues on disk and
// the workbench carry its encoded form, called an item:
//
//	+-------+--------------+--------+--------------------------------------+
//	| flags | counts       | depth  | rest                                 |
//	| 1     | 1            | 1-3    |                                      |
//	|       | high 4 bits: | uvarint| a URL, before the distributor splits |
//	|       | redirects    |        | it; path and query after that        |
//	|       | low 4 bits:  |        |                                      |
//	|       | tries        |        |                                      |
//	+-------+--------------+--------+--------------------------------------+
//
// With a score, the number in place of depth is DepthMax + ScoreMax * depth + score.
//
// With --warc-via, and for page requisites, two strings stand between depth and rest: the hop path, which may be empty,
// and the URL of the page that contained the link. For a robots redirect, the origin site stands before rest. Each
// string follows its length as a uvarint.
type URL struct {
	Seed          bool
	Sitemap       bool   // a robots.txt or an index calls it a sitemap
	ListedByIndex bool   // a sitemap index lists it; it is called a sitemap then
	Delayed       bool   // it waits, or has waited, until its site has no other queued URL: see engine/traps/novelty
	RobotsOf      []byte // key of the site whose robots.txt this robots redirect is for; nil for a page
	Tries         int    // attempts before this one, 0 to 15; more count as 15
	Redirects     int    // redirects followed to this URL, 0 to 15; more count as 15
	Depth         int    // links from a seed, 0 to DepthMax; the depth of a requisite is that of its page
	Embeds        int    // embed hops from the page that needs it, up to EmbedsBeyond; 0 after a link. See IsRequisite
	Excess        bool   // a page requisite beyond --max-requisites-per-page: it is left out and listed
	Speculative   bool   // a string that looked like a URL led here: see parse.Speculative
	Score         int    // of --score, up to ScoreMax: the larger, the sooner with --visit focused
	Mined         bool   // no page has it: see engine/frontier/mining. Not with Sitemap
	HopPath       []byte // a letter for each hop from a seed: parse.Kind.Letter; empty if unknown. Borrowed like Rest
	Via           []byte // URL of the page that contained the link; nil if not kept. Borrowed like Rest
	Rest          []byte // URL, or path with query; borrows the decoded bytes
}

// Called says what other files call a URL.
type Called struct {
	Sitemap bool // a robots.txt or an index calls it a sitemap
	ByIndex bool // an index does: if it is an index too, it leads nowhere
}

// DepthMax is the largest depth that is encoded. A larger depth is stored as DepthMax.
const DepthMax = 1 << 20

// ScoreMax is the largest score.
const ScoreMax = 15

// EmbedsMax is the largest number of embed hops from a page to one of its requisites: a style sheet, two sheets that it
// imports, and an image of the last one.
const EmbedsMax = 4

// EmbedsBeyond is the number of embed hops of a URL that is further from its page than EmbedsMax. It is a link like any
// other. What it embeds is beyond, too: otherwise a chain of style sheets without end would precede the pages.
const EmbedsBeyond = EmbedsMax + 1

// IsRequisite reports whether a URL with this number of embed hops is a page requisite.
func IsRequisite(embeds int) bool { return embeds > 0 && embeds <= EmbedsMax }

// The flags of the encoded form, in its first byte.
const (
	FlagSeed    = 1 << 0
	flagRobots  = 1 << 1
	flagVia     = 1 << 2
	flagDelayed = 1 << 3
	flagListed  = 1 << 7 // Excess of a requisite

	flagRequisite   = 1 << 4 // the two bits of embedsShift are Embeds - 1 then
	flagSpeculative = 1 << 5 // if not a requisite
	flagBeyond      = 1 << 6 // if not a requisite: Embeds is EmbedsBeyond
	embedsShift     = 5
	flagsSitemap    = flagSpeculative | flagBeyond // if not a requisite
	flagsMined      = flagSpeculative | flagListed // if not a requisite; then it is not listed
)

// UrgentFlags are the bits of the first byte of items that precede others of their site: page requisites, and redirects
// of a robots.txt, for which a site waits.
const UrgentFlags = flagRequisite | flagRobots

// IsUrgent reports whether an item precedes others of its site. One that was tried before does not: if it fails, the
// others must show whether the site answers.
func IsUrgent(item []byte) bool {
	return len(item) > 1 && item[0]&UrgentFlags != 0 && item[1]&0x0f == 0
}

// Append appends the encoded form of it to dst. It borrows it.
func Append(dst []byte, it *URL) []byte {
	var flags byte
	if it.Seed {
		flags |= FlagSeed
	}
	if it.RobotsOf != nil {
		flags |= flagRobots
	}
	isRequisite := IsRequisite(it.Embeds)
	if it.ListedByIndex && !isRequisite || it.Excess && isRequisite {
		flags |= flagListed
	}
	if it.Via != nil {
		flags |= flagVia
	}
	if it.Delayed {
		flags |= flagDelayed
	}
	switch {
	case isRequisite:
		flags |= flagRequisite | byte(it.Embeds-1)<<embedsShift
	case it.Embeds > 0:
		flags |= flagBeyond
	case it.Sitemap && !it.ListedByIndex:
		flags |= flagsSitemap
	case it.Mined:
		flags |= flagsMined
	case it.Speculative && !it.ListedByIndex:
		flags |= flagSpeculative
	}
	dst = append(dst, flags, byte(min(it.Redirects, 15))<<4|byte(min(it.Tries, 15)))
	depth := uint64(min(it.Depth, DepthMax))
	if it.Score > 0 {
		depth = DepthMax + depth*ScoreMax + uint64(min(it.Score, ScoreMax))
	}
	dst = binary.AppendUvarint(dst, depth)
	if it.Via != nil {
		dst = AppendBytes(AppendBytes(dst, it.HopPath), it.Via)
	}
	if it.RobotsOf != nil {
		dst = AppendBytes(dst, it.RobotsOf)
	}
	return append(dst, it.Rest...)
}

// Decode reads what Append wrote. It returns false if the bytes are not an encoded URL. The result borrows b.
func Decode(b []byte) (URL, bool) {
	if len(b) < 3 {
		return URL{}, false
	}
	flags := b[0]
	it := URL{Seed: flags&FlagSeed != 0, Delayed: flags&flagDelayed != 0}
	isRequisite, isListed := flags&flagRequisite != 0, flags&flagListed != 0
	if it.Mined = !isRequisite && flags&(flagsMined|flagBeyond) == flagsMined; it.Mined {
		flags, isListed = flags&^flagsMined, false
	}
	it.ListedByIndex, it.Excess = isListed && !isRequisite, isListed && isRequisite
	it.Sitemap = it.ListedByIndex
	switch {
	case isRequisite:
		it.Embeds = 1 + int(flags>>embedsShift)&(EmbedsMax-1)
	case flags&flagsSitemap == flagsSitemap:
		it.Sitemap = true
	case flags&flagBeyond != 0:
		it.Embeds = EmbedsBeyond
	default:
		it.Speculative = flags&flagSpeculative != 0
	}
	it.Tries, it.Redirects = int(b[1]&15), int(b[1]>>4)
	depth, n := binary.Uvarint(b[2:])
	if n <= 0 || depth > (DepthMax+1)*(ScoreMax+1)-1 {
		return URL{}, false
	}
	if depth > DepthMax {
		it.Score = int((depth-DepthMax-1)%ScoreMax) + 1
		depth = (depth - DepthMax - 1) / ScoreMax
	}
	it.Depth = int(depth)
	rest := b[2+n:]
	var ok bool
	if b[0]&flagVia != 0 {
		it.HopPath, rest, _ = CutBytes(rest)
		if it.Via, rest, ok = CutBytes(rest); !ok {
			return URL{}, false
		}
	}
	if b[0]&flagRobots != 0 {
		if it.RobotsOf, rest, ok = CutBytes(rest); !ok {
			return URL{}, false
		}
	}
	it.Rest = rest
	return it, true
}

// AppendBytes appends the length of s as a uvarint, and then s.
func AppendBytes(dst, s []byte) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(s))), s...)
}

// CutBytes reads what AppendBytes wrote and returns the string, which is never nil, and the bytes after it. Both borrow
// b. On an error, rest is nil, so that the next call fails too.
func CutBytes(b []byte) (s, rest []byte, ok bool) {
	size, n := binary.Uvarint(b)
	if n <= 0 || size > uint64(len(b)-n) {
		return nil, nil, false
	}
	return b[n : n+int(size)], b[n+int(size):], true
}

// MustDecode is Decode for bytes that this program wrote and stored with a checksum. It panics if they are not an
// encoded URL.
func MustDecode(b []byte) URL {
	it, ok := Decode(b)
	if !ok {
		panic("BUG: queued: a queue returned bytes that are not an encoded URL")
	}
	return it
}

// PathBefore returns the hop path of a page, which admission extends for each link. It is nil if the hop path of the
// page is unknown, so that those of its links are, too.
func PathBefore(path []byte, seed bool) []byte {
	switch {
	case len(path) > 0:
		return path
	case seed:
		return []byte{}
	default:
		return nil
	}
}

// HopPathMax is the largest number of letters of a hop path.
const HopPathMax = 255

// AppendHop appends the letter of a hop to path. If path has HopPathMax letters, the oldest one is dropped.
func AppendHop(path []byte, k parse.Kind) []byte {
	if len(path) >= HopPathMax {
		path = append(path[:0], path[len(path)-HopPathMax+1:]...)
	}
	return append(path, k.Letter())
}

// Hops are the hops from a seed as far as each item keeps them, with or without a hop path.
type Hops struct {
	Depth, Embeds, Redirects int
	Speculative, Mined       bool
}

// HopsOf returns the hops of an item.
func HopsOf(it *URL) Hops { return Hops{it.Depth, it.Embeds, it.Redirects, it.Speculative, it.Mined} }

// AppendTo appends a hop path: L for each link up to a number, then E for each embed, then R for each redirect. The
// last link has X if it is speculative, and I if it is mined. For a seed it appends nothing. An embed beyond EmbedsMax
// counts as a link.
func (h Hops) AppendTo(dst []byte, linksMax int) []byte {
	for n := min(h.Depth, linksMax); n > 0; n-- {
		letter := parse.Anchor.Letter()
		switch {
		case n == 1 && h.Speculative:
			letter = parse.Speculative.Letter()
		case n == 1 && h.Mined:
			letter = parse.Mined.Letter()
		}
		dst = append(dst, letter)
	}
	for range h.Embeds % EmbedsBeyond {
		dst = append(dst, parse.Image.Letter())
	}
	for range h.Redirects {
		dst = append(dst, parse.Redirect.Letter())
	}
	return dst
}
