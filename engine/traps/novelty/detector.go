package novelty

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/zeebo/xxh3"

	"orbweaver/internal/urlx"
)

const (
	shards            = 16
	paramPageWeight   = 4       // a page with parameters counts this many times
	watchAfterPages   = 64      // pages of a group before it is watched
	unwatchedCounters = 1 << 14 // counters of a shard for groups that are not watched yet
	evictSample       = 8       // groups from which the oldest is chosen for eviction
	filterQuarters    = 3       // quarters of the memory that the word filters get
)

// Detector finds traps in groups of URLs. It is safe for concurrent use.
type Detector struct {
	o             Options
	shards        [shards]shard
	learnedParams atomic.Int64 // irrelevant parameters of all groups
	floorNow      atomic.Uint32
}

// shard holds the groups of a range of hashes.
type shard struct {
	mu             sync.Mutex // held for some microseconds
	groups         map[uint64]*group
	unwatchedPages []uint8 // pages of groups that are not watched, by hash; all are halved from time to time
	unwatchedTotal int
	words          sketch
	max            int64 // limit of bytes
	bytes          int64 // memory of the groups in bytes
	tick           uint32

	pagesRead, urlsDelayed, groupsEvicted int64
}

// NewDetector returns an empty Detector. It allocates memory when pages come.
func NewDetector(o Options) *Detector {
	w := &Detector{o: o.WithDefaults()}
	w.SetFloor(w.o.Floor)
	each := w.o.MemoryBytes / shards
	for i := range w.shards {
		s := &w.shards[i]
		s.groups = map[uint64]*group{}
		s.words.blocks = max(int(each*filterQuarters/4/(2*blockBytes)), 16)
		s.max = max(each-each*filterQuarters/4-unwatchedCounters, 16<<10)
	}
	return w
}

// Group identifies a group: the hash of its name.
type Group uint64

// GroupOf returns the Group of a site, domain or address; kind tells them apart.
func (w *Detector) GroupOf(kind byte, name []byte) Group {
	return Group(mix(xxh3.HashSeed(name, w.o.Seed+uint64(kind))))
}

func (w *Detector) shard(g Group) *shard { return &w.shards[uint64(g)>>60%shards] }

// ShouldDelay reports whether a URL of the group, given as path with query, waits until its site has no other URLs. If
// so, the URL is counted as delayed. It borrows path.
func (w *Detector) ShouldDelay(g Group, path []byte) bool {
	s := w.shard(g)
	s.mu.Lock()
	defer s.mu.Unlock()
	one := s.groups[uint64(g)]
	if one == nil {
		return false
	}
	c := one.learner.chainOf(w.o.Seed, uint64(g), path)
	if !one.shouldDelay(&c) {
		return false
	}
	one.noteDelayed(&c)
	s.urlsDelayed++
	return true
}

// NoteDelayed counts a URL that is delayed for another reason than ShouldDelay. It borrows path.
func (w *Detector) NoteDelayed(g Group, path []byte) {
	s := w.shard(g)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.urlsDelayed++
	if one := s.groups[uint64(g)]; one != nil {
		c := one.learner.chainOf(w.o.Seed, uint64(g), path)
		one.noteDelayed(&c)
	}
}

// ReleaseDelayed reports whether a delayed URL is fetched now, and then counts it. Otherwise the URL is skipped as part
// of a trap, and Evidence says why. It borrows path.
func (w *Detector) ReleaseDelayed(g Group, path []byte) (Evidence, bool) {
	s := w.shard(g)
	s.mu.Lock()
	defer s.mu.Unlock()
	one := s.groups[uint64(g)]
	if one == nil {
		return Evidence{}, true
	}
	c := one.learner.chainOf(w.o.Seed, uint64(g), path)
	return one.releaseDelayed(&c, repeatsParts(w.o.Seed, path), w.floor())
}

// MemberDecision says what happens to a member of a group of sites, such as a new site of a domain.
type MemberDecision uint8

// The decisions.
const (
	MemberAccepted MemberDecision = iota
	MemberDelayed                 // the group looks like a trap: its members are admitted one by one
	MemberSkipped                 // the group is a trap
)

// JoinMember decides about one more member of a group. wasDelayed says that the member was delayed before.
func (w *Detector) JoinMember(g Group, wasDelayed bool) (MemberDecision, Evidence) {
	s := w.shard(g)
	s.mu.Lock()
	defer s.mu.Unlock()
	one := s.groups[uint64(g)]
	if one == nil || !one.entries[0].isSuspicious() {
		return MemberAccepted, Evidence{}
	}
	c := one.learner.chainOf(w.o.Seed, uint64(g), nil)
	switch why, endless := one.findEndless(&c, w.floor(), (*group).isExempt); {
	case endless:
		return MemberSkipped, why
	case wasDelayed:
		return MemberAccepted, Evidence{}
	}
	one.noteDelayed(&c)
	s.urlsDelayed++
	return MemberDelayed, Evidence{}
}

func (w *Detector) floor() uint32 { return w.floorNow.Load() }

