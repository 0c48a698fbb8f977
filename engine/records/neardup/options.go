package neardup

import "orbweaver/engine/records/dedup"

// Options say whether near-duplicates are looked for, and what follows.
type Options struct {
	Mode Mode  `name:"near-duplicates" type:"word" help:"Compare the text of each page with those of all earlier pages, by SimHash. mark: a page whose text has nearly the same words is stored, with a header field that names the earlier page. skip-links: the same, and if the earlier page is on the same registrable domain, only its images, style sheets and scripts are followed; use it if mirrors or lists in many orders take up the crawl. off: do not compare." oneof:"off,mark,skip-links" default:"off" placeholder:"MODE"`
	Most int64 `name:"near-duplicates-max" help:"With --near-duplicates: texts to compare with. Later pages are compared with these and not added. A text takes some 40 bytes of memory, and 64 bytes and its URL on disk." default:"10000000" least:"1" most:"1000000000" placeholder:"N"`

	Map dedup.Options `kong:"-"` // of the first pages
}

// Mode says what follows from a near-duplicate.
type Mode uint8

// The modes, in the order of the flag's words.
const (
	Off Mode = iota
	Mark
	SkipLinks
)
