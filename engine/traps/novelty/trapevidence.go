package novelty

import "slices"

// Evidence of a trap, which each key collects from the delayed URLs below it. It is counted in windows of fetched URLs,
// an eighth of the floor each.
const (
	windowsPerFloor = 8
	trapWindowMin   = 32
	growsOf         = 4  // a window grows if, for every four fetched URLs,
	growsBy         = 3  // at least three more were found
	repeatsOf       = 10 // a window repeats if fewer than one page in ten was new,
	readOf          = 4  // and at least one fetched URL in four was a readable page
	floorsAbove     = 2  // keys above the deepest one need twice the numbers that depend on the floor
	foundPerFloor   = 10 // a part with different payloads must have led to ten times the floor
)

// delayedCounts counts the delayed URLs below a key.
type delayedCounts struct {
	fetched         uint32 // delayed URLs that were fetched, in total, and their consequences: see noteConsequence
	foundEver       uint32 // URLs that were delayed since the first one was fetched, and these consequences
	evidenceWindows uint16 // number of last consecutive windows that both grew and repeated
	strongWindows   uint16 // of these, number of last consecutive windows with one payload or nested URLs
	// The current window:
	windowFetched   uint32 // URLs that were fetched
	windowFound     uint32 // URLs that were delayed meanwhile
	windowNested    uint32 // fetched URLs that repeat their own parts: see repeatsParts
	windowPages     uint32 // pages, redirects and failures
	windowNewPages  uint32 // of these, pages with new content
	windowSamePages uint32 // of these, pages with the payload of the page before

	lastPayload uint32 // payload of the last page
}

// trapWindow returns the number of fetched URLs of a window.
func trapWindow(floor uint32) uint32 { return max(floor/windowsPerFloor, trapWindowMin) }

// countFetched counts a URL that is fetched now, and evaluates the window if it is full.
func (d *delayedCounts) countFetched(floor uint32, nested bool) {
	d.fetched++
	if nested {
		d.windowNested++
	}
	if d.windowFetched++; d.windowFetched < trapWindow(floor) {
		return
	}
	switch grows, repeats := d.isMostOfWindow(d.windowFound), d.hasEnoughPages() &&
		uint64(d.windowNewPages)*repeatsOf < uint64(d.windowPages); {
	case !grows || !repeats:
		d.evidenceWindows, d.strongWindows = 0, 0
	case uint64(d.windowPages-min(d.windowSamePages, d.windowPages))*repeatsOf < uint64(d.windowPages) ||
		d.isMostOfWindow(d.windowNested):
		d.evidenceWindows, d.strongWindows = min(d.evidenceWindows+1, 1<<15), min(d.strongWindows+1, 1<<15)
	default:
		d.evidenceWindows, d.strongWindows = min(d.evidenceWindows+1, 1<<15), 0
	}
	// Pages of links come unevenly: what was found beyond the size of a window counts for the next one.
	d.windowFound = min(d.windowFound-min(d.windowFound, d.windowFetched), d.windowFetched)
	d.windowFetched, d.windowNested, d.windowPages, d.windowNewPages, d.windowSamePages = 0, 0, 0, 0, 0
}

// isMostOfWindow reports whether n is at least three quarters of the URLs that the window has fetched.
func (d *delayedCounts) isMostOfWindow(n uint32) bool {
	return uint64(n)*growsOf >= uint64(d.windowFetched)*growsBy
}

func (d *delayedCounts) hasEnoughPages() bool {
	return uint64(d.windowPages)*readOf >= uint64(d.windowFetched)
}

// isEndless reports whether this part is a trap. All of this must hold: times floors were fetched; the last windows,
// half a floor of them, were evidence; and this evidence is strong, or the part has led to more URLs than a finite part
// is likely to have.
func (d *delayedCounts) isEndless(times, floor uint32) bool {
	half := func(windows uint16) bool { return uint64(windows)*uint64(trapWindow(floor))*2 >= uint64(floor) }
	return uint64(d.fetched) >= uint64(times)*uint64(floor) && half(d.evidenceWindows) &&
		(half(d.strongWindows) || uint64(max(d.foundEver, d.fetched)) >= foundPerFloor*uint64(times)*uint64(floor))
}

// Evidence explains why a URL is skipped. The JSON form is in the list of skipped URLs.
type Evidence struct {
	// Level says which part of the site the evidence is about: 0 for all URLs of the site with a query (or all without
	// one, like this URL); 1 to 3 for as many folders; then the file of a query, and then the set of its parameters.
	Level   int `json:"level"`
	Fetched int `json:"fetched"` // delayed URLs of this part that were fetched, and redirects and failures behind them
	Found   int `json:"led"`     // URLs of this part that were found since; 0 in lists of older versions
	Streak  int `json:"streak"`  // number of the last fetched URLs that brought nothing new and led to as many new URLs
}

