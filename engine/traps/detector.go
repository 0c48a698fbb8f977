package traps

import (
	"orbweaver/engine/filter"
	"orbweaver/engine/novelty"
	"orbweaver/engine/queued"
	"orbweaver/internal/urlx"
)

// Detector decides for single URLs and sites what engine/novelty decides for groups of pages. Two kinds of groups
// exist: a site with its pages, and a registrable domain with the first pages of its sites. Safe for concurrent use.
type Detector struct {
	enabled bool
	pages   *novelty.Detector // a small one if disabled
}

// The kinds of groups.
const (
	siteGroup   = 's'
	domainGroup = 'd'
)

// New returns a Detector with the saved state of an earlier run; nil for none. A state of another version is ignored:
// what it contained is learnt again. If memory is less than zero, the Detector is disabled: nothing is a trap.
func New(memory int64, floor int, seed uint64, state []byte) *Detector {
	o := novelty.Options{MemoryBytes: max(memory, 0), Seed: seed, Floor: floor}
	if memory < 0 {
		o.MemoryBytes = 1
		return &Detector{pages: novelty.NewDetector(o)}
	}
	t := &Detector{enabled: true, pages: novelty.NewDetector(o)}
	if t.pages.Load(state) != nil {
		t.pages = novelty.NewDetector(o)
	}
	return t
}

// Enabled reports whether the crawl looks for traps.
func (t *Detector) Enabled() bool { return t.enabled }

// Stats returns the counters for the report.
func (t *Detector) Stats() novelty.Stats { return t.pages.Stats() }

// State returns the encoded state for a checkpoint; nil if disabled.
func (t *Detector) State() []byte {
	if !t.enabled {
		return nil
	}
	return t.pages.AppendState(nil)
}

// GroupOf returns the group of a site.
func (t *Detector) GroupOf(site []byte) novelty.Group {
	if !t.enabled {
		return 0
	}
	return t.pages.GroupOf(siteGroup, site)
}

func (t *Detector) domainOf(site []byte) novelty.Group {
	return t.pages.GroupOf(domainGroup, filter.Domain(urlx.Host(site)))
}

// MayDelay reports whether a URL may be delayed: it is not a seed, not a robots.txt and was not tried before.
func MayDelay(it *queued.URL) bool {
	return !it.Seed && !it.Delayed && it.RobotsOf == nil && it.Tries == 0
}

// RepeatsFolders reports whether the path of a URL repeats the same folders more than most times in a row. It is false
// if most is 0, and for seeds.
func RepeatsFolders(url []byte, it *queued.URL, most int) bool {
	return !it.Seed && urlx.Repeats(url, most)
}

// ShouldDelay reports whether a URL, given by its path with query, waits until its site has no other URLs.
func (t *Detector) ShouldDelay(group novelty.Group, path []byte, it *queued.URL) bool {
	return t.enabled && MayDelay(it) && t.pages.ShouldDelay(group, path)
}

// NoteDelayed counts a delayed URL of a site.
func (t *Detector) NoteDelayed(group novelty.Group, path []byte) {
	if t.enabled {
		t.pages.NoteDelayed(group, path)
	}
}

// ShortURL returns a URL without the parameters that do not change the pages of its site, as far as known. It is nil if
// the URL has none of them. The target of a redirect is not shortened, since the site may insist on its parameters.
func (t *Detector) ShortURL(group novelty.Group, site, path []byte, it *queued.URL) []byte {
	if !t.enabled || !MayDelay(it) || it.Redirects > 0 {
		return nil
	}
	params := t.pages.IrrelevantParams(group)
	if params == nil {
		return nil
	}
	url := append(append(make([]byte, 0, len(site)+len(path)), site...), path...)
	if short := params.Strip(url); len(short) < len(site)+len(path) {
		return short
	}
	return nil
}

// ReleaseDelayed reports whether a delayed URL is fetched now. If not, it is skipped, and Evidence is the reason.
func (t *Detector) ReleaseDelayed(group novelty.Group, path []byte) (novelty.Evidence, bool) {
	if !t.enabled {
		return novelty.Evidence{}, true
	}
	return t.pages.ReleaseDelayed(group, path)
}

// AdmitSite decides whether a new site of a domain is admitted, delayed or skipped. waited: it was delayed before.
func (t *Detector) AdmitSite(site []byte, waited bool) (novelty.MemberDecision, novelty.Evidence) {
	if !t.enabled {
		return novelty.MemberAccepted, novelty.Evidence{}
	}
	return t.pages.JoinMember(t.domainOf(site), waited)
}

// NotePage counts a page. The first page of a site also counts for its domain.
func (t *Detector) NotePage(url []byte, first bool, p novelty.Page, words *novelty.Words) {
	if !t.enabled {
		return
	}
	site, path := urlx.Split(url)
	t.pages.NotePage(t.GroupOf(site), path, p, words)
	if first {
		p.WasDelayed = true
		t.pages.NotePage(t.domainOf(site), nil, p, words)
	}
}
