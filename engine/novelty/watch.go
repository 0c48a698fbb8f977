package novelty

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/zeebo/xxh3"

	"orbweaver/engine/urlx"
)

const (
	shards     = 16
	paramsWarm = 4       // a page with parameters counts as so many
	warmth     = 64      // pages before a group is watched
	warmMax    = 1 << 14 // counters of a shard for groups that are not watched yet
	evictOf    = 8       // groups that are looked at to find one that may go
	sketched   = 3       // in four parts of the memory: the filters of words
)

// Watch watches groups.
type Watch struct {
	o      Options
	shards [shards]shard
	learnt atomic.Int64 // parameters, of all groups
}

// shard is the groups of some hashes.
type shard struct {
	mu     sync.Mutex // held for some microseconds
	groups map[uint64]*group
	warm   []uint8 // pages of groups that are not watched, by hash; halved now and then
	warmed int
	words  sketch
	max    int64 // bytes of groups
	bytes  int64 // the same, now
	tick   uint32

	read, delayed, evicted int64
}

// NewWatch makes a Watch. It takes no memory before it has seen pages.
func NewWatch(o Options) *Watch {
	w := &Watch{o: o.WithDefaults()}
	each := w.o.MemoryBytes / shards
	for i := range w.shards {
		s := &w.shards[i]
		s.groups = map[uint64]*group{}
		s.words.blocks = max(int(each*sketched/4/(2*blockBytes)), 16)
		s.max = max(each-each*sketched/4-warmMax, 16<<10)
	}
	return w
}

// Group is the name of a group, as a number.
type Group uint64

// GroupOf names the group of a site, domain or address; kind tells them apart.
func (w *Watch) GroupOf(kind byte, name []byte) Group {
	return Group(mix(xxh3.HashSeed(name, w.o.Seed+uint64(kind))))
}

func (w *Watch) shard(g Group) *shard { return &w.shards[uint64(g)>>60%shards] }

// Delays says whether a URL of the group, path with query, is to wait until its site has nothing else. It borrows path. What waits counts
// as found.
func (w *Watch) Delays(g Group, path []byte) bool {
	s := w.shard(g)
	s.mu.Lock()
	defer s.mu.Unlock()
	one := s.groups[uint64(g)]
	if one == nil {
		return false
	}
	c := chainOf(w.o.Seed, uint64(g), path)
	if !one.suspects(&c) {
		return false
	}
	one.found(&c)
	s.delayed++
	return true
}

// Found counts a URL that waits for another reason than Delays.
func (w *Watch) Found(g Group, path []byte) {
	s := w.shard(g)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.delayed++
	if one := s.groups[uint64(g)]; one != nil {
		c := chainOf(w.o.Seed, uint64(g), path)
		one.found(&c)
	}
}

// Take says whether a URL that has waited is fetched now, and counts it then. If not, it belongs to a trap, and says why.
func (w *Watch) Take(g Group, path []byte) (Evidence, bool) {
	s := w.shard(g)
	s.mu.Lock()
	defer s.mu.Unlock()
	one := s.groups[uint64(g)]
	if one == nil {
		return Evidence{}, true
	}
	c := chainOf(w.o.Seed, uint64(g), path)
	return one.take(&c, nests(w.o.Seed, path), w.floor())
}

// Verdict is what becomes of a member of a group whose pages are the first pages of its members: a site of a domain.
type Verdict uint8

// The verdicts.
const (
	Welcome Verdict = iota
	Waits           // the group looks like a trap: its members come one by one
	LeftOut         // it is one
)

// Join says what becomes of one more member of a group. One that has waited is not found again.
func (w *Watch) Join(g Group, waited bool) (Verdict, Evidence) {
	s := w.shard(g)
	s.mu.Lock()
	defer s.mu.Unlock()
	one := s.groups[uint64(g)]
	if one == nil || !one.entries[0].suspicious() {
		return Welcome, Evidence{}
	}
	c := chainOf(w.o.Seed, uint64(g), nil)
	switch why, endless := one.endless(&c, w.floor()); {
	case endless:
		return LeftOut, why
	case waited:
		return Welcome, Evidence{}
	}
	one.found(&c)
	s.delayed++
	return Waits, Evidence{}
}

func (w *Watch) floor() uint32 { return uint32(w.o.Floor) }

// Page is what was got from a URL.
type Page struct {
	Known   bool   // the payload was stored before
	Payload uint32 // bits of its digest, 0 if there is none
	Late    bool   // its URL was delayed, or it is the first page of a member of a group: see Join
	Text    []byte // what is to be read; nil if it has no words: then a new payload is new
	Took    time.Duration
}

// need is how many new words, or so many times pairsNew pairs of those that are looked at, make a page new. Of one that took its
// time more is wanted.
func (p *Page) need() int {
	if p.Took >= slow {
		return 5
	}
	return 1
}

const slow = 2 * time.Second

