package engine

import (
	"orbweaver/engine/filter"
	"orbweaver/engine/novelty"
	"orbweaver/engine/queued"
	"orbweaver/engine/urlx"
)

// watch joins the engine to engine/novelty: which URLs wait until their site has nothing else, and which of these
// belong to a trap. A nil watch delays nothing.
type watch struct{ *novelty.Detector }

// The kinds of groups.
const (
	groupSite   = 's'
	groupDomain = 'd' // whose pages are the first pages of its sites
)

// newWatch returns nil if memory is less than zero. A state of another version is ignored: what it said is learnt
// again.
func newWatch(memory int64, floor int, seed uint64, state []byte) *watch {
	if memory < 0 {
		return nil
	}
	o := novelty.Options{MemoryBytes: memory, Seed: seed, Floor: floor}
	w := novelty.NewDetector(o)
	if w.Load(state) != nil {
		w = novelty.NewDetector(o)
	}
	return &watch{w}
}

// state is for the manifest.
func (w *watch) state() []byte {
	if w == nil {
		return nil
	}
	return w.AppendState(nil)
}

// site is the group of a site.
func (w *watch) site(key []byte) novelty.Group {
	if w == nil {
		return 0
	}
	return w.GroupOf(groupSite, key)
}

func (w *watch) domain(site []byte) novelty.Group {
	return w.GroupOf(groupDomain, filter.Domain(urlx.Host(site)))
}

// mayDelay says that a URL may be delayed: no seed, no robots.txt, nothing that was tried before.
func mayDelay(it *queued.URL) bool {
	return !it.Seed && !it.Delayed && it.RobotsOf == nil && it.Tries == 0
}

// delays says whether a URL of a site, path with query, waits until its site has nothing else.
func (w *watch) delays(site novelty.Group, path []byte, it *queued.URL) bool {
	return w != nil && mayDelay(it) && w.ShouldDelay(site, path)
}

// shorter returns a URL without the parameters that its site is believed not to need; nil if it has none of them. A
// redirect's target is left alone, since the site may insist.
func (w *watch) shorter(site novelty.Group, key, path []byte, it *queued.URL) []byte {
	if w == nil || !mayDelay(it) || it.Redirects > 0 {
		return nil
	}
	silent := w.IrrelevantParams(site)
	if silent == nil {
		return nil
	}
	url := append(append(make([]byte, 0, len(key)+len(path)), key...), path...)
	if short := silent.Strip(url); len(short) < len(key)+len(path) {
		return short
	}
	return nil
}

// takes says whether a URL that has waited is fetched now; if not, why not.
func (w *watch) takes(site novelty.Group, path []byte) (novelty.Evidence, bool) {
	if w == nil {
		return novelty.Evidence{}, true
	}
	return w.ReleaseDelayed(site, path)
}

// joins says whether a site that is not known yet may become known, perhaps since it has waited for its turn.
func (w *watch) joins(site []byte, waited bool) (novelty.MemberDecision, novelty.Evidence) {
	if w == nil {
		return novelty.MemberAccepted, novelty.Evidence{}
	}
	return w.JoinMember(w.domain(site), waited)
}

// weigh counts a page, the first of its site or another.
func (w *watch) weigh(url []byte, first bool, p novelty.Page, words *novelty.Words) {
	if w == nil {
		return
	}
	site, path := urlx.Split(url)
	w.NotePage(w.GroupOf(groupSite, site), path, p, words)
	if first {
		p.WasDelayed = true
		w.NotePage(w.domain(site), nil, p, words)
	}
}
