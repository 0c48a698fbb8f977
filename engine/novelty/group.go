package novelty

const (
	evidence  = 64  // pages before a key is judged
	window    = 128 // pages after which all counts of a key are halved
	turned    = 48  // pages in a row that bring nothing, after which what was before is forgotten
	worth     = 8   // of so many pages one must bring something
	merit     = 4   // pages of a new kind before it is asked for on its own merit
	creditNew = 64  // of a new group
	creditPer = 8   // pages that brought something earn one
	keysMax   = 256 // of a group
	entrySize = 64  // bytes of an entry
	groupSize = 192 // bytes of a group beside its entries, with its place in the table
)

// entry is what is known of one key.
type entry struct {
	key   uint64
	read  uint32 // pages of the window
	fresh uint32 // of these, those that brought something
	used  uint32 // the group's tick at the last page
	stale uint16 // pages in a row that brought nothing
	mood  uint8  // see wants
	alone bool   // it counts no more for what is above it
	late  delayed
}

// poor says that what a key with evidence brings is not worth it.
func (e *entry) poor() bool { return e.fresh*worth < e.read }

func (e *entry) count(fresh bool) {
	e.read++
	if fresh {
		e.fresh++
		e.stale = 0
		e.mood = min(e.mood+1, moodMost)
	} else {
		e.stale = min(e.stale+1, turned)
		e.mood -= min(e.mood, moodFall)
	}
	if e.stale >= turned {
		e.fresh = min(e.fresh, e.read/(2*worth))
	}
	if e.read >= window {
		e.read /= 2
		e.fresh /= 2
	}
}

// group is a site, or all first pages of a domain's or address's sites.
type group struct {
	entries []entry
	tick    uint32   // pages noted
	used    uint32   // the shard's tick at the last page: see shard.evict
	credit  int32    // URLs of kinds that were not met yet, which need not wait
	fresh   uint32   // pages that brought something
	learner *learner // nil until there was something to learn from
}

// forget drops what was counted, and keeps what was learnt of parameters.
func (g *group) forget() {
	own := g.entries[0].key
	g.entries = append(g.entries[:0], entry{key: own})
	g.fresh = 0
}

func newGroup() *group { return &group{credit: creditNew} }

func (g *group) bytes() int64 {
	n := groupSize + int64(cap(g.entries))*entrySize
	if g.learner != nil {
		n += learnBytes
	}
	return n
}

// suspicious says that a key has evidence, and that it is bad.
func (e *entry) suspicious() bool { return e.read >= evidence && e.poor() }

// find gives the entry of a key; nil if there is none. It is good until the next make.
func (g *group) find(key uint64) *entry {
	for i := range g.entries {
		if g.entries[i].key == key {
			return &g.entries[i]
		}
	}
	return nil
}

// make gives the entry of a key, a new one if there is none: in a full group in the place of the one with the least evidence. The
// group's own is always there.
func (g *group) make(key uint64) *entry {
	if e := g.find(key); e != nil {
		return e
	}
	if len(g.entries) < keysMax {
		g.entries = append(g.entries, entry{key: key})
		return &g.entries[len(g.entries)-1]
	}
	least := 1
	for i := 2; i < len(g.entries); i++ {
		if g.entries[i].weighsLess(&g.entries[least]) {
			least = i
		}
	}
	g.entries[least] = entry{key: key}
	return &g.entries[least]
}

// weighsLess says that an entry is the one to forget of two.
func (e *entry) weighsLess(other *entry) bool {
	switch {
	case e.late.fetched != other.late.fetched:
		return e.late.fetched < other.late.fetched
	case e.read != other.read:
		return e.read < other.read
	default:
		return int32(e.used-other.used) < 0
	}
}

// alone is the place in the chain of the deepest key that stands alone; 0 if none does.
func (g *group) alone(c *chain) int {
	for i := c.n - 1; i > 0; i-- {
		if e := g.find(c.keys[i]); e != nil && e.alone {
			return i
		}
	}
	return 0
}

// note counts a page.
func (g *group) note(c *chain, fresh bool) {
	g.tick++
	from := g.alone(c)
	for i := from; i < c.n; i++ {
		e := g.make(c.keys[i])
		e.used = g.tick
		e.count(fresh)
	}
	if fresh {
		if g.fresh++; g.fresh%creditPer == 0 {
			g.credit++
		}
	}
	for i := from + 1; i < c.n; i++ {
		e := g.find(c.keys[i])
		if e == nil || e.alone || e.read < evidence || i > 1 && e.poor() {
			continue
		}
		e.alone = true
		for ; from < i; from++ {
			g.find(c.keys[from]).takeOut(e)
		}
	}
}

// takeOut takes what another key has counted out of a key above it.
func (e *entry) takeOut(other *entry) {
	e.read -= min(e.read, other.read)
	e.fresh = min(e.fresh-min(e.fresh, other.fresh), e.read)
}

// judge gives the deepest key with evidence, and its place in the chain; nil if none has any.
func (g *group) judge(c *chain) (e *entry, at int) {
	from := g.alone(c)
	for i := c.n - 1; i >= from; i-- {
		if e := g.find(c.keys[i]); e != nil && e.read >= evidence {
			return e, i
		}
	}
	return nil, 0
}

// suspects says whether a URL is to wait until its site has nothing else. It may spend credit.
func (g *group) suspects(c *chain) bool {
	e, at := g.judge(c)
	return e != nil && e.poor() && !g.spares(c, at)
}

// spares says that a URL below a poor key is of a kind that was not met yet, and there is credit for it, or of a kind that brings something.
func (g *group) spares(c *chain, at int) bool {
	met := true
	for i := at + 1; i < c.n; i++ {
		kind := g.find(c.keys[i])
		if met = kind != nil && kind.read >= merit; met && kind.fresh*2 >= kind.read {
			return true
		}
	}
	if met || g.credit <= 0 {
		return false
	}
	g.credit--
	return true
}

// wants says whether a page is to be read. Where the last pages brought something, some of the pages stand for the others; but if a
// parameter is silent, the text of each page must be known, or its copies with that parameter look new.
func (g *group) wants(c *chain) bool {
	if g.learner != nil && g.learner.silent != nil {
		g.tick++
		return true
	}
	least := uint8(moodMost)
	for i := g.alone(c); i < c.n; i++ {
		if e := g.find(c.keys[i]); e == nil {
			least = 0
		} else {
			least = min(least, e.mood)
		}
	}
	g.tick++
	switch {
	case least >= moodBest:
		return g.tick%16 == 0
	case least >= moodGood:
		return g.tick%8 == 0
	default:
		return true
	}
}

// The mood of a key goes up with each page that brought something, and down faster.
const (
	moodGood = 8
	moodBest = 24
	moodMost = 32
	moodFall = 8
)
