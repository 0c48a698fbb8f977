package lint

import (
	"fmt"
	"go/ast"
	"regexp"
	"slices"
	"strings"
)

// aFlag is a flag in a text: two hyphens and a word, not within another word.
var aFlag = regexp.MustCompile(`(?:^|[^-\w])--([a-z][a-z0-9]*(?:-[a-z0-9]+)*)`)

// foreignFlags are flags of other programs and of the parser of flags, and two examples of how flags are written.
func foreignFlags() []string { return []string{"help", "version", "user", "name", "sco"} }

// checkNamedFlags finds flags in texts of the program (errors, help, logs) that no command has: a remedy that a message
// names must exist.
func checkNamedFlags(h *tree) (faults []string) {
	known := h.flags()
	if len(known) == 0 {
		return nil
	}
	for _, f := range h.files {
		if f.test || !strings.HasPrefix(f.dir, "engine") && !isProgram(f.dir) {
			continue
		}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			for _, named := range aFlag.FindAllStringSubmatch(stringOf(n), -1) {
				flag := strings.TrimPrefix(named[1], "no-")
				if known["--"+flag] == "" && known["--"+named[1]] == "" && !slices.Contains(foreignFlags(), flag) {
					faults = append(faults, fmt.Sprintf("%s: --%s is no flag: name one that there is", h.at(n), named[1]))
				}
			}
			return true
		})
	}
	return faults
}
