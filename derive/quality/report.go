package quality

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"orbweaver/derive/centrality"
	"orbweaver/internal/plural"
)

// The orders that are compared.
const (
	Visited      = "visited"
	BreadthFirst = "breadth-first"
	DepthFirst   = "depth-first"
	Random       = "random"
	Omniscient   = "omniscient"
)

// Orders returns the names of the orders, as they are printed.
func Orders() []string { return []string{Visited, BreadthFirst, DepthFirst, Random, Omniscient} }

// Figures are those of one kind of rank. All maps have the name of an order as key.
type Figures struct {
	// Area is the mean of C(k).
	Area map[string]float64 `json:"area"`
	// AtFifth is C at 20 % of the documents.
	AtFifth map[string]float64 `json:"at_20_percent"`
	// Gain is 0 for breadth-first and 1 for omniscient. It is absent if these two are the same.
	Gain map[string]float64 `json:"gain"`
	// Curves are C at 0, 1, 2 ... 100 % of the documents.
	Curves map[string]Curve `json:"curves"`
}

// SiteTau compares the order of visits with that of discovery, at sites with at least 10 discovered pages. With one
// fetch worker and one parse worker it is 1. Parse workers find the links of pages that were answered at the same time
// in another order than that of the requests.
type SiteTau struct {
	Sites int `json:"sites"`
	// Mean is weighted by the pages of a site.
	Mean  float64 `json:"mean"`
	Least float64 `json:"least"`
}

// Report is what is measured.
type Report struct {
	Documents  int   `json:"documents"`
	Unvisited  int   `json:"unvisited"` // documents; of an archive none
	Unlinked   int   `json:"unlinked"`  // documents that are left out: no link leads there from a root
	Requisites int   `json:"requisites"`
	Roots      int   `json:"roots"`
	Links      int64 `json:"links"`
	Outside    int64 `json:"links_outside"`

	Figures // by PageRank

	// Skew says how unequal the in-degrees are.
	Skew Skew `json:"skew"`

	// Tau compares each order with breadth-first.
	Tau      map[string]float64 `json:"tau"`
	InDegree Figures            `json:"in_degree"`
	// Sites has documents only; with requisites, which are fetched before documents on purpose, it is SitesAll.
	Sites    SiteTau `json:"site_tau"`
	SitesAll SiteTau `json:"site_tau_with_requisites"`
}

// ErrEmpty is returned where there is nothing to measure.
var ErrEmpty = errors.New("no HTML page with a status from 200 to 399")

// Measure measures the order of a crawl. onRound is called with the number of each round of PageRank.
func (c *Crawl) Measure(ctx context.Context, onRound func(round int)) (*Report, error) {
	roots, err := c.findRoots(ctx)
	if err != nil {
		return nil, err
	}
	d := newDocuments(c, roots)
	n := len(d.nodes)
	if n == 0 {
		return nil, ErrEmpty
	}
	found, err := c.discover(ctx, roots.isReached)
	if err != nil {
		return nil, err
	}
	r := &Report{
		Documents: n, Outside: c.Outside, Tau: make(map[string]float64),
		Sites:    c.siteTau(found, func(node uint32) bool { return c.isDocument[node] && !found.isRequisite[node] }),
		SitesAll: c.siteTau(found, func(uint32) bool { return true }),
	}
	visited := r.count(d)
	orders := map[string][]uint32{Visited: make([]uint32, visited)}
	for i := range orders[Visited] {
		orders[Visited][i] = uint32(i)
	}
	if orders[BreadthFirst], err = d.breadthFirst(ctx); err != nil {
		return nil, err
	}
	if orders[DepthFirst], err = d.depthFirst(ctx); err != nil {
		return nil, err
	}
	ranks, err := centrality.PageRank(ctx, int64(n), d.each, centrality.Options{
		OnRound: func(_ string, round int, _ float64) { onRound(round) },
	})
	if err != nil {
		return nil, err
	}
	inDegree, err := r.countLinks(ctx, d)
	if err != nil {
		return nil, err
	}
	r.Skew = skewOf(inDegree)
	r.Figures, r.InDegree = compare(orders, ranks), compare(orders, inDegree)
	r.compareOrders(orders, falling(ranks))
	return r, nil
}

// count counts nodes, and returns how many documents were visited.
func (r *Report) count(d *documents) (visited int) {
	c := d.crawl
	for node, isReached := range d.roots.isReached {
		switch isDocument := c.isDocument[node]; {
		case isReached && !isDocument:
			r.Requisites++
		case isReached && node < c.visited:
			visited++
		case !isReached && isDocument:
			r.Unlinked++
		}
	}
	for _, root := range slices.Concat(d.roots.firstRoots, d.roots.lateRoots) {
		if c.isDocument[root] {
			r.Roots++
		}
	}
	r.Unvisited = r.Documents - visited
	return visited
}

