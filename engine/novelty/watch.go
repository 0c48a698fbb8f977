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

	read, refused, evicted int64
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

// Allows says whether a URL of the group, path with query, is to be asked for. It borrows path. What it allows counts as asked for.
func (w *Watch) Allows(g Group, path []byte) bool {
	s := w.shard(g)
	s.mu.Lock()
	defer s.mu.Unlock()
	one := s.groups[uint64(g)]
	if one == nil {
		return true
	}
	c := chainOf(w.o.Seed, uint64(g), path)
	if one.allows(&c) {
		return true
	}
	s.refused++
	return false
}

// Spent says whether the next URL of a group would be refused whatever its path: the group as a whole brings nothing, and has no
// credit left. It spends none.
func (w *Watch) Spent(g Group) bool {
	s := w.shard(g)
	s.mu.Lock()
	defer s.mu.Unlock()
	one := s.groups[uint64(g)]
	if one == nil || one.credit > 0 {
		return false
	}
	if e := one.find(uint64(g)); !one.condemns(e) {
		return false
	}
	s.refused++
	return true
}

// Page is what was got from a URL.
type Page struct {
	Known bool   // the payload was stored before
	Text  []byte // what is to be read; nil if it has no words: then a new payload is new
	Took  time.Duration
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
	if !one.wants(&c) && p.Took < slow && !(learns && one.isLearning()) {
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
		t.Read, t.Refused, t.Evicted = t.Read+s.read, t.Refused+s.refused, t.Evicted+s.evicted
		for _, g := range s.groups {
			for k := range g.entries {
				if g.condemns(&g.entries[k]) {
					t.Poor++
				}
			}
		}
		s.mu.Unlock()
	}
	return t
}
