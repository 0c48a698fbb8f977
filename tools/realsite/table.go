package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// tables returns the results of a run as Markdown.
func tables(r *run) string {
	var out strings.Builder
	out.WriteString(
		"| site | made by | server | pages for readers | stored | not stored | requests | waste " +
			"|\n|---|---|---|---|---|---|---|---|\n",
	)
	for _, s := range r.sites {
		f := s.result
		fmt.Fprintf(&out, "| %s | %s | %s | %d | %d | %d | %d | %d |\n", s.name, s.made, s.server, f.readers,
			f.stored, f.readers-f.stored, f.requests, f.waste)
	}
	if r.floor > 0 && len(r.of(application)) > 0 {
		fmt.Fprintf(&out, "\nThe applications with `--trap-floor %d`, to the end:\n\n", r.floor)
		out.WriteString(
			"| site | pages for readers | stored | in the list of URLs left out | requests | waste | allowed waste, F = " +
				"floor |\n|---|---|---|---|---|---|---|\n",
		)
		for _, s := range r.of(application) {
			f := s.bounded
			fmt.Fprintf(&out, "| %s | %d | %d | %d | %d | %d | %d + %d F |\n", s.name, f.readers, f.stored, f.skipped,
				f.requests, f.waste, s.app.fixed, s.app.times)
		}
	}
	for _, s := range r.sites {
		if len(s.result.kinds) == 0 {
			continue
		}
		fmt.Fprintf(&out, "\nWaste of %s:", s.name)
		names := slices.SortedFunc(maps.Keys(s.result.kinds),
			func(a, b string) int { return s.result.kinds[b] - s.result.kinds[a] })
		for _, name := range names {
			fmt.Fprintf(&out, " %s %d;", name, s.result.kinds[name])
		}
		out.WriteString("\n")
	}
	return out.String()
}