// countLinks counts the links among nodes that are reached, and returns how many each document has from others.
func (r *Report) countLinks(ctx context.Context, d *documents) (inDegree []float64, err error) {
	inDegree = make([]float64, r.Documents)
	err = d.crawl.each(ctx, func(node uint32, successors []uint32) {
		if !d.roots.isReached[node] {
			return
		}
		r.Links += int64(len(successors)) // what a reached node links to is reached
		if d.number[node] == none {
			return
		}
		for _, to := range d.translate(successors) {
			inDegree[to]++
		}
	})
	return inDegree, err
}

// rounding is a difference between areas that are the same.
const rounding = 1e-9

// compare returns the figures of all orders.
func compare(orders map[string][]uint32, values []float64) Figures {
	of := map[string]figures{Random: random(len(values)), Omniscient: measure(falling(values), values)}
	for name, order := range orders {
		of[name] = measure(order, values)
	}
	f := Figures{
		Area: make(map[string]float64), AtFifth: make(map[string]float64), Gain: make(map[string]float64),
		Curves: make(map[string]Curve),
	}
	least := of[BreadthFirst].area
	gap := of[Omniscient].area - least
	for name, is := range of {
		f.Area[name], f.AtFifth[name], f.Curves[name] = is.area, is.atFifth, is.curve
		if gap > rounding {
			f.Gain[name] = (is.area - least) / gap
		}
	}
	return f
}

// compareOrders sets Tau. The expected one of a random order is 0.
func (r *Report) compareOrders(orders map[string][]uint32, omniscient []uint32) {
	place := make([]uint32, r.Documents)
	for i, document := range orders[BreadthFirst] {
		place[document] = uint32(i)
	}
	r.Tau[Random] = 0
	orders[Omniscient] = omniscient
	for name, order := range orders {
		places := make([]uint32, 0, len(order))
		for _, document := range order {
			places = append(places, place[document])
		}
		r.Tau[name] = Tau(places)
	}
}

// Print prints the report as text.
func (r *Report) Print(w io.Writer) error {
	unvisited := ""
	if r.Unvisited > 0 {
		unvisited = fmt.Sprintf(" (%s not visited)", plural.Number(r.Unvisited))
	}
	_, err := fmt.Fprintf(w, "%s%s, %s, %s; %s among them, %s to others\n",
		plural.Count(r.Documents, "page"), unvisited, plural.Count(r.Requisites, "requisite"),
		plural.Count(r.Roots, "root"), plural.Count(r.Links, "link"), plural.Number(r.Outside))
	if err == nil && r.Unlinked > 0 {
		_, err = fmt.Fprintf(w, "left out: %s to which no link leads from a root\n", plural.Count(r.Unlinked, "page"))
	}
	if err == nil {
		_, err = fmt.Fprintf(w, "the hundredth of them with the most links has %.0f %% of all links%s\n\n", 100*r.Skew.Top,
			r.Skew.law())
	}
	print := func(title string, f Figures, tau map[string]float64) {
		if err == nil {
			err = f.print(w, title, tau)
		}
	}
	print("by PageRank", r.Figures, r.Tau)
	print("by in-degree", r.InDegree, nil)
	if err == nil && r.SitesAll.Sites > 0 {
		_, err = fmt.Fprintf(w, "\nwithin a site, against the order of discovery (%s with %d pages or more)\n"+
			"  pages            tau %.4f, least %.4f\n  with requisites  tau %.4f, least %.4f\n",
			plural.Count(r.Sites.Sites, "site"), SiteLeast, r.Sites.Mean, r.Sites.Least, r.SitesAll.Mean, r.SitesAll.Least)
	}
	return err
}

// law describes the power law.
func (s *Skew) law() string {
	if s.Exponent == 0 {
		return ""
	}
	return fmt.Sprintf("; from %s on, in-degrees are near a power law of exponent %.2f (distance %.3f)",
		plural.Count(s.From, "link"), s.Exponent, s.Fit)
}

// print prints a row for each order, with tau unless it is nil.
func (f *Figures) print(w io.Writer, title string, tau map[string]float64) error {
	text := fmt.Sprintf("%-17s %6s %8s %7s", title, "area", "at 20 %", "gain")
	if tau != nil {
		text += fmt.Sprintf(" %8s", "tau")
	}
	for _, name := range Orders() {
		gain := "-"
		if g, ok := f.Gain[name]; ok {
			gain = decimal(g, 3)
		}
		text += fmt.Sprintf("\n  %-15s %6.3f %6.1f %% %7s", name, f.Area[name], 100*f.AtFifth[name], gain)
		if tau != nil {
			text += fmt.Sprintf(" %8s", decimal(tau[name], 4))
		}
	}
	_, err := fmt.Fprintln(w, text)
	return err
}

// decimal prints a number without the sign of a zero.
func decimal(v float64, digits int) string {
	text := strconv.FormatFloat(v, 'f', digits, 64)
	if strings.Trim(text, "-0.") == "" {
		return strings.TrimPrefix(text, "-")
	}
	return text
}
