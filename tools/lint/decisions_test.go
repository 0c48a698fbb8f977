package lint

import (
	"fmt"
	"path"
	"regexp"
	"strconv"
	"strings"
)

// checkDecisions: the number of a decision in docs/adr is its own, and its heading has it.
func checkDecisions(h *tree) (faults []string) {
	pattern := regexp.MustCompile(`^(\d{4})-[a-z0-9-]+\.md$`)
	files := map[int]string{}
	for _, name := range sorted(h.texts) {
		if path.Dir(name) != "docs/adr" {
			continue
		}
		m := pattern.FindStringSubmatch(path.Base(name))
		if m == nil {
			faults = append(faults, name+": the name of a decision is NNNN-words-of-its-heading.md")
			continue
		}
		n, _ := strconv.Atoi(m[1]) // four digits
		if other := files[n]; other != "" {
			faults = append(faults, fmt.Sprintf("%s: %s has the number, too: take the next free one", name, path.Base(other)))
		}
		files[n] = name
		if !strings.HasPrefix(h.texts[name], fmt.Sprintf("# %d. ", n)) {
			faults = append(faults, fmt.Sprintf("%s: its heading does not begin with \"# %d. \"", name, n))
		}
	}
	return faults
}
