package engine

import (
	"orbweaver/engine/filter"
	"orbweaver/engine/novelty"
	"orbweaver/engine/urlx"
)

// watch joins the engine to engine/novelty: what is asked for is what still brings something new. A nil watch allows all.
type watch struct{ *novelty.Watch }

// The kinds of groups.
const (
	groupSite   = 's'
	groupDomain = 'd' // whose pages are the first pages of its sites
)

// newWatch gives nil for less than no memory.
func newWatch(memory int64, seed uint64) *watch {
	if memory < 0 {
		return nil
	}
	return &watch{novelty.NewWatch(novelty.Options{MemoryBytes: memory, Seed: seed})}
}

// allows says whether a URL is to be asked for, which may be the first page of its site. What the operator gave always is, and so is
// what was asked for before.
func (w *watch) allows(url []byte, it *Item, first bool) bool {
	if w == nil || it.Seed || it.Try > 0 {
		return true
	}
	site, path := urlx.Split(url)
	if first && !w.Allows(w.domain(site), nil) {
		return false
	}
	return w.Allows(w.GroupOf(groupSite, site), path)
}

// wantsSites says whether any more sites of a registrable domain are wanted.
func (w *watch) wantsSites(site []byte) bool { return w == nil || !w.Spent(w.domain(site)) }

func (w *watch) domain(site []byte) novelty.Group {
	return w.GroupOf(groupDomain, filter.Domain(urlx.Host(site)))
}

// weigh counts a page, the first of its site or another.
func (w *watch) weigh(url []byte, first bool, p novelty.Page, words *novelty.Words) {
	if w == nil {
		return
	}
	site, path := urlx.Split(url)
	w.Weigh(w.GroupOf(groupSite, site), path, p, words)
	if first {
		w.Weigh(w.domain(site), nil, p, words)
	}
}
