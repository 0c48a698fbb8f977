package parsers

import (
	"orbweaver/engine/net/fetch"
	"orbweaver/engine/page/parse"
	"orbweaver/engine/state/attempt"
	"orbweaver/engine/store/journal"
)

// SeenPage is a page for a program that runs the crawl as a library.
type SeenPage struct {
	URL    string // normal form
	Status int
	Head   fetch.Head // as received: Head.Value("content-type") is one field of it
	Body   []byte     // without its content encodings, up to what is searched for links
	Links  []string
	Title  string
	Depth  int // links from a seed
}

// show gives the page to Crawl.OnPage.
func (w *Worker) show(content *fetch.Page, a *attempt.Attempt, plan *recordPlan) {
	if w.crawl.OnPage == nil || !plan.isPage {
		return
	}
	finder := w.links.finder
	p := SeenPage{
		URL: string(a.URL), Status: content.Status, Head: content.Head(), Body: finder.Body,
		Title: string(finder.Title), Depth: a.Depth,
	}
	if p.Body == nil && content.PayloadLen > 0 {
		p.Body, _ = content.Decoded(finder.Decoder)
	}
	err := journal.EachLink(finder.Links, func(_ parse.Kind, url []byte) { p.Links = append(p.Links, string(url)) })
	if err != nil {
		panic("BUG: parsers: the list of links that was just made cannot be read: " + err.Error())
	}
	w.crawl.OnPage(&p)
}
