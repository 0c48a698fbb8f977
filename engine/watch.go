package engine

import (
	"orbweaver/engine/novelty"
	"orbweaver/engine/urlx"
)

// watch joins the engine to engine/novelty: what is asked for is what still brings something new. A nil watch allows all.
type watch struct{ *novelty.Watch }

// The kinds of groups.
const (
	groupSite    = 's'
	groupDomain  = 'd'
	groupAddress = 'a'
)

// newWatch gives nil for less than no memory.
func newWatch(memory int64, seed uint64) *watch {
	if memory < 0 {
		return nil
	}
	return &watch{novelty.NewWatch(novelty.Options{MemoryBytes: memory, Seed: seed})}
}

// allows says whether a URL is to be asked for. What the operator gave always is, and so is what was asked for before.
func (w *watch) allows(url []byte, it *Item) bool {
	if w == nil || it.Seed || it.Try > 0 {
		return true
	}
	site, path := urlx.Split(url)
	return w.Allows(w.GroupOf(groupSite, site), path)
}

// weigh counts a page.
func (w *watch) weigh(url []byte, p novelty.Page, words *novelty.Words) {
	if w == nil {
		return
	}
	site, path := urlx.Split(url)
	w.Weigh(w.GroupOf(groupSite, site), path, p, words)
}
