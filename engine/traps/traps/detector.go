package traps

import (
	"sync"
	"sync/atomic"

	"orbweaver/engine/page/filter"
	"orbweaver/engine/state/queued"
	"orbweaver/engine/traps/novelty"
	"orbweaver/engine/traps/skipped"
	"orbweaver/internal/urlx"
)

// Detector decides for single URLs and sites what engine/traps/novelty decides for groups of pages. Two kinds of groups
// exist: a site with its pages, and a registrable domain with the first pages of its sites. Safe for concurrent use.
type Detector struct {
	enabled atomic.Bool
	repeats atomic.Int64 // Options.MaxPathRepeats
	pages   *novelty.Detector

	mu   sync.Mutex
	skip skipped.Settings // guarded by mu: see SkipSettings
}

// The kinds of groups.
const (
	siteGroup   = 's'
	domainGroup = 'd'
)

// New returns a Detector with the saved state of an earlier run; nil for none. A state of another version is ignored:
// what it contained is learnt again. If the options say so, the Detector is disabled: nothing is a trap.
func New(options *Options, seed uint64, state []byte) *Detector {
	o := novelty.Options{MemoryBytes: options.NoveltyMemory, Seed: seed, Floor: options.TrapFloor}
	t := &Detector{pages: novelty.NewDetector(o), skip: options.SkipSettings()}
	t.enabled.Store(options.Novelty == NoveltyOn)
	t.repeats.Store(int64(options.MaxPathRepeats))
	if t.Enabled() && t.pages.Load(state) != nil {
		t.pages = novelty.NewDetector(o)
	}
	return t
}

// Change changes the options while the crawl runs, except the memory.
func (t *Detector) Change(options *Options) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if now := options.SkipSettings(); !now.LeavesLess(t.skip) {
		t.skip = now
	}
	t.pages.SetFloor(options.TrapFloor)
	t.enabled.Store(options.Novelty == NoveltyOn)
	t.repeats.Store(int64(options.MaxPathRepeats))
}

// SkipSettings are the settings under which URLs were skipped. If the next run skips less, it queues them again.
func (t *Detector) SkipSettings() skipped.Settings {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.skip
}

// Enabled reports whether the crawl looks for traps.
func (t *Detector) Enabled() bool { return t.enabled.Load() }

// RepeatsFolders is the function RepeatsFolders with the limit of the options.
func (t *Detector) RepeatsFolders(url []byte, it *queued.URL) bool {
	return RepeatsFolders(url, it, int(t.repeats.Load()))
}

// Stats returns the counters for the report.
func (t *Detector) Stats() novelty.Stats { return t.pages.Stats() }

// State returns the encoded state for a checkpoint; nil if disabled.
func (t *Detector) State() []byte {
	if !t.Enabled() {
		return nil
	}
	return t.pages.AppendState(nil)
}

// GroupOf returns the group of a site.
func (t *Detector) GroupOf(site []byte) novelty.Group {
	if !t.Enabled() {
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
	return t.Enabled() && MayDelay(it) && t.pages.ShouldDelay(group, path)
}

// NoteDelayed counts a delayed URL of a site.
func (t *Detector) NoteDelayed(group novelty.Group, path []byte) {
	if t.Enabled() {
		t.pages.NoteDelayed(group, path)
	}
}

// ShortURL returns a URL without the parameters that do not change the pages of its site, as far as known. It is nil if
// the URL has none of them. The target of a redirect is not shortened, since the site may insist on its parameters.
func (t *Detector) ShortURL(group novelty.Group, site, path []byte, it *queued.URL) []byte {
	if !t.Enabled() || !MayDelay(it) || it.Redirects > 0 {
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
	if !t.Enabled() {
		return novelty.Evidence{}, true
	}
	return t.pages.ReleaseDelayed(group, path)
}

// AdmitSite decides whether a new site of a domain is admitted, delayed or skipped. waited: it was delayed before.
func (t *Detector) AdmitSite(site []byte, waited bool) (novelty.MemberDecision, novelty.Evidence) {
	if !t.Enabled() {
		return novelty.MemberAccepted, novelty.Evidence{}
	}
	return t.pages.JoinMember(t.domainOf(site), waited)
}

// NoteNoPage counts a redirect or a failure.
func (t *Detector) NoteNoPage(url []byte, id uint32, wasDelayed bool) {
	if t.Enabled() {
		site, path := urlx.Split(url)
		t.pages.NoteNoPage(t.GroupOf(site), path, id, wasDelayed)
	}
}

// NotePage counts a page. The first page of a site also counts for its domain. isNew is that of novelty.
func (t *Detector) NotePage(url []byte, first bool, p novelty.Page, words *novelty.Words) (isNew bool) {
	if !t.Enabled() {
		return !p.IsDuplicate
	}
	site, path := urlx.Split(url)
	p.URL = url
	isNew = t.pages.NotePage(t.GroupOf(site), path, p, words)
	if first {
		p.WasDelayed = true
		t.pages.NotePage(t.domainOf(site), nil, p, words)
	}
	return isNew
}
