package admission

import (
	"fmt"

	"orbweaver/internal/urlx"
)

// Options decide which references in a page become URLs of the crawl.
type Options struct {
	NoFollow bool `name:"nofollow" help:"Ignore links that rel=nofollow, meta robots or X-Robots-Tag mark as nofollow or none, for all robots or for orbweaver. noindex has no effect: it is about search results."`
	Forms    bool `help:"Follow the action of forms that only read (method GET)."`
	Sitemaps bool `help:"Follow the sitemaps that robots.txt files name, also compressed ones and lists of URLs. They are read even if they are out of scope, as on another host. The URLs in them must be in the scope." basic:""`

	Requisites Requisites `type:"word" help:"Page requisites (stylesheets, images, scripts, frames, media of a page): all fetches them from any host, before more pages of their site; same-scope only within the scope; off treats them as other links." oneof:"all,same-scope,off" default:"all" placeholder:"WHICH" basic:""`

	MaxRequisites int `name:"max-requisites-per-page" help:"Requisites of one page, frame or style sheet; 0 for no limit. Further ones are skipped, and 'orbweaver skipped' lists them. One site may also have twice as many, and 100 for each stored page of the crawl. Raise it for pages with more images." default:"5000" zero:"-1" most:"1048576" placeholder:"N"`

	Speculative SpeculativeMode `type:"word" help:"on: follow strings in scripts and in JSON that look like URLs, within the scope. off: do not; use it if a site answers many of them with 404." oneof:"on,off" default:"on" placeholder:"MODE"`
	PDFLinks    PDFLinksMode    `name:"pdf-links" type:"word" help:"on: follow the links of PDF documents. off: do not." oneof:"on,off" default:"on" placeholder:"MODE"`
	MaxDepth    int             `help:"Longest chain of links from a seed; -1 for no limit. Lower it to stay near the seeds." default:"-1" zero:"meant" least:"-1" placeholder:"N" basic:""`
	MaxURL      int             `name:"max-url" type:"size" help:"Length of the longest URL. Longer URLs are dropped and counted. Raise it for sites with long queries." default:"2KiB" least:"16" most:"8192" placeholder:"SIZE"`
	StripParams []string        `help:"Parameters to remove from links, in the query and after semicolons: names, prefixes such as utm_*, or the lists 'session' and 'tracking'. Use it if one page has many URLs. A change holds for links that are found from then on: known URLs keep their form." placeholder:"NAME"`

	NormalForm urlx.Form `type:"word" help:"Form in which links are taken. whatwg: as browsers write URLs. sorted: arguments of the query are sorted, and empty ones left out. archive: also without session identifiers and names of index pages, such as index.html. The metadata record of a page has the links that a form has changed, as the page has them. Seeds and targets of redirects that lead back stay as they are. Give it to all agents. It holds until a finished crawl begins again." oneof:"whatwg,sorted,archive" default:"whatwg" placeholder:"FORM"`

	CacheMemory int64 `help:"Memory of the cache of recent URLs (fingerprints). Raise it if report.json shows few cache_hits." default:"64MiB" type:"size" least:"64KiB" placeholder:"SIZE" group:"memory"`
}

// Requisites says how page requisites are admitted.
type Requisites uint8

// The choices, in the order of the flag's words.
const (
	RequisitesAll       Requisites = iota // from any host
	RequisitesSameScope                   // within the scope
	RequisitesOff                         // as any other link
)

// SpeculativeMode says whether speculative links are followed.
type SpeculativeMode uint8

// The modes, in the order of the flag's words.
const (
	SpeculativeOn SpeculativeMode = iota
	SpeculativeOff
)

// PDFLinksMode says whether the links of PDF documents are followed.
type PDFLinksMode uint8

// The modes, in the order of the flag's words.
const (
	PDFLinksOn PDFLinksMode = iota
	PDFLinksOff
)

// Validate reports faults that the tags of the fields cannot.
func (o *Options) Validate() error {
	if _, err := urlx.NewParams(o.StripParams); err != nil {
		return fmt.Errorf("--strip-params: %w", err)
	}
	return nil
}

// Params are the parameters that links lose; nil for none. Validate reports faults of them.
func (o *Options) Params() *urlx.Params {
	if len(o.StripParams) == 0 && o.NormalForm == urlx.WHATWG {
		return nil
	}
	p, _ := urlx.NewParams(o.StripParams)
	return p.As(o.NormalForm)
}
