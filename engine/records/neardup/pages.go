package neardup

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"slices"
	"sync"
	"sync/atomic"

	"orbweaver/engine/records/dedup"
	"orbweaver/internal/simhash"
	"orbweaver/internal/vfs"
)

// Near is an earlier page with nearly the same text.
type Near struct {
	dedup.First

	Bits int // of the fingerprint that differ, at most simhash.Distance
}

// Known are the pages that later ones are compared with.
type Known interface {
	Mode() Mode
	// Find returns the page with the nearest fingerprint, if it is another one than that of the URL.
	Find(fingerprint uint64, url []byte) (Near, bool, error)
	// Add adds a stored page, unless there is a near one. The date of its record is in UTC.
	Add(fingerprint uint64, page dedup.First) error
}

// None compares nothing.
type None struct{}

// Mode returns Off.
func (None) Mode() Mode { return Off }

// Find finds nothing.
func (None) Find(uint64, []byte) (n Near, ok bool, err error) { return n, false, nil }

// Add does nothing.
func (None) Add(uint64, dedup.First) error { return nil }

// Pages are the pages that later ones are compared with, on disk.
type Pages struct {
	// Map has the first page of each fingerprint. It is opened and closed here; a checkpoint marks it.
	Map *dedup.Map

	mode Mode
	most int
	warn func(msg string, args ...any)
	full atomic.Bool // the warning was given

	mu     sync.Mutex
	tables *simhash.Tables // guarded by mu
}

// Open opens the pages of a checkpoint; nil for none. warn is told once when there is no room for more.
func Open(
	fsys vfs.FS, o Options, at *dedup.Checkpoint, warn func(msg string, args ...any),
) (*Pages, error) {
	m, err := dedup.Open(fsys, o.Map, at)
	if err != nil {
		return nil, err
	}
	p := &Pages{Map: m, mode: o.Mode, most: int(o.Most), warn: warn, tables: simhash.New()}
	for place, over := int64(0), false; !over && err == nil; {
		place, over, err = m.Walk(place, dedup.WalkAll, 1<<16, func(d dedup.Digest) {
			p.tables.Add(binary.LittleEndian.Uint64(d[:]))
		})
	}
	if err != nil {
		_ = m.Close()
		return nil, fmt.Errorf("near-duplicates: %w", err)
	}
	return p, nil
}

// Close closes the map.
func (p *Pages) Close() error { return p.Map.Close() }

// Mode is what follows from a near-duplicate.
func (p *Pages) Mode() Mode { return p.mode }

// Len is the number of fingerprints.
func (p *Pages) Len() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.tables.Len()
}

// keyOf is the key of a fingerprint in the map.
func keyOf(fingerprint uint64) (d dedup.Digest) {
	binary.LittleEndian.PutUint64(d[:], fingerprint)
	return d
}

// Find implements Known. A fingerprint whose page is not in the map yet, since another goroutine adds it, is not found.
func (p *Pages) Find(fingerprint uint64, url []byte) (near Near, ok bool, err error) {
	nearest, ok := p.nearest(fingerprint)
	if !ok {
		return near, false, nil
	}
	near.Bits = bits.OnesCount64(nearest ^ fingerprint)
	if near.First, ok, err = p.Map.Lookup(keyOf(nearest)); err != nil {
		return near, false, fmt.Errorf("near-duplicates: %w", err)
	}
	return near, ok && near.URI != string(url), nil
}

// nearest returns the fingerprint within simhash.Distance that differs least.
func (p *Pages) nearest(fingerprint uint64) (nearest uint64, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	var room [16]uint64
	least := simhash.Distance + 1
	for _, f := range p.tables.Find(room[:0], fingerprint) {
		if n := bits.OnesCount64(f ^ fingerprint); n < least || n == least && f < nearest {
			nearest, least = f, n
		}
	}
	return nearest, least <= simhash.Distance
}

// Add implements Known.
func (p *Pages) Add(fingerprint uint64, page dedup.First) error {
	if !p.admit(fingerprint) {
		return nil
	}
	if _, _, err := p.Map.Insert(keyOf(fingerprint), page); err != nil {
		return fmt.Errorf("near-duplicates: %w", err)
	}
	if err := p.Map.Tend(); err != nil {
		return fmt.Errorf("near-duplicates: %w", err)
	}
	return nil
}

// admit adds a fingerprint to the tables, if none is near and there is room.
func (p *Pages) admit(fingerprint uint64) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	var room [16]uint64
	if len(p.tables.Find(room[:0], fingerprint)) > 0 {
		return false
	}
	if p.tables.Len() >= p.most {
		if p.full.CompareAndSwap(false, true) {
			p.warn("no further texts are kept to compare with; raise --near-duplicates-max when you resume the crawl",
				"texts", p.most)
		}
		return false
	}
	return p.tables.Add(fingerprint)
}

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

// wordsLeast is how many different words a text needs to have a fingerprint. Fingerprints of shorter texts are near to
// each other by chance: the words that many pages of a language share are most of them.
const wordsLeast = 50

// textMost is how much of a text counts, in bytes: more says nothing that decides, and costs CPU.
const textMost = 256 << 10

// Reader makes fingerprints of texts.
type Reader struct {
	hasher simhash.WordHasher
	hashes []uint64
}

// Fingerprint returns the SimHash of the different words of a text; none if there are too few.
func (r *Reader) Fingerprint(text []byte) (fingerprint uint64, ok bool) {
	r.hashes = r.hasher.Hashes(r.hashes[:0], text[:min(len(text), textMost)])
	slices.Sort(r.hashes)
	distinct := slices.Compact(r.hashes)
	if len(distinct) < wordsLeast {
		return 0, false
	}
	return simhash.Of(distinct), true
}
