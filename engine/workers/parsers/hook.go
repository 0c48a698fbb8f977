package parsers

import (
	"bytes"
	"context"
	"strings"

	"orbweaver/engine/net/fetch"
	"orbweaver/engine/page/hook"
	"orbweaver/engine/page/parse"
	"orbweaver/engine/state/attempt"
	"orbweaver/engine/store/journal"
	"orbweaver/internal/mediatype"
	"orbweaver/internal/urlx"
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
		URL: string(a.URL), Status: content.Status, Type: mediatype.Essence(typeOf(content, plan.isUnchanged, a)),
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

// askAboutLinks asks the program of --hook link about the links of a page that was searched, removes those that it
// drops, and takes its scores. It reports false if the crawl was aborted meanwhile.
func (w *Worker) askAboutLinks(ctx context.Context, a *attempt.Attempt) bool {
	finder := w.links.finder
	if !finder.O.Judged || !w.links.isOpen || len(finder.Links) == 0 {
		return true
	}
	var found []hook.Link
	finder.EachWithText(func(kind parse.Kind, url, text []byte) {
		found = append(found, hook.Link{URL: string(url), Kind: kind.String(), Text: string(text)})
	})
	page := hook.LinkQuestion{
		URL: string(a.URL), Depth: a.Depth, Type: mediatype.Essence(finder.Type.Media), Title: string(finder.Title),
	}
	verdict, err := w.crawl.Sources.Judge.Judge(ctx, page, finder.Body, found)
	finder.Rescore(verdict.Scores)
	finder.Drop(verdict.Drop)
	return err == nil
}

// askAboutHost tells the program of --hook host of a page, asks it about the host if it is time, and keeps the rule of
// its answer for the journal entry. It reports false if the crawl was aborted meanwhile.
func (w *Worker) askAboutHost(ctx context.Context, content *fetch.Page, a *attempt.Attempt, plan *recordPlan) bool {
	w.rule = w.rule[:0]
	hosts := w.crawl.Hosts.Program
	if !hosts.IsOn() || !plan.isPage || a.OfSite == 0 {
		return true
	}
	finder := w.links.finder
	page := hook.SitePage{
		URL: a.URL, Title: finder.Title, Body: finder.Body, Number: a.OfSite, Bytes: content.PayloadLen,
		IsRevisit: plan.isRevisit || plan.isUnchanged,
	}
	media := mediatype.Essence(typeOf(content, plan.isUnchanged, a))
	page.IsText = strings.HasPrefix(media, "text/") || strings.HasPrefix(media, "application/xhtml")
	own := urlx.Host(a.URL)
	err := journal.EachLink(finder.Links, func(_ parse.Kind, url []byte) {
		if page.Links++; !bytes.Equal(urlx.Host(url), own) {
			page.Outlinks++
		}
	})
	if err != nil {
		panic("BUG: parsers: the list of links that was just made cannot be read: " + err.Error())
	}
	rule, err := hosts.AskAfter(ctx, &page)
	w.rule = append(w.rule, rule...)
	return err == nil
}
