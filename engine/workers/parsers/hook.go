package parsers

import (
	"context"

	"orbweaver/engine/net/fetch"
	"orbweaver/engine/page/hook"
	"orbweaver/engine/state/attempt"
	"orbweaver/warc"
	"orbweaver/warc/header"
)

// askHook asks the program of --hook about a page that will be stored, adds its links to those of the page, and keeps
// its counts for the journal entry. It reports false if the crawl was aborted meanwhile.
func (w *Worker) askHook(ctx context.Context, p, content *fetch.Page, a *attempt.Attempt, plan *recordPlan) bool {
	w.hooked = nil
	if !w.crawl.Sources.Hook.IsOn() || !plan.isPage || !plan.isStored || content.PayloadLen == 0 {
		return true
	}
	finder := w.links.finder
	body := finder.Body
	if body == nil {
		body, _ = content.Decoded(finder.Decoder)
	}
	question := hook.Page{
		URL: string(a.URL), Status: content.Status, Type: string(typeOf(content, plan.isUnchanged, a)),
		Title: string(finder.Title), Depth: a.Depth, Revisit: plan.isRevisit || plan.isUnchanged,
		Truncated: !content.IsSearchedWhole() || content.Truncation != warc.TruncatedNone,
	}
	if content.Complete {
		question.Digest = string(header.AppendDigest(nil, &content.Digest))
	}
	answer, err := w.crawl.Sources.Hook.Ask(ctx, &question, body)
	w.hooked = answer.Counts
	if err != nil || finder.IsForbidden || finder.Forbids(p) || finder.Forbids(content) {
		return err == nil
	}
	for _, ref := range answer.Links {
		finder.AddHooked(a.URL, []byte(ref))
	}
	return true
}
