package quality

import (
	"fmt"
	"io"

	"orbweaver/internal/plural"
)

// Print prints the report as text.
func (r *Report) Print(w io.Writer) error {
	unvisited := ""
	if r.Unvisited > 0 {
		unvisited = fmt.Sprintf(" (%s not visited)", plural.Number(r.Unvisited))
	}
	_, err := fmt.Fprintf(w, "%s%s, %s, %s without an earlier link; %s among them, %s to others\n",
		plural.Count(r.Documents, "page"), unvisited, plural.Count(r.Requisites, "requisite"), plural.Number(r.Roots),
		plural.Count(r.Links, "link"), plural.Number(r.Outside))
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
	if err == nil {
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
			gain = fmt.Sprintf("%.3f", g)
		}
		text += fmt.Sprintf("\n  %-15s %6.3f %6.1f %% %7s", name, f.Area[name], 100*f.AtFifth[name], gain)
		if tau != nil {
			text += fmt.Sprintf(" %8.4f", tau[name])
		}
	}
	_, err := fmt.Fprintln(w, text)
	return err
}
