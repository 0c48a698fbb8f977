package lint

import (
	"path"
	"regexp"
	"strings"
)

// findSharedPromises finds promises of a package whose id another package gives to a promise of its own.
func findSharedPromises(h *tree) (findings []finding) {
	id := regexp.MustCompile(`(?m)^\s*(?:- )?([A-Z]\d): `)
	packages := make(map[string][]string) // by id
	at := make(map[string]string)
	for _, f := range h.files {
		if f.test || path.Base(f.path) != "doc.go" || f.ast.Doc == nil {
			continue
		}
		for _, m := range id.FindAllStringSubmatch(f.ast.Doc.Text(), -1) {
			packages[m[1]] = append(packages[m[1]], f.dir)
			at[f.dir] = h.at(f.ast.Doc)
		}
	}
	for _, name := range sorted(packages) {
		if len(packages[name]) < 2 {
			continue
		}
		for _, dir := range packages[name] {
			text := name + " is a promise of " + strings.Join(packages[name], " and ")
			findings = append(findings, finding{dir, at[dir], text, 1})
		}
	}
	return findings
}
