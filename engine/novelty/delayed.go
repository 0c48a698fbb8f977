package novelty

// The evidence of a trap, which a key gives about the URLs below it that were delayed. It is counted in windows of an eighth of the floor.
const (
	windowsPerFloor = 8
	windowMin       = 32
	growsOf         = 4  // a window grows if for every four URLs that were fetched
	growsBy         = 3  // at least three more were found
	repeatsOf       = 10 // a window repeats if fewer than one of so many of its pages brought something
	readOf          = 4  // and one of so many fetched URLs at least was a page that could be read
	aboveOf         = 2  // keys above the deepest one need so many times the numbers that depend on the floor
	ledOf           = 10 // and a part whose payloads differ must have led to so many times the floor
)

// delayed counts URLs that wait until their site has nothing else.
type delayed struct {
	fetched uint32 // URLs, ever
	led     uint32 // URLs that were delayed since the first one was fetched
	streak  uint16 // of the last windows, how many in a row both grew and repeated
	strong  uint16 // of the last windows, how many in a row moreover had one payload or nested URLs
	// The current window:
	taken  uint32 // URLs that were fetched
	found  uint32 // URLs that were delayed meanwhile
	nested uint32 // of the fetched URLs, those that repeat their own parts: see nests
	read   uint32 // pages
	fresh  uint32 // of these, those that brought something
	same   uint32 // and those with the payload of the page before

	payload uint32 // of the last page
}

// windowOf is how many fetched URLs a window has.
func windowOf(floor uint32) uint32 { return max(floor/windowsPerFloor, windowMin) }

// take counts a URL that is fetched now.
func (d *delayed) take(floor uint32, nested bool) {
	d.fetched++
	if nested {
		d.nested++
	}
	if d.taken++; d.taken < windowOf(floor) {
		return
	}
	switch grows, repeats := d.mostly(d.found), d.readEnough() && uint64(d.fresh)*repeatsOf < uint64(d.read); {
	case !grows || !repeats:
		d.streak, d.strong = 0, 0
	case uint64(d.read-min(d.same, d.read))*repeatsOf < uint64(d.read) || d.mostly(d.nested):
		d.streak, d.strong = min(d.streak+1, 1<<15), min(d.strong+1, 1<<15)
	default:
		d.streak, d.strong = min(d.streak+1, 1<<15), 0
	}
	d.taken, d.found, d.nested, d.read, d.fresh, d.same = 0, 0, 0, 0, 0, 0
}

// mostly says that there are three of something for every four URLs that the window has fetched.
func (d *delayed) mostly(n uint32) bool { return uint64(n)*growsOf >= uint64(d.taken)*growsBy }

func (d *delayed) readEnough() bool { return uint64(d.read)*readOf >= uint64(d.taken) }

// endless says that at least so many floors were fetched, that windows of half a floor in a row gave evidence, and that this evidence is
// strong or the part has led to more URLs than a part with an end is likely to have.
func (d *delayed) endless(times, floor uint32) bool {
	half := func(windows uint16) bool { return uint64(windows)*uint64(windowOf(floor))*2 >= uint64(floor) }
	return uint64(d.fetched) >= uint64(times)*uint64(floor) && half(d.streak) &&
		(half(d.strong) || uint64(d.led) >= ledOf*uint64(times)*uint64(floor))
}

// Evidence is why a URL is left out.
type Evidence struct {
	// Level says which part of the site it is about, seen from the URL: 0 the whole site, 1 to 3 that many folders, or the file of a query
	// and then the set of its parameters.
	Level   int `json:"level"`
	Fetched int `json:"fetched"` // delayed URLs of this part that were fetched
	Led     int `json:"led"`     // URLs of this part that were found since; 0 in entries of the list that do not say it
	Streak  int `json:"streak"`  // how many of these, at the end, brought nothing new and led to as many new URLs
}

// found counts a URL that is delayed.
func (g *group) found(c *chain) {
	for i := range c.n {
		if e := g.find(c.keys[i]); e != nil && e.late.fetched > 0 { // what waits from before tells nothing
			e.late.found++
			e.late.led = min(e.late.led+1, countMax)
		}
	}
}

// take says whether a delayed URL is fetched, and counts it then; if not, why not.
func (g *group) take(c *chain, nested bool, floor uint32) (Evidence, bool) {
	if e, _ := g.judge(c); e != nil && e.poor() {
		if why, endless := g.endless(c, floor); endless {
			return why, false
		}
	}
	for i := range c.n {
		if e := g.find(c.keys[i]); e != nil {
			e.late.take(floor, nested)
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
			d := &e.late
			return Evidence{Level: i, Fetched: int(d.fetched), Led: int(d.led), Streak: int(d.streak) * int(windowOf(floor))}, true
		}
		times = aboveOf
	}
	return Evidence{}, false
}

// weighed counts a page of a delayed URL.
func (g *group) weighed(c *chain, fresh bool, payload uint32) {
	for i := range c.n {
		if e := g.find(c.keys[i]); e != nil {
			e.late.read++
			if fresh {
				e.late.fresh++
			}
			if payload == e.late.payload {
				e.late.same++
			}
			e.late.payload = payload
		}
	}
}