// firstCounted returns the index of the first key for which a delayed URL counts: the deepest trap, or the site.
func (g *group) firstCounted(c *chain) int {
	for i := c.n - 1; i > c.siteIndex; i-- {
		if e := g.find(c.keys[i]); e != nil && e.isTrap() {
			return i
		}
	}
	return c.siteIndex
}

// noteTrap takes the counts of a key that was found endless from the keys above it, so that the trap is no evidence
// against the rest of the site. Only the first trap of a group has this: a site of traps is bounded as a whole.
func (g *group) noteTrap(c *chain, at int) {
	if at <= c.siteIndex || slices.ContainsFunc(g.entries, func(e entry) bool { return e.isTrap() }) {
		return
	}
	trap := g.find(c.keys[at])
	for i := g.firstCounted(c); i < at; i++ {
		if e := g.find(c.keys[i]); e != nil {
			e.delayed = delayedCounts{
				fetched:     e.delayed.fetched - min(trap.delayed.fetched, e.delayed.fetched),
				foundEver:   e.delayed.foundEver - min(trap.delayed.foundEver, e.delayed.foundEver),
				lastPayload: e.delayed.lastPayload,
			}
		}
	}
	trap.flags |= flagTrap
}

// noteDelayed counts a URL that is delayed.
func (g *group) noteDelayed(c *chain) {
	for i := g.firstCounted(c); i < c.n; i++ {
		// URLs found before the first fetch are no evidence
		if e := g.find(c.keys[i]); e != nil && e.delayed.fetched > 0 {
			e.delayed.windowFound++
			e.delayed.foundEver = min(e.delayed.foundEver+1, countMax)
		}
	}
}

// releaseDelayed reports whether a delayed URL is fetched now, and then counts it. Otherwise it returns the evidence.
func (g *group) releaseDelayed(c *chain, nested bool, floor uint32) (Evidence, bool) {
	if e, _ := g.deepestWithEvidence(c); e != nil && e.isPoor() {
		if why, endless := g.findEndless(c, floor, (*group).isExempt); endless {
			g.noteTrap(c, c.siteIndex+why.Level)
			return why, false
		}
	}
	for i := g.firstCounted(c); i < c.n; i++ {
		if e := g.find(c.keys[i]); e != nil {
			e.delayed.countFetched(floor, nested)
		}
	}
	g.released = *c
	return Evidence{}, true
}

// noteConsequence counts a request that brought nothing new and was not delayed. A site has no other URLs while its
// delayed URLs are fetched. So the last one of these led to the request, unless something new came since. It counts as
// one more request for the part of that URL.
func (g *group) noteConsequence() {
	c := &g.released
	for i := g.firstCounted(c); i < c.n; i++ {
		if e := g.find(c.keys[i]); e != nil {
			e.delayed.fetched = min(e.delayed.fetched+1, countMax)
			e.delayed.foundEver = min(e.delayed.foundEver+1, countMax)
		}
	}
}

// findEndless looks for an endless part that contains the URL. A URL of an exempt kind passes.
func (g *group) findEndless(
	c *chain, floor uint32, isExempt func(g *group, c *chain, at int) bool,
) (Evidence, bool) {
	times := uint32(1)
	for i := c.n - 1; i >= c.siteIndex; i-- {
		e := g.find(c.keys[i])
		if e == nil || e.delayed.fetched == 0 {
			continue
		}
		if e.delayed.isEndless(times, floor) && !isExempt(g, c, i) {
			d := &e.delayed
			streak := int(d.evidenceWindows) * int(trapWindow(floor))
			return Evidence{Level: i - c.siteIndex, Fetched: int(d.fetched), Found: int(d.foundEver), Streak: streak}, true
		}
		times = floorsAbove
	}
	return Evidence{}, false
}

// noteDelayedPage counts the page of a delayed URL.
func (g *group) noteDelayedPage(c *chain, fresh bool, payload uint32) {
	for i := g.firstCounted(c); i < c.n; i++ {
		if e := g.find(c.keys[i]); e != nil {
			e.delayed.windowPages++
			if fresh {
				e.delayed.windowNewPages++
			}
			if payload == e.delayed.lastPayload {
				e.delayed.windowSamePages++
			}
			e.delayed.lastPayload = payload
		}
	}
}
