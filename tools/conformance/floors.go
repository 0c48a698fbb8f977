package main

import (
	"bufio"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// floor is what a suite has reached before.
type floor struct{ passed, total int }

// floors are those of all suites, by name.
type floors map[string]floor

// readFloors reads lines of "suite passed of total"; # begins a remark.
func readFloors(text string) (floors, error) {
	all := floors{}
	lines := bufio.NewScanner(strings.NewReader(text))
	for n := 1; lines.Scan(); n++ {
		line, _, _ := strings.Cut(lines.Text(), "#")
		if strings.TrimSpace(line) == "" {
			continue
		}
		var name string
		var f floor
		if _, err := fmt.Sscanf(line, "%s %d of %d", &name, &f.passed, &f.total); err != nil {
			return nil, fmt.Errorf("held.go:%d: %q is not \"suite passed of total\": %w", n, line, err)
		}
		if _, twice := all[name]; twice {
			return nil, fmt.Errorf("held.go:%d: %s a second time", n, name)
		}
		all[name] = f
	}
	return all, lines.Err()
}

// faults holds the scores against the floors. A score above its floor is a fault as well, since the next one could sink
// back unseen; so is a suite of another size, since the figures then speak of other cases.
func (all floors) faults(results []result) (faults []string) {
	known := map[string]bool{}
	for _, r := range results {
		known[r.name] = true
		f, held := all[r.name]
		switch now := fmt.Sprintf("%s %d of %d", r.name, r.passed, r.total); {
		case r.missing:
		case !held:
			faults = append(faults, "held.go has no line for it: "+now)
		case r.passed < f.passed:
			faults = append(
				faults, fmt.Sprintf("%s has sunk from %d of %d to %d of %d", r.name, f.passed, f.total, r.passed, r.total),
			)
		case r.passed > f.passed || r.total != f.total:
			faults = append(faults, fmt.Sprintf("held.go says %d of %d, write there: %s", f.passed, f.total, now))
		}
	}
	for _, name := range sortedKeys(all) {
		if !known[name] {
			faults = append(faults, "held.go names "+name+", which is no suite")
		}
	}
	return faults
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