// Weigh counts a page of the group. It borrows path and text; words is the caller's scratch.
func (w *Watch) Weigh(g Group, path []byte, p Page, words *Words) {
	s := w.shard(g)
	s.mu.Lock()
	learns, pages := hasParams(path), 1
	if learns {
		pages = paramsWarm
	}
	one := s.warmUp(uint64(g), pages)
	if one == nil {
		s.mu.Unlock()
		return
	}
	c := chainOf(w.o.Seed, uint64(g), path)
	late := p.Late && len(path) > 0 // of sites of a domain that is well, some stand for the others
	if !one.wants(&c) && !late && p.Took < slow && !(learns && one.isLearning()) {
		s.mu.Unlock()
		return
	}
	read := p.Text != nil && (learns || !p.Known)
	if read {
		s.mu.Unlock() // whoever asks for another site need not wait for this
		words.Read(p.Text)
		s.mu.Lock()
		s.read++
		p.Known = p.Known || !s.words.anyNew(uint64(g), words, p.need())
	}
	if one = s.groups[uint64(g)]; one != nil { // it did not have to go meanwhile
		s.tick++
		one.used = s.tick
		before := one.bytes()
		if read && one.learn(w.o.Seed, path, learns, words) {
			w.learnt.Add(1)
		} else {
			one.note(&c, !p.Known)
		}
		if p.Late {
			one.weighed(&c, !p.Known, p.Payload)
			if len(path) == 0 {
				one.entries[0].late.take(w.floor(), false) // of a member: see Join
			}
		}
		s.bytes += one.bytes() - before
		s.evict()
	}
	s.mu.Unlock()
}

// isLearning says that every page with parameters is of interest.
func (g *group) isLearning() bool { return g.learner == nil || g.learner.taken < learnFirst }

// learn takes what a page says about the parameters of its URL. If one of them says nothing, all that was counted with it does not
// count.
func (g *group) learn(seed uint64, path []byte, params bool, words *Words) bool {
	text, enough := words.sum()
	if !enough || g.learner == nil && !params {
		return false
	}
	if g.learner == nil {
		g.learner = new(learner)
	}
	if !params {
		g.learner.plain(seed, path, text)
		return false
	}
	if !g.learner.learn(seed, path, text) {
		return false
	}
	g.forget()
	return true
}

// Silent gives the parameters of a group's URLs that are known not to change what its pages say; nil if none is.
func (w *Watch) Silent(g Group) *urlx.Params {
	if w.learnt.Load() == 0 {
		return nil
	}
	s := w.shard(g)
	s.mu.Lock()
	defer s.mu.Unlock()
	if one := s.groups[uint64(g)]; one != nil && one.learner != nil {
		return one.learner.silent
	}
	return nil
}

// pairsNew is how many pairs, of those that are looked at, are as good as a new word.
const pairsNew = 4

// anyNew notes the words of a page, and says whether it brought something.
func (s *sketch) anyNew(group uint64, words *Words, need int) bool {
	single, pairs := 0, 0
	for _, h := range words.single {
		if s.tell(mix(h ^ group)) {
			single++
		}
	}
	for _, h := range words.pairs {
		if s.tell(mix(h ^ group)) {
			pairs++
		}
	}
	return single >= need || pairs >= need*pairsNew
}

// warmUp counts a page of a group that is not watched yet, and gives the group if it is.
func (s *shard) warmUp(hash uint64, pages int) *group {
	if g := s.groups[hash]; g != nil {
		return g
	}
	if s.warm == nil {
		s.warm = make([]uint8, warmMax)
	}
	at := &s.warm[hash%warmMax]
	if *at += uint8(pages); *at < warmth {
		if s.warmed += pages; s.warmed >= warmMax*warmth/4 {
			s.warmed = 0
			for i := range s.warm {
				s.warm[i] /= 2
			}
		}
		return nil
	}
	*at = 0
	g := newGroup()
	s.groups[hash] = g
	s.bytes += g.bytes()
	g.make(hash)
	return g
}

// evict lets groups go while there is too little memory: of some, the one that was met least lately.
func (s *shard) evict() {
	for s.bytes > s.max && len(s.groups) > 1 {
		var oldest uint64
		var age uint32
		n := 0
		for hash, g := range s.groups {
			if a := s.tick - g.used; n == 0 || a > age {
				oldest, age = hash, a
			}
			if n++; n == evictOf {
				break
			}
		}
		s.bytes -= s.groups[oldest].bytes()
		delete(s.groups, oldest)
		s.evicted++
	}
}

// Stats counts what there is.
func (w *Watch) Stats() (t Stats) {
	for i := range w.shards {
		s := &w.shards[i]
		s.mu.Lock()
		t.Groups += len(s.groups)
		t.Bytes += s.bytes + s.words.bytes() + int64(len(s.warm))
		t.Read, t.Delayed, t.Evicted = t.Read+s.read, t.Delayed+s.delayed, t.Evicted+s.evicted
		for _, g := range s.groups {
			for k := range g.entries {
				if g.entries[k].suspicious() {
					t.Poor++
				}
			}
		}
		s.mu.Unlock()
	}
	return t
}
