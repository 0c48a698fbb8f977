package novelty

const (
	evidencePages      = 64  // pages before a key is judged
	windowPages        = 128 // pages after which all counts of a key are halved
	pagesWithoutNewMax = 48  // consecutive pages without new content, after which earlier new pages hardly count
	newPageShare       = 8   // one page in this many must be new
	kindPages          = 4   // pages of a new kind before the kind is judged by itself
	creditInitial      = 64  // credit of a new group
	creditPages        = 8   // new pages that earn one credit
	keysMax            = 256 // keys of a group
	entrySize          = 64  // bytes of an entry
	groupSize          = 264 // bytes of a group without its entries, with its place in the table
)

// entry holds the counts of one key.
type entry struct {
	key             uint64
	pages           uint32 // pages in the window
	newPages        uint32 // of these, pages with new content
	lastUsed        uint32 // the group's tick at the last page
	pagesWithoutNew uint16 // consecutive pages without new content
	score           uint8  // how new the last pages were, 0 to scoreMax; see shouldRead
	flags           flags  // see isIndependent and isTrap
	delayed         delayedCounts
}

// flags of an entry.
type flags uint8

const (
	flagIndependent flags = 1 << iota
	flagTrap
)

// isIndependent says that the pages of a key no longer count for the keys above it.
func (e *entry) isIndependent() bool { return e.flags&flagIndependent != 0 }

// isTrap says that a key was found endless, and that its delayed URLs no longer count for the keys above it.
func (e *entry) isTrap() bool { return e.flags&flagTrap != 0 }

// isPoor reports whether too few pages of a key with evidence are new.
func (e *entry) isPoor() bool { return e.newPages*newPageShare < e.pages }

func (e *entry) count(fresh bool) {
	e.pages++
	if fresh {
		e.newPages++
		e.pagesWithoutNew = 0
		e.score = min(e.score+1, scoreMax)
	} else {
		e.pagesWithoutNew = min(e.pagesWithoutNew+1, pagesWithoutNewMax)
		e.score -= min(e.score, scoreFall)
	}
	if e.pagesWithoutNew >= pagesWithoutNewMax {
		e.newPages = min(e.newPages, e.pages/(2*newPageShare))
	}
	if e.pages >= windowPages {
		e.pages /= 2
		e.newPages /= 2
	}
}

// group is a site, or the first pages of all sites of a domain or address.
type group struct {
	entries  []entry
	tick     uint32 // number of pages
	lastUsed uint32 // the shard's tick at the last page: see shard.evict
	credit   int32  // number of URLs of new kinds that need not be delayed
	newPages uint32 // pages with new content
	learner  learner
	released chain // keys of the last delayed URL that was fetched; empty if something new came since
}

// resetCounts drops all counts. It keeps what was learned about parameters.
func (g *group) resetCounts() {
	g.released = chain{}
	own := g.entries[0].key
	g.entries = append(g.entries[:0], entry{key: own})
	g.newPages = 0
}

func newGroup() *group { return &group{credit: creditInitial} }

func (g *group) bytes() int64 {
	n := groupSize + int64(cap(g.entries))*entrySize
	if g.learner.hasBegun() {
		n += learnBytes
	}
	return n
}

// isSuspicious reports whether a key has evidence and is poor.
func (e *entry) isSuspicious() bool { return e.pages >= evidencePages && e.isPoor() }

// find returns the entry of a key, or nil. It is valid until the next getOrAdd.
func (g *group) find(key uint64) *entry {
	for i := range g.entries {
		if g.entries[i].key == key {
			return &g.entries[i]
		}
	}
	return nil
}

// getOrAdd returns the entry of a key, a new one if there is none. In a full group it replaces the entry with the least
// evidence. The group's own entry is never replaced.
func (g *group) getOrAdd(key uint64) *entry {
	if e := g.find(key); e != nil {
		return e
	}
	if len(g.entries) < keysMax {
		g.entries = append(g.entries, entry{key: key})
		return &g.entries[len(g.entries)-1]
	}
	least := 1
	for i := 2; i < len(g.entries); i++ {
		if g.entries[i].hasLessEvidence(&g.entries[least]) {
			least = i
		}
	}
	g.entries[least] = entry{key: key}
	return &g.entries[least]
}

