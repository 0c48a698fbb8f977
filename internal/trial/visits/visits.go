package visits

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"orbweaver/derive/quality"
	"orbweaver/internal/simweb"
	"orbweaver/internal/simweb/arrivals"
	"orbweaver/internal/simweb/content"
	"orbweaver/internal/simweb/judge"
	"orbweaver/internal/simweb/origin"
)

// PagesMost is the largest web that Measure takes: its links are kept in memory.
const PagesMost = 500_000

// Measure compares the order of requests with others of all pages that can be reached from the seeds. It returns nil
// if the web is too large.
func Measure(ctx context.Context, w *origin.Web, log *arrivals.Log, seeds []string) (r *quality.Report, err error) {
	if w.PagesTotal() > PagesMost {
		return nil, nil //nolint:nilnil // there is no report
	}
	truth := walk(w, seeds)
	truth.visit(log)
	c, err := quality.NewCrawl(&truth.Web)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	r, err = c.Measure(ctx, func(int) {})
	if errors.Is(err, quality.ErrEmpty) {
		return nil, nil //nolint:nilnil // there is no report
	}
	return r, err
}

// truth is what can be reached.
type truth struct {
	quality.Web

	origin  *origin.Web
	numbers map[simweb.Target]uint32
	targets []simweb.Target // of each node
}

// walk finds all pages and redirects that can be reached, in breadth-first order.
func walk(w *origin.Web, seeds []string) *truth {
	t := &truth{origin: w, numbers: make(map[simweb.Target]uint32)}
	for _, seed := range seeds {
		if target, ok := w.Find(seed); ok {
			if node, ok := t.number(target); ok {
				t.Roots = append(t.Roots, node)
			}
		}
	}
	var d content.Document
	for node := 0; node < len(t.targets); node++ {
		target := t.targets[node]
		var links []quality.Link
		link := func(to simweb.Target, isPart bool) {
			if n, ok := t.number(to); ok {
				links = append(links, quality.Link{To: n, IsRequisite: isPart})
			}
		}
		if to, isRedirect := redirect(w.Model, target); isRedirect {
			link(to, false)
		} else {
			w.EachLink(&d, target, link)
		}
		t.Nodes[node].Links = links
	}
	return t
}

// redirect returns where a target redirects to.
func redirect(m *simweb.Model, at simweb.Target) (to simweb.Target, ok bool) {
	h := m.HostAt(int(at.Host))
	var page simweb.Page
	if at.Kind == simweb.KindPage {
		page = h.PageAt(int(at.Page))
	}
	to, status := h.Redirect(at, &page)
	return to, status > 0
}

// number returns the node of a target; ok is false for what is no page and no redirect, or denied.
func (t *truth) number(at simweb.Target) (node uint32, ok bool) {
	if node, ok = t.numbers[at]; ok {
		return node, true
	}
	class := judge.Of(t.origin.Model, at)
	isPage, isRedirect := class == judge.ClassPage || class == judge.ClassCut, false
	if class == judge.ClassAttempt || class == judge.ClassOptional {
		_, isRedirect = redirect(t.origin.Model, at)
	}
	if !isPage && !isRedirect {
		return 0, false
	}
	node = uint32(len(t.targets))
	t.numbers[at] = node
	t.targets = append(t.targets, at)
	isDocument := true
	if isPage && at.Kind != simweb.KindLand {
		h := t.origin.HostAt(int(at.Host))
		isDocument = h.FactsOf(at).Media == simweb.MediaHTML
	}
	t.Nodes = append(t.Nodes, quality.Node{Site: uint32(at.Host), IsDocument: isDocument})
	return node, true
}

// visit adds the first answer of each node.
func (t *truth) visit(log *arrivals.Log) {
	records, _ := log.Snapshot(0)
	byStart := func(a, b arrivals.Record) int { return cmp.Compare(a.Time, b.Time) }
	slices.SortStableFunc(records, byStart)
	var first []arrivals.Record
	isVisited := make([]bool, len(t.Nodes))
	for _, r := range records {
		node, ok := t.numbers[r.Target]
		isGood := r.Status >= 200 && r.Status < 400 && r.Flags&arrivals.FlagLost == 0
		if !ok || isVisited[node] || !isGood {
			continue
		}
		isVisited[node] = true
		t.Visits = append(t.Visits, node)
		first = append(first, r)
	}
	starts := slices.Clone(first)
	slices.SortStableFunc(first, func(a, b arrivals.Record) int { return cmp.Compare(a.End, b.End) })
	begun := 0
	for _, r := range first {
		for begun < len(starts) && starts[begun].Time <= r.End {
			begun++
		}
		t.Answers = append(t.Answers, quality.Visit{Node: t.numbers[r.Target], Earlier: uint32(begun)})
	}
}
