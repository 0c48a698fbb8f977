package engine

import (
	"time"

	"github.com/zeebo/xxh3"

	"orbweaver/engine/filter"
	"orbweaver/engine/outcome"
	"orbweaver/engine/queued"
	"orbweaver/engine/site"
	"orbweaver/engine/urlx"
	"orbweaver/engine/visit"
)

// Refusal is a URL that got its outcome without a request.
type refusal struct {
	outcome outcome.Outcome
	fp      xxh3.Uint128 // of a URL that the journal of an earlier run named as done; zero for others
	passed  *queued.URL  // what goes to another agent, with its whole URL; nil for nothing
	holder  string       // the line of the agent that has the page; empty if nobody has
}

// handOver gives an item of a host that is another agent's by now to that one, unless it was done before a kill.
func (w *fetchWorker) handOver(site []byte, it *queued.URL) {
	passed := *it
	passed.Rest = append(append([]byte(nil), site...), it.Rest...)
	if it.RobotsOf != nil { // which is no URL of ours
		w.refused = append(w.refused, refusal{passed: &passed})
		return
	}
	if fp, o := w.finished.OutcomeOf(w.hashSeed, passed.Rest); o != outcome.None {
		w.refused = append(w.refused, refusal{outcome: o, fp: fp})
		return
	}
	w.refused = append(w.refused, refusal{outcome: outcome.HandedOver, passed: &passed})
}

// asksAgain gives the Visit back if somebody who may have the item's page is to be asked again, and says whether that
// is so.
func (w *fetchWorker) asksAgain(r *visit.Result, again time.Time) bool {
	if again.IsZero() {
		return false
	}
	r.Release.SiteDue = again
	w.giveBack(r, nil)
	return true
}

// recovered refuses an item whose page is there already, here or at the agent that holders says, and says whether it
// is.
func (w *fetchWorker) recovered(site []byte, it *queued.URL, holder string) bool {
	if holder == "" {
		return false
	}
	passed := *it
	passed.Rest = append(append([]byte(nil), site...), it.Rest...)
	if _, o := w.finished.OutcomeOf(w.hashSeed, passed.Rest); o != outcome.None {
		return false
	}
	w.refused = append(w.refused, refusal{outcome: outcome.Recovered, passed: &passed, holder: holder})
	return true
}

// filtered refuses an item that today's lists or the fetch filter refuse: nobody is asked for it, and not for its
// robots.txt either. What an earlier run did keeps the outcome that it had.
func (w *fetchWorker) filtered(site []byte, it *queued.URL) bool {
	f := w.live.Fetch.Load()
	if f == nil && w.lists == nil {
		return false
	}
	w.url = append(append(w.url[:0], site...), it.Rest...)
	if _, o := w.finished.OutcomeOf(w.hashSeed, w.url); o != outcome.None {
		return false
	}
	if w.passesFilters(f, it) {
		return false
	}
	w.log.Refusal(w.url, it, outcome.Filtered, w.id)
	w.refused = append(w.refused, refusal{outcome: outcome.Filtered})
	return true
}

// passesFilters says that neither today's lists nor the fetch filter (nil for none) refuse the URL in w.url.
func (w *fetchWorker) passesFilters(f *filter.Fetch, it *queued.URL) bool {
	return (w.lists == nil || w.lists.Refuses(w.url) == filter.NoList) &&
		(f == nil || f.Allows(w.url, filter.Way{Depth: it.Depth, Hops: it.Redirects}, it.Tries, it.Via))
}

// refuse says why the URL in w.url is not to be asked for; its outcome is None if it is.
func (w *fetchWorker) refuse(site *site.State, it *queued.URL) refusal {
	if fp, o := w.finished.OutcomeOf(w.hashSeed, w.url); o != outcome.None {
		if o.Class() == outcome.ClassAnswer && o != outcome.Redirect && o != outcome.ClientError {
			site.Stored++
			w.quotas.AddPage(w.url)
		}
		return refusal{outcome: o, fp: fp}
	}
	_, path := urlx.Split(w.url)
	var o outcome.Outcome
	allowed := false
	allowed, w.rule = site.Rules.AppendAllowed(w.rule[:0], path)
	limit := w.maxPerHost
	if w.terms.HasCap {
		limit = w.terms.MaxPerHost
	}
	switch {
	case !allowed:
		o = outcome.RobotsDenied
	case limit > 0 && int(site.Stored) >= limit:
		o = outcome.QuotaHost
	case w.quotas.PagesReached(w.url):
		o = outcome.QuotaDomain
	default:
		return refusal{}
	}
	w.log.Refusal(w.url, it, o, w.id)
	return refusal{outcome: o}
}