// hasLessEvidence reports whether e should be replaced before other.
func (e *entry) hasLessEvidence(other *entry) bool {
	switch {
	case e.delayed.fetched != other.delayed.fetched:
		return e.delayed.fetched < other.delayed.fetched
	case e.pages != other.pages:
		return e.pages < other.pages
	default:
		return int32(e.lastUsed-other.lastUsed) < 0
	}
}

// deepestIndependent returns the index of the deepest independent key of the chain, or 0.
func (g *group) deepestIndependent(c *chain) int {
	for i := c.n - 1; i > 0; i-- {
		if e := g.find(c.keys[i]); e != nil && e.isIndependent() {
			return i
		}
	}
	return 0
}

// notePage counts a page.
func (g *group) notePage(c *chain, fresh bool) {
	g.tick++
	from := g.deepestIndependent(c)
	for i := from; i < c.n; i++ {
		e := g.getOrAdd(c.keys[i])
		e.lastUsed = g.tick
		e.count(fresh)
	}
	if fresh {
		if g.newPages++; g.newPages%creditPages == 0 {
			g.credit++
		}
	}
	for i := from + 1; i < c.n; i++ {
		e := g.find(c.keys[i])
		if e == nil || e.isIndependent() || e.pages < evidencePages || i > c.folderIndex() && e.isPoor() {
			continue
		}
		e.flags |= flagIndependent
		for ; from < i; from++ {
			if above := g.find(c.keys[from]); above != nil { // in a full group a deeper key may have replaced it
				above.subtract(e)
			}
		}
	}
}

// subtract removes the counts of other from those of a key above it.
func (e *entry) subtract(other *entry) {
	e.pages -= min(e.pages, other.pages)
	e.newPages = min(e.newPages-min(e.newPages, other.newPages), e.pages)
}

// deepestWithEvidence returns the deepest key with evidence and its index in the chain, or nil.
func (g *group) deepestWithEvidence(c *chain) (e *entry, at int) {
	from := g.deepestIndependent(c)
	for i := c.n - 1; i >= from; i-- {
		if e := g.find(c.keys[i]); e != nil && e.pages >= evidencePages {
			return e, i
		}
	}
	return nil, 0
}

// shouldDelay reports whether a URL waits until its site has no other URLs. It may use up credit.
func (g *group) shouldDelay(c *chain) bool {
	e, at := g.deepestWithEvidence(c)
	return e != nil && e.isPoor() && !g.isExempt(c, at)
}

// isExempt reports whether a URL below a poor key is not delayed: its kind is new and there is credit, or its kind has
// new content.
func (g *group) isExempt(c *chain, at int) bool {
	exempt, byCredit := g.exemption(c, at)
	if byCredit {
		g.credit--
	}
	return exempt
}

// isExemptNow is isExempt without use of credit.
func (g *group) isExemptNow(c *chain, at int) bool {
	exempt, _ := g.exemption(c, at)
	return exempt
}

// exemption reports whether a URL below a poor key is exempt, and whether that takes credit.
func (g *group) exemption(c *chain, at int) (exempt, byCredit bool) {
	met := true
	for i := at + 1; i < c.n; i++ {
		kind := g.find(c.keys[i])
		if met = kind != nil && kind.pages >= kindPages; met && kind.newPages*2 >= kind.pages {
			return true, false
		}
	}
	byCredit = !met && g.credit > 0
	return byCredit, byCredit
}

// shouldRead reports whether the text of a page should be read. If the last pages were new, a sample is enough. If
// irrelevant parameters are known, every page is read; otherwise its copies with these parameters would look new.
func (g *group) shouldRead(c *chain) bool {
	if g.learner.irrelevant != nil {
		g.tick++
		return true
	}
	least := uint8(scoreMax)
	for i := g.deepestIndependent(c); i < c.n; i++ {
		if e := g.find(c.keys[i]); e == nil {
			least = 0
		} else {
			least = min(least, e.score)
		}
	}
	g.tick++
	switch {
	case least >= scoreBest:
		return g.tick%16 == 0
	case least >= scoreGood:
		return g.tick%8 == 0
	default:
		return true
	}
}

// The score of a key rises with each new page, and falls faster.
const (
	scoreGood = 8
	scoreBest = 24
	scoreMax  = 32
	scoreFall = 8
)
