package traps

import (
	"sync"
	"sync/atomic"

	"orbweaver/engine/page/filter"
	"orbweaver/engine/state/queued"
	"orbweaver/engine/traps/novelty"
	"orbweaver/internal/urlx"
)

// Detector decides for single URLs and sites what engine/traps/novelty decides for groups of pages. Two kinds of groups
// exist: a site with its pages, and a registrable domain with the first pages of its sites. Safe for concurrent use.
type Detector struct {
	enabled atomic.Bool
	repeats atomic.Int64 // Options.MaxPathRepeats
	pages   *novelty.Detector

	mu   sync.Mutex
	skip SkipSettings // guarded by mu: see SkipSettings
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
func (t *Detector) SkipSettings() SkipSettings {
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

// Options bound what endless or repetitive parts of sites cost.
type Options struct {
	MaxPathRepeats int         `help:"Skip URLs whose path repeats the same one to four folders more than N times in a row; 0 for no limit. --novelty already bounds endless paths; set it if even their first pages are unwanted. 'orbweaver skipped' lists what is skipped." default:"0" placeholder:"N"`
	Novelty        NoveltyMode `type:"word" help:"on: URLs of a part of a site whose pages repeat known text wait until the site has nothing else. They are skipped only above --trap-floor. off: no URL waits or is skipped, and a crawl of an endless site does not end." oneof:"on,off" default:"on" placeholder:"MODE"`
	TrapFloor      int         `help:"Delayed URLs of one part of a site that are fetched before any is skipped. Then a URL is skipped only if the part repeats itself and keeps growing; ten times as many if its payloads differ. Raise it if 'orbweaver skipped' lists pages that you want, and start the crawl again: they are queued again. Lower it if traps cost too much." default:"10000" least:"1" most:"1073741824" placeholder:"N"`
	NoveltyMemory  int64       `help:"Memory of known text, for --novelty. Raise it if novelty_evicted in report.json grows." default:"32MiB" type:"size" least:"1" placeholder:"SIZE" group:"memory"`
}

// NoveltyMode says whether repetitive parts of sites are delayed.
type NoveltyMode uint8

// The modes, in the order of the flag's words.
const (
	NoveltyOn NoveltyMode = iota
	NoveltyOff
)

// SkipSettings are the settings on which the list of skipped URLs depends.
func (o *Options) SkipSettings() SkipSettings {
	s := SkipSettings{Floor: o.TrapFloor, Repeats: o.MaxPathRepeats}
	if o.Novelty == NoveltyOff {
		s.Floor = 0
	}
	return s
}

// State is what the crawl knows of the parts of a site that contain a URL. A part is missing as long as too few of its
// pages were fetched to judge it.
type State struct {
	Part   *novelty.Part `json:"part,omitempty"`   // of the site: decides about the URL
	Domain *novelty.Part `json:"domain,omitempty"` // the first pages of all sites of the domain: decides about new sites
}

// Explain returns what the crawl knows of the parts that contain a URL. It changes nothing.
func (t *Detector) Explain(url []byte) (s State) {
	site, path := urlx.Split(url)
	if p, ok := t.pages.Explain(t.GroupOf(site), path); ok {
		s.Part = &p
	}
	if p, ok := t.pages.Explain(t.domainOf(site), nil); ok {
		s.Domain = &p
	}
	return s
}

// Words says in words what follows for the next URLs of a part.
func Words(p *novelty.Part) string {
	switch {
	case p == nil:
		return "too few pages to judge"
	case p.Endless:
		return "likely trap: its URLs are skipped"
	case p.Poor && p.Exempt:
		return "little new: its URLs are delayed, except those of new kinds, as this one"
	case p.Poor:
		return "little new: its URLs wait behind all others of the site"
	default:
		return "enough new: its URLs are not delayed"
	}
}
