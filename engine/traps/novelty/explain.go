package novelty

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
