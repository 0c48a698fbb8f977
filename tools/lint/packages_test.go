package lint

import (
	"fmt"
	"go/ast"
	"regexp"
	"strings"
)

const mapFile = "ARCHITECTURE.md"

func checkPackages(h *tree) (faults []string) {
	page, mapped := h.texts[mapFile]
	if !mapped {
		faults = append(
			faults, mapFile+" is missing: one page with the map, the roads, every package and the index of promises",
		)
	}
	byDir := h.packages()
	faults = append(faults, missingPackages(h, byDir)...)
	for _, dir := range sorted(byDir) {
		if fault := packageComment(dir, byDir[dir]); fault != "" {
			faults = append(faults, fault)
		}
		text, where, name := page, mapFile, dir
		if chapter, rest, ok := chapterOf(dir); ok {
			text, where, name = h.texts[chapter+"/doc.go"], chapter+"/doc.go", rest
		}
		if mapped && !names(text, name) {
			faults = append(faults, fmt.Sprintf("%s does not name %s: give it a place there", where, name))
		}
	}
	return faults
}

// chapterRow is a line of the page of a chapter: names of packages, two spaces, what they are.
var chapterRow = regexp.MustCompile(`(?m)^//\t(\w+(?:, \w+)*)  `)

// missingPackages returns a fault for each package that the page of a chapter names and that is not there.
func missingPackages(h *tree, byDir map[string][]*goFile) (faults []string) {
	for _, row := range layers() {
		if !strings.HasPrefix(row, "engine/") {
			continue
		}
		for _, match := range chapterRow.FindAllStringSubmatch(h.texts[row+"/doc.go"], -1) {
			for name := range strings.SplitSeq(match[1], ", ") {
				if _, ok := byDir[row+"/"+name]; !ok {
					faults = append(faults, fmt.Sprintf("%s/doc.go names package %s, which is not there", row, name))
				}
			}
		}
	}
	return faults
}

// chapterOf is the chapter of a package below engine, and its path from there. The page of the chapter names the
// package itself; what is below it, its own page.
func chapterOf(dir string) (chapter, rest string, ok bool) {
	parts := strings.SplitN(dir, "/", 4)
	if parts[0] != "engine" || len(parts) < 3 {
		return "", "", false
	}
	return "engine/" + parts[1], parts[2], true
}

// packageComment returns a fault unless exactly one file of the package explains it.
func packageComment(dir string, files []*goFile) string {
	var with []string
	for _, f := range files {
		if f.test || f.ast.Doc == nil {
			continue
		}
		start := "Package " + f.ast.Name.Name + " "
		if f.ast.Name.Name == "main" {
			start = "Command "
		}
		text := f.ast.Doc.Text()
		if !strings.HasPrefix(text, start) {
			return fmt.Sprintf("%s: its package comment should begin with %q", f.path, start)
		}
		with = append(with, f.path)
	}
	switch len(with) {
	case 0:
		return dir + ": no package comment: write doc.go: what it is, what it is not, the picture, the promises, " +
			"who owns what, what it costs"
	case 1:
		return ""
	}
	return fmt.Sprintf("%s: %d package comments (%s): keep the one in doc.go", dir, len(with), strings.Join(with, ", "))
}

// names reports whether the page names the path, not merely a longer one that contains it.
func names(page, dir string) bool {
	return regexp.MustCompile(`(^|[^\w/.-])` + regexp.QuoteMeta(dir) + `(/?[^\w/-]|/?$)`).MatchString(page)
}

// engineFiles are the files of package engine that see the whole engine: its birth, its loops, and what is asked of it
// from outside. Everything else there is handed the three or four things it uses.
var engineFiles = places{
	"engine/engine.go": "the type, Open and Close",
	"engine/open.go":   "opens a crawl from a manifest",
	"engine/run.go":    "starts the groups of loops and ends them in order",
}

func checkEngine(h *tree) (faults []string) {
	used := make(map[string]bool)
	for _, f := range h.files {
		if f.test || outside(f.path) || f.dir == "engine/operate/control" {
			continue
		}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			if !isEngine(f, n) {
				return true
			}
			if entry := engineFiles.find(f.path); entry != "" {
				used[entry] = true
				return true
			}
			faults = append(
				faults, h.at(n)+": nothing below the Engine holds an *Engine: take the three or four things that are used here",
			)
			return true
		})
	}
	return append(faults, h.unused(engineFiles, used, "engineFiles")...)
}

// isEngine reports whether the node is the type *Engine of package engine. A value of type Engine would be as bad, but
// cannot be copied, which vet knows.
func isEngine(f *goFile, n ast.Node) bool {
	star, ok := n.(*ast.StarExpr)
	if !ok {
		return false
	}
	if id, ok := star.X.(*ast.Ident); ok {
		return f.dir == "engine" && id.Name == "Engine"
	}
	return f.selected(star.X) == module+"/engine.Engine"
}
