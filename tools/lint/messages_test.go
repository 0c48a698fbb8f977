package lint

import (
	"go/ast"
	"path"
	"regexp"
	"slices"
	"strings"
)

// fieldsInMessages are fields that a fault may begin with although packages have the same names.
const fieldsInMessages = "agent crawl header parsers"

// checkMessages finds errors of libraries that begin with the name of a package that they are not part of: the name
// tells a developer where to look. People do not see it (command.Invocation).
func checkMessages(h *tree) (faults []string) {
	packages := make(map[string]bool)
	for dir := range h.packages() {
		packages[path.Base(dir)] = true
	}
	begin := regexp.MustCompile(`^(?:BUG: )?([a-z]\w*): `)
	h.each(func(f *goFile, n ast.Node) {
		call, ok := n.(*ast.CallExpr)
		if !ok || outside(f.path) || len(call.Args) == 0 || !hasWord("errors.New fmt.Errorf", f.selected(call.Fun)) {
			return
		}
		named := begin.FindStringSubmatch(stringOf(call.Args[0]))
		if named != nil && packages[named[1]] && !hasWord(fieldsInMessages, named[1]) &&
			!slices.Contains(strings.Split(strings.TrimPrefix(f.dir, "engine/"), "/"), named[1]) {
			faults = append(faults, h.at(n)+": the message begins with "+named[1]+": in package "+f.dir)
		}
	})
	return faults
}
