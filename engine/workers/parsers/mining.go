package parsers

import (
	"bytes"

	"orbweaver/engine/frontier/links"
	"orbweaver/engine/net/fetch"
	"orbweaver/engine/page/parse"
	"orbweaver/engine/state/attempt"
	"orbweaver/engine/state/queued"
	"orbweaver/engine/store/journal"
	"orbweaver/internal/outcome"
)

// Miner makes URLs that no page may link to: mining.Miner.
type Miner interface {
	IsOn() bool
	Mine(page []byte, eachLink func(func(url []byte)), isWanted func(url []byte) bool, offer func(url []byte))
	NoteFind(url []byte, by int)
}

// mine adds the URLs that are mined of a page to its links. A mined page counts as a find as long as its text is not
// compared: noteNovelty takes that back if it says nothing new, and needs no file that is not known.
func (w *Worker) mine(content *fetch.Page, a *attempt.Attempt, plan *recordPlan) {
	w.isFind, w.isShown = false, false
	miner := w.crawl.Sources.Miner
	isNew := plan.isPage && (!plan.isRevisit || w.crawl.Previous.HasCaptures()) && !w.near.isNear
	if !miner.IsOn() || !isNew || a.WillRetry || !outcome.IsPageStatus(content.Status) {
		return
	}
	if w.isFind = a.Mined; w.isFind {
		miner.NoteFind(a.URL, 1)
		w.isShown = w.hasNewRequisite(a)
	}
	if w.links.isSearched && !w.links.finder.Index && !w.links.finder.IsForbidden && a.Embeds == 0 {
		item := links.LeadsTo(&links.Lead{Outcome: a.Outcome, Depth: a.Depth})
		item.Mined = true
		miner.Mine(a.URL, w.links.EachAddress, func(url []byte) bool { return w.admission.Wants(url, item) },
			w.links.finder.AddMined)
	}
}

// hasNewRequisite reports whether the page needs a file that is not known, such as the next picture of a gallery. One
// with a query may be a counter, which is always new.
func (w *Worker) hasNewRequisite(a *attempt.Attempt) (found bool) {
	item := queued.URL{Depth: a.Depth, Embeds: 1}
	err := journal.EachLink(w.links.finder.Links, func(kind parse.Kind, url []byte) {
		found = found || kind.IsRequisite() && bytes.IndexByte(url, '?') < 0 && w.admission.Wants(url, item)
	})
	return found && err == nil
}
