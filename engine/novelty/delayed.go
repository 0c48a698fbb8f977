package novelty

// The evidence of a trap, which a key gives about the URLs below it that were delayed. It is counted in windows of an eighth of the floor.
const (
	windowsPerFloor = 8
	windowMin       = 32
	growsOf         = 4  // a window grows if for every four URLs that were fetched
	growsBy         = 3  // at least three more were found
	repeatsOf       = 10 // a window repeats if fewer than one of so many of its pages brought something
	readOf          = 4  // and one of so many fetched URLs at least was a page that could be read
	aboveOf         = 2  // keys above the deepest one need so many times the floor
)

// delayed counts URLs that wait until their site has nothing else.
type delayed struct {
	fetched uint32 // URLs, ever
	streak  uint16 // of the last windows, how many in a row both grew and repeated
	// The current window:
	taken uint32 // URLs that were fetched
	found uint32 // URLs that were delayed meanwhile
	read  uint32 // pages
	fresh uint32 // of these, those that brought something
}

// windowOf is how many fetched URLs a window has.
func windowOf(floor uint32) uint32 { return max(floor/windowsPerFloor, windowMin) }

// take counts a URL that is fetched now.
func (d *delayed) take(floor uint32) {
	d.fetched++
	if d.taken++; d.taken < windowOf(floor) {
		return
	}
	grows := uint64(d.found)*growsOf >= uint64(d.taken)*growsBy
	repeats := uint64(d.read)*readOf >= uint64(d.taken) && uint64(d.fresh)*repeatsOf < uint64(d.read)
	if grows && repeats {
		d.streak = min(d.streak+1, 1<<15)
	} else {
		d.streak = 0
	}
	d.taken, d.found, d.read, d.fresh = 0, 0, 0, 0
}

// endless says that at least so many URLs were fetched, and that windows of half the floor in a row gave evidence.
func (d *delayed) endless(times, floor uint32) bool {
	return uint64(d.fetched) >= uint64(times)*uint64(floor) && uint64(d.streak)*uint64(windowOf(floor))*2 >= uint64(floor)
}

// Evidence is why a URL is left out.
type Evidence struct {
	// Level says which part of the site it is about, seen from the URL: 0 the whole site, 1 to 3 that many folders, or the file of a query
	// and then the set of its parameters.
	Level   int `json:"level"`
	Fetched int `json:"fetched"` // delayed URLs of this part that were fetched
	Streak  int `json:"streak"`  // how many of these, at the end, brought nothing new and led to as many new URLs
}

// found counts a URL that is delayed.
func (g *group) found(c *chain) {
	for i := range c.n {
		if e := g.find(c.keys[i]); e != nil && e.late.fetched > 0 { // what waits from before tells nothing
			e.late.found++
		}
	}
}

// take says whether a delayed URL is fetched, and counts it then; if not, why not.
func (g *group) take(c *chain, floor uint32) (Evidence, bool) {
	if e, _ := g.judge(c); e != nil && e.poor() {
		if why, endless := g.endless(c, floor); endless {
			return why, false
		}
	}
	for i := range c.n {
		if e := g.find(c.keys[i]); e != nil {
			e.late.take(floor)
		}
	}
	return Evidence{}, true
}

// endless looks for a key that the URL lies below, with evidence of a trap, and lets the URL pass if it is of a kind of its own.
func (g *group) endless(c *chain, floor uint32) (Evidence, bool) {
	times := uint32(1)
	for i := c.n - 1; i >= 0; i-- {
		e := g.find(c.keys[i])
		if e == nil || e.late.fetched == 0 {
			continue
		}
		if e.late.endless(times, floor) && !g.spares(c, i) {
			return Evidence{Level: i, Fetched: int(e.late.fetched), Streak: int(e.late.streak) * int(windowOf(floor))}, true
		}
		times = aboveOf
	}
	return Evidence{}, false
}

// weighed counts a page of a delayed URL.
func (g *group) weighed(c *chain, fresh bool) {
	for i := range c.n {
		if e := g.find(c.keys[i]); e != nil {
			e.late.read++
			if fresh {
				e.late.fresh++
			}
		}
	}
}
