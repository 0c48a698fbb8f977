package lint

import (
	"fmt"
	"go/ast"
	"go/token"
	"maps"
	"slices"
	"strings"
)

// raceFile lists what runs under the race detector in CI, and what does not and why.
const raceFile = "tools/race.txt"

// checkRace wants a line in raceFile for each package whose code shares memory between goroutines, and no line for
// anything else.
func checkRace(h *tree) (faults []string) {
	text, ok := h.texts[raceFile]
	if !ok {
		return []string{raceFile + " is missing: it lists the packages that run under the race detector"}
	}
	listed := map[string]bool{}
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		rest, left := strings.CutPrefix(line, "- ")
		dir, reason, _ := strings.Cut(rest, " ")
		switch {
		case line == "" || strings.HasPrefix(line, "#"):
			continue
		case left && (!strings.HasSuffix(dir, ":") || strings.TrimSpace(reason) == ""):
			faults = append(
				faults, fmt.Sprintf("%s: %q leaves a package out without a reason: write \"- package: reason\"", raceFile, line),
			)
		}
		listed[strings.TrimSuffix(dir, ":")] = true
	}
	shared := map[string]bool{}
	for _, f := range h.files {
		if !f.test && sharesMemory(f) {
			shared[f.dir] = true
		}
	}
	for _, dir := range slices.Sorted(maps.Keys(shared)) {
		if !listed[dir] {
			faults = append(
				faults,
				fmt.Sprintf("%s: goroutines share memory in %s: give it a line, or one with \"-\" and the reason", raceFile, dir),
			)
		}
	}
	if !h.whole {
		return faults
	}
	packages := h.packages()
	for _, dir := range slices.Sorted(maps.Keys(listed)) {
		if len(packages[dir]) == 0 {
			faults = append(faults, fmt.Sprintf("%s: there is no package %s", raceFile, dir))
		}
	}
	return faults
}

// sharesMemory says whether a file starts goroutines or imports what only goroutines need.
func sharesMemory(f *goFile) bool {
	shares := false
	for _, path := range f.imports {
		shares = shares || path == "sync" || path == "sync/atomic"
	}
	ast.Inspect(f.ast, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt, *ast.SelectStmt, *ast.SendStmt:
			shares = true
		case *ast.UnaryExpr:
			shares = shares || n.Op == token.ARROW
		}
		return !shares
	})
	return shares
}