// SetFloor changes Options.Floor, for what is decided from now on.
func (w *Detector) SetFloor(floor int) { w.floorNow.Store(uint32(floor)) }

// Page describes the response to a URL.
type Page struct {
	IsDuplicate bool   // the payload was stored before
	Payload     uint32 // bits of its digest, 0 if there is none
	WasDelayed  bool   // the URL was delayed, or is the first page of a group's member: see JoinMember
	Text        []byte // the text to read; nil if there is none: then every new payload is new content
	// URL and Addresses are the page's address and those in the page: no word of these is new. They may be nil.
	URL       []byte
	Addresses Addresses
	Duration  time.Duration
}

// newWordsNeeded returns how many new words make a page new. A slow page needs more.
func (p *Page) newWordsNeeded() int {
	if p.Duration >= slowPage {
		return 5
	}
	return 1
}

const slowPage = 2 * time.Second

// NotePage counts a page of the group. It borrows path and what p has; words is scratch memory of the caller. isNew
// reports whether the page has new content; it is true for a page that is not read.
func (w *Detector) NotePage(g Group, path []byte, p Page, words *Words) (isNew bool) {
	s := w.shard(g)
	s.mu.Lock()
	learns, pages := hasParams(path), 1
	switch {
	case p.WasDelayed && len(path) > 0:
		pages = watchAfterPages // it is known why to watch the group
	case learns:
		pages = paramPageWeight
	}
	one := s.getOrCountPage(uint64(g), pages)
	if one == nil {
		s.mu.Unlock()
		return true
	}
	c := one.learner.chainOf(w.o.Seed, uint64(g), path)
	late := p.WasDelayed && len(path) > 0 // of sites of a healthy domain, a sample is enough
	if !one.shouldRead(&c) && !late && p.Duration < slowPage && !(learns && one.isLearning()) {
		one.released = chain{} // pages that are not read are new
		s.mu.Unlock()
		return true
	}
	read := p.Text != nil && (learns || !p.IsDuplicate)
	if read {
		s.mu.Unlock() // unlocked while reading, so that other groups need not wait
		words.Read(p.Text)
		s.mu.Lock()
		s.pagesRead++
		s.words.addAll(uint64(g), words)
		s.mu.Unlock()
		p.IsDuplicate = p.IsDuplicate || !words.isNew(p.newWordsNeeded(), p.URL, p.Addresses)
		s.mu.Lock()
	}
	if one = s.groups[uint64(g)]; one != nil { // it may have been evicted meanwhile
		s.tick++
		one.lastUsed = s.tick
		before := one.bytes()
		if read && one.learn(w.o.Seed, path, learns, words) {
			w.learnedParams.Add(1)
		} else {
			one.notePage(&c, !p.IsDuplicate)
		}
		switch {
		case !p.WasDelayed && p.IsDuplicate:
			one.noteConsequence()
		case !p.WasDelayed:
			one.released = chain{}
		default:
			one.noteDelayedPage(&c, !p.IsDuplicate, p.Payload)
			if len(path) == 0 {
				one.entries[0].delayed.countFetched(w.floor(), false) // of a member: see JoinMember
			}
		}
		s.bytes += one.bytes() - before
		s.evict()
	}
	s.mu.Unlock()
	return !p.IsDuplicate
}

// NoteNoPage counts a redirect or a failure. id distinguishes it from others. It borrows path.
func (w *Detector) NoteNoPage(g Group, path []byte, id uint32, wasDelayed bool) {
	s := w.shard(g)
	s.mu.Lock()
	defer s.mu.Unlock()
	one := s.groups[uint64(g)]
	switch {
	case one == nil:
	case wasDelayed:
		c := one.learner.chainOf(w.o.Seed, uint64(g), path)
		one.noteDelayedPage(&c, false, id)
	default:
		one.noteConsequence()
	}
}

// isLearning reports whether every page with parameters must be read.
func (g *group) isLearning() bool { return g.learner.pageCount < learnFirst }

// learn adds the page to what is known about parameters. If one of them becomes irrelevant, the counts of the group
// restart, because they were made with it.
func (g *group) learn(seed uint64, path []byte, params bool, words *Words) bool {
	text, enough := words.textHash()
	if !enough || !params && !g.learner.hasBegun() {
		return false
	}
	if !params {
		g.learner.addPlainPage(seed, path, text)
		return false
	}
	if !g.learner.addPage(seed, path, text) {
		return false
	}
	g.resetCounts()
	return true
}

// IrrelevantParams returns the parameters that do not change the text of the group's pages; nil if none is known.
func (w *Detector) IrrelevantParams(g Group) *urlx.Params {
	if w.learnedParams.Load() == 0 {
		return nil
	}
	s := w.shard(g)
	s.mu.Lock()
	defer s.mu.Unlock()
	if one := s.groups[uint64(g)]; one != nil {
		return one.learner.irrelevant
	}
	return nil
}

