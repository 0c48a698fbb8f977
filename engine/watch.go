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

// newWatch gives nil for less than no memory. A state of another version is as good as none.
func newWatch(memory int64, seed uint64, state []byte) *watch {
	if memory < 0 {
		return nil
	}
	o := novelty.Options{MemoryBytes: memory, Seed: seed}
	w := novelty.NewWatch(o)
	if w.Load(state) != nil {
		w = novelty.NewWatch(o)
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

// silent are the parameters that say nothing in URLs of the site of a URL; nil if none is known.
func (w *watch) silent(url []byte) *urlx.Params {
	if w == nil {
		return nil
	}
	site, _ := urlx.Split(url)
	return w.Silent(w.GroupOf(groupSite, site))
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
