package command

import (
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
)

// Suggestion returns "; did you mean X?" for the known name that is most like a name; "" if none is like it.
func Suggestion(name string, known []string) string {
	if best := nearest(name, known); best != "" {
		return fmt.Sprintf("; did you mean %s?", best)
	}
	return ""
}

// nearest returns the known name with the fewest changed characters; "" if more than a quarter are changed.
func nearest(name string, known []string) (best string) {
	most := max(1, len(name)/4) + 1
	for _, k := range known {
		if d := changes(name, k, most); d < most {
			best, most = k, d
		}
	}
	return best
}

// changes counts the characters that must be put in, taken out, replaced or exchanged with their neighbour to make b of
// a, up to most.
func changes(a, b string, most int) int {
	if len(a)-len(b) >= most || len(b)-len(a) >= most {
		return most
	}
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			rows[i][j] = min(rows[i-1][j]+1, rows[i][j-1]+1, rows[i-1][j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				rows[i][j] = min(rows[i][j], rows[i-2][j-2]+1)
			}
		}
	}
	return min(rows[len(a)][len(b)], most)
}

// envName is a flag as its variable has it, behind the prefix.
func envName(flag string) string { return strings.ToUpper(strings.ReplaceAll(flag, "-", "_")) }

// checkVariables refuses variables that are most likely a misspelt setting, and warns of others that no flag reads. A
// container platform sets variables of its own, such as ORBWEAVER_SERVICE_HOST, so these must not end the program.
func checkVariables(keys map[string]bool, stderr io.Writer) error {
	known := []string{envName("config")}
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		known = append(known, envName(key))
	}
	var bad Faults
	for _, variable := range os.Environ() {
		variable, _, _ = strings.Cut(variable, "=")
		name, ours := strings.CutPrefix(variable, EnvPrefix+"_")
		if !ours || slices.Contains(known, name) {
			continue
		}
		if like := nearest(name, known); like != "" {
			bad.Add(variable, fmt.Errorf("no flag has this variable; did you mean %s_%s?", EnvPrefix, like))
			continue
		}
		fmt.Fprintf(stderr, "orbweaver: the variable %s is ignored: no flag has it\n", PlainText(variable))
	}
	return bad.Err()
}