// getOrCountPage returns the group. If it is not watched yet, the page is counted and the result may be nil.
func (s *shard) getOrCountPage(hash uint64, pages int) *group {
	if g := s.groups[hash]; g != nil {
		return g
	}
	if s.unwatchedPages == nil {
		s.unwatchedPages = make([]uint8, unwatchedCounters)
	}
	at := &s.unwatchedPages[hash%unwatchedCounters]
	if *at += uint8(pages); *at < watchAfterPages {
		if s.unwatchedTotal += pages; s.unwatchedTotal >= unwatchedCounters*watchAfterPages/4 {
			s.unwatchedTotal = 0
			for i := range s.unwatchedPages {
				s.unwatchedPages[i] /= 2
			}
		}
		return nil
	}
	*at = 0
	g := newGroup()
	s.groups[hash] = g
	s.bytes += g.bytes()
	g.getOrAdd(hash)
	return g
}

// evict removes groups while memory is short: of a sample, the one that was used longest ago.
func (s *shard) evict() {
	for s.bytes > s.max && len(s.groups) > 1 {
		var oldest uint64
		var age uint32
		n := 0
		for hash, g := range s.groups {
			if a := s.tick - g.lastUsed; n == 0 || a > age {
				oldest, age = hash, a
			}
			if n++; n == evictSample {
				break
			}
		}
		s.bytes -= s.groups[oldest].bytes()
		delete(s.groups, oldest)
		s.groupsEvicted++
	}
}

// Stats returns the current counts.
func (w *Detector) Stats() (t Stats) {
	for i := range w.shards {
		s := &w.shards[i]
		s.mu.Lock()
		t.Groups += len(s.groups)
		t.Bytes += s.bytes + s.words.bytes() + int64(len(s.unwatchedPages))
		t.Read, t.Delayed, t.Evicted = t.Read+s.pagesRead, t.Delayed+s.urlsDelayed, t.Evicted+s.groupsEvicted
		for _, g := range s.groups {
			for k := range g.entries {
				if g.entries[k].isSuspicious() {
					t.Poor++
				}
			}
		}
		s.mu.Unlock()
	}
	return t
}

// Part is what the pages of a part of a group say about its next URLs.
type Part struct {
	// Level says which part of the site it is, as in Evidence.
	Level    int  `json:"level"`
	Pages    int  `json:"pages"`     // that count now: half of them are forgotten from time to time
	NewPages int  `json:"new_pages"` // of these, pages with new content
	Poor     bool `json:"poor"`      // its next URLs are delayed, unless they are exempt
	Exempt   bool `json:"exempt"`    // URLs such as this one are not delayed
	Endless  bool `json:"endless"`   // its delayed URLs are skipped

	Delayed Evidence `json:"delayed"` // of the delayed URLs of this part
}

// Explain returns the deepest part with enough pages to be judged that contains a URL, given as path with query. ok is
// false if there is none: then nothing is delayed. It borrows path and changes nothing.
func (w *Detector) Explain(g Group, path []byte) (p Part, ok bool) {
	s := w.shard(g)
	s.mu.Lock()
	defer s.mu.Unlock()
	one := s.groups[uint64(g)]
	if one == nil {
		return p, false
	}
	c := one.learner.chainOf(w.o.Seed, uint64(g), path)
	e, at := one.deepestWithEvidence(&c)
	if e == nil {
		return p, false
	}
	exempt, _ := one.exemption(&c, at)
	p = Part{
		Level: max(at-c.siteIndex, 0), Pages: int(e.pages), NewPages: int(e.newPages), Poor: e.isPoor(), Exempt: exempt,
		Delayed: Evidence{
			Level: max(at-c.siteIndex, 0), Fetched: int(e.delayed.fetched), Found: int(e.delayed.foundEver),
			Streak: int(e.delayed.evidenceWindows) * int(trapWindow(w.floor())),
		},
	}
	if why, endless := one.findEndless(&c, w.floor(), (*group).isExemptNow); endless && p.Poor {
		p.Endless, p.Delayed = true, why
	}
	return p, true
}

// Options of a Detector.
type Options struct {
	// MemoryBytes limits the memory of groups and word filters; 0 means 32 MiB. Memory is allocated as needed.
	MemoryBytes int64
	// Seed is a secret of the crawl, so that a site cannot construct keys and words with equal hashes.
	Seed uint64
	// Floor is the number of delayed URLs of a part that are fetched before any is skipped; 0 means 10,000.
	Floor int
}

const (
	memoryBytesDefault = 32 << 20
	floorDefault       = 10_000
)

// WithDefaults returns a copy with the default for each zero field.
func (o Options) WithDefaults() Options {
	if o.MemoryBytes == 0 {
		o.MemoryBytes = memoryBytesDefault
	}
	if o.Floor == 0 {
		o.Floor = floorDefault
	}
	return o
}

// Stats describes what a Detector contains and did.
type Stats struct {
	Groups  int   // groups with counts now
	Poor    int   // keys of these that are poor
	Bytes   int64 // memory in bytes
	Read    int64 // pages whose text was read
	Delayed int64 // URLs that were delayed
	Evicted int64 // groups that were removed because memory was short
}
