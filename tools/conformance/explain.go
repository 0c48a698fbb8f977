package main

import (
	"fmt"
	"strings"
)

// reason says why some cases of a suite fail.
type reason struct {
	suite string
	name  string // the case's; * stands for anything
	why   string
}

func (r *reason) speaksFor(suite string, f failure) bool {
	if r.suite != suite {
		return false
	}
	parts := strings.Split(r.name, "*")
	rest, ok := strings.CutPrefix(f.name, parts[0])
	if len(parts) == 1 {
		return ok && rest == ""
	}
	for _, part := range parts[1 : len(parts)-1] {
		if ok {
			_, rest, ok = strings.Cut(rest, part)
		}
	}
	return ok && strings.HasSuffix(rest, parts[len(parts)-1])
}

// explained holds the failures with their reasons.
type explained struct {
	why    map[string][]string // of each suite, in the order of its failures; "" if unknown
	faults []string
}

// explain finds the first reason for every failure. A failure without one is a fault, and so is a reason that is not
// needed.
func explain(results []result, all []reason) explained {
	e := explained{why: map[string][]string{}}
	needed := make([]bool, len(all))
	there := map[string]bool{}
	for _, r := range results {
		there[r.name] = !r.missing
		for _, f := range r.failures {
			why := ""
			for i := range all {
				if all[i].speaksFor(r.name, f) {
					why, needed[i] = all[i].why, true
					break
				}
			}
			if why == "" {
				e.faults = append(
					e.faults, fmt.Sprintf("%s fails without an explanation: %s: got %s, want %s", r.name, f.name, f.got, f.want),
				)
			}
			e.why[r.name] = append(e.why[r.name], why)
		}
	}
	for i, needs := range needed {
		if there[all[i].suite] && !needs {
			e.faults = append(
				e.faults, fmt.Sprintf("reasons.go: nothing fails any more for %s, %s: take it out", all[i].suite, all[i].name),
			)
		}
	}
	return e
}
