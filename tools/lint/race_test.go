package lint

import (
	"go/ast"
	"go/token"
	"regexp"
	"slices"
	"strings"
)

// raceFile lists what runs under the race detector in CI, and what does not and why.
const raceFile = "tools/race.txt"

// checkRace wants a line in raceFile for each package whose code shares memory between goroutines, and no line for
// anything else.
func checkRace(h *tree) (faults []string) {
	listed, shared, skipped, tests := map[string]bool{}, map[string]bool{}, []string{}, []string{}
	for line := range strings.Lines(h.texts[raceFile]) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		if names, ok := strings.CutPrefix(line, "skip "); ok {
			skipped = append(skipped, strings.Fields(names)...)
			continue
		}
		rest, left := strings.CutPrefix(line, "- ")
		dir, reason, _ := strings.Cut(rest, " ")
		if left && (!strings.HasSuffix(dir, ":") || strings.TrimSpace(reason) == "") {
			faults = append(faults, raceFile+": "+line+": left out without a reason: write \"- package: reason\"")
		}
		listed[strings.TrimSuffix(dir, ":")] = true
	}
	h.each(func(f *goFile, n ast.Node) {
		shared[f.dir] = shared[f.dir] || sharesMemory(n)
	})
	for _, f := range h.files {
		for _, decl := range f.ast.Decls {
			if test, ok := decl.(*ast.FuncDecl); ok && f.test {
				tests = append(tests, test.Name.Name)
			}
		}
	}
	for _, name := range skipped {
		if h.whole && !slices.ContainsFunc(tests, regexp.MustCompile(name).MatchString) {
			faults = append(faults, raceFile+": skip "+name+": there is no such test")
		}
	}
	for _, dir := range sorted(shared) {
		if shared[dir] && !listed[dir] {
			faults = append(faults, raceFile+": goroutines share memory in "+dir+": give it a line, or - and a reason")
		}
	}
	packages := h.packages()
	for _, dir := range sorted(listed) {
		if h.whole && len(packages[dir]) == 0 {
			faults = append(faults, raceFile+": there is no package "+dir)
		}
	}
	return faults
}

// sharesMemory reports whether a node starts a goroutine, uses a channel or imports what only goroutines need.
func sharesMemory(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.GoStmt, *ast.SelectStmt, *ast.SendStmt:
		return true
	case *ast.UnaryExpr:
		return n.Op == token.ARROW
	case *ast.ImportSpec:
		return hasWord(`"sync" "sync/atomic"`, n.Path.Value)
	}
	return false
}
