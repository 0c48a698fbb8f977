package hook

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"sync"
	"time"

	"orbweaver/internal/urlx"
)

// Hosts asks the program of --hook host=CMD. Safe for concurrent use.
//
// It is asked when a site has Options.hostPages stored pages, and once more with the next page if there was no answer.
// The numbers of a question are in memory alone, for the sites that were seen last.
type Hosts struct {
	hook         *Hook
	first, every int

	mu struct {
		sync.Mutex
		young, old map[string]*facts // by site; young becomes old when it is full
		verdicts   map[string]int64
	}
}

// facts are what is known of one site.
type facts struct {
	level    int // of the last answer: see Hosts.level
	isAsking bool
	numbers  HostQuestion // without Terms
	terms    terms
}

// Bounds of what is kept. A site takes some 10 KB.
const (
	sitesMost  = 2000 // in each of the two maps
	sampleMost = 5    // pages
	sampleText = 500  // bytes of one
)

// HostStats are the numbers of this run.
type HostStats struct {
	Questions map[string]int64 `json:"questions" metric:"host_hook_questions_total" label:"result" help:"Questions about hosts by what came back, as of hook_pages_total. In this run."`
	Verdicts  map[string]int64 `json:"verdicts" metric:"host_hook_verdicts_total" label:"verdict" help:"Hosts that an answer of --hook blocked, limited (budget) or postponed. In this run."`
	Starts    int64            `json:"starts" metric:"host_hook_starts_total" help:"Starts of the program that is asked about hosts."`
	Waited    float64          `json:"waited_seconds" metric:"host_hook_waited_seconds_total" help:"Time that parse workers have waited for it, in all."`
	Error     string           `json:"error,omitempty"` // why it failed last; "" since its next answer
}

// The verdicts.
const (
	blocked   = "blocked"
	budget    = "budget"
	postponed = "postponed"
)

// NewHosts returns a Hosts that starts the program of the options with the first question.
func NewHosts(o Options, starter Starter, log *slog.Logger) *Hosts {
	h := &Hosts{hook: newHook(HostKind, o, starter, log)}
	h.first, h.every = o.hostPages()
	h.mu.young, h.mu.old, h.mu.verdicts = map[string]*facts{}, map[string]*facts{}, map[string]int64{}
	return h
}

// IsOn reports whether there is a program to ask.
func (h *Hosts) IsOn() bool { return h.hook.IsOn() }

// Trouble says in a line whether the program limits the crawl, or fails; "" if it does neither.
func (h *Hosts) Trouble() string { return h.hook.Trouble() }

// Close is as Hook.Close.
func (h *Hosts) Close() error { return h.hook.Close() }

// SitePage is a page of a site. All is borrowed.
type SitePage struct {
	URL, Title []byte
	Body       []byte
	Number     int // of the page at its site, from 1
	Bytes      int64
	IsRevisit  bool
	IsText     bool // the body has words
	Links      int
	Outlinks   int // to other hosts
}

// AskAfter notes a page and asks about its host if it is time. The rule is what the answer says of the host, as
// filter.HostRules has it; "" if it says nothing. An error is that of ctx.
func (h *Hosts) AskAfter(ctx context.Context, p *SitePage) (rule string, err error) {
	site, _ := urlx.Split(p.URL)
	question, known := h.note(string(site), p)
	if question == nil {
		return "", nil
	}
	question.Host = string(urlx.Host(p.URL))
	a, err := h.hook.askQuestion(ctx, question, nil)
	h.mu.Lock()
	defer h.mu.Unlock()
	known.isAsking = false
	if a == nil {
		return "", err
	}
	known.level = h.level(p.Number)
	return h.ruleLocked(question.Host, a), nil
}

// level is how many questions are due about a site with so many pages.
func (h *Hosts) level(pages int) int {
	if pages < h.first {
		return 0
	}
	return 1 + (pages-h.first)/h.every
}

// note adds a page to what is known of its site. It returns a question if one is due.
func (h *Hosts) note(site string, p *SitePage) (*HostQuestion, *facts) {
	h.mu.Lock()
	defer h.mu.Unlock()
	f := h.ofLocked(site, p.Number)
	n := &f.numbers
	n.Seen, n.Bytes, n.Links, n.Outlinks = n.Seen+1, n.Bytes+p.Bytes, n.Links+p.Links, n.Outlinks+p.Outlinks
	if p.IsRevisit {
		n.Revisits++
	}
	if p.IsText {
		text := f.terms.add(p.Body)
		if len(n.Sample) == sampleMost {
			n.Sample = append(n.Sample[:0], n.Sample[1:]...)
		}
		n.Sample = append(n.Sample, SamplePage{URL: string(p.URL), Title: string(p.Title), Text: text})
	}
	if f.isAsking || h.level(p.Number) <= f.level {
		return nil, nil
	}
	f.isAsking = true
	q := *n
	q.Site, q.Pages, q.Terms, q.Sample = site, p.Number, f.terms.top(), append([]SamplePage(nil), n.Sample...)
	return &q, f
}

// ofLocked returns what is known of a site.
func (h *Hosts) ofLocked(site string, number int) *facts {
	f := h.mu.young[site]
	if f != nil {
		return f
	}
	if f = h.mu.old[site]; f == nil {
		f = &facts{level: h.level(number - 1)} // an earlier question was answered in an earlier run
	}
	if len(h.mu.young) == sitesMost {
		h.mu.old, h.mu.young = h.mu.young, make(map[string]*facts, sitesMost)
	}
	h.mu.young[site] = f
	return f
}

// ruleLocked counts an answer, and returns its rule.
func (h *Hosts) ruleLocked(host string, a *Answer) (rule string) {
	if a.Block {
		h.mu.verdicts[blocked]++
		rule += " exclude"
	}
	if a.Budget > 0 {
		h.mu.verdicts[budget]++
		rule += fmt.Sprintf(" max-per-host=%d", a.Budget)
	}
	if a.Postpone > 0 {
		h.mu.verdicts[postponed]++
		until := time.Now().Add(time.Duration(a.Postpone * float64(time.Second)))
		rule += " not-before=" + until.UTC().Format(time.RFC3339)
	}
	if rule == "" {
		return ""
	}
	return host + rule
}

// Stats returns the numbers as they are now; nil if no program is asked.
func (h *Hosts) Stats() *HostStats {
	of := h.hook.Stats()
	if of == nil {
		return nil
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	return &HostStats{
		Questions: of.Pages, Verdicts: maps.Clone(h.mu.verdicts), Starts: of.Starts, Waited: of.Waited, Error: of.Error,
	}
}
