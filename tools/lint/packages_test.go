package lint

import (
	"fmt"
	"regexp"
	"strings"
)

const mapFile = "ARCHITECTURE.md"

func checkPackages(h *tree) (faults []string) {
	byDir := h.packages()
	for _, row := range layers() {
		for _, match := range chapterRow.FindAllStringSubmatch(h.texts[row+"/doc.go"], -1) {
			for name := range strings.SplitSeq(match[1], ", ") {
				if strings.HasPrefix(row, "engine/") && byDir[row+"/"+name] == nil {
					faults = append(faults, fmt.Sprintf("%s/doc.go names package %s, which is not there", row, name))
				}
			}
		}
	}
	for _, dir := range sorted(byDir) {
		if fault := packageComment(dir, byDir[dir]); fault != "" {
			faults = append(faults, fault)
		}
		where, name := mapFile, dir
		if chapter, rest, ok := chapterOf(dir); ok {
			where, name = chapter+"/doc.go", rest
		}
		if !names(h.texts[where], name) {
			faults = append(faults, fmt.Sprintf("%s does not name %s: give it a place there", where, name))
		}
	}
	return faults
}

// chapterRow is a line of the page of a chapter: names of packages, two spaces, what they are.
var chapterRow = regexp.MustCompile(`(?m)^//\t(\w+(?:, \w+)*)  `)

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
	if len(with) == 1 {
		return ""
	}
	return fmt.Sprintf("%s: %d package comments %v: write one, in doc.go", dir, len(with), with)
}

// names reports whether the page names the path, not merely a longer one that contains it.
func names(page, dir string) bool {
	return regexp.MustCompile(`(^|[^\w/.-])` + regexp.QuoteMeta(dir) + `(/?[^\w/-]|/?$)`).MatchString(page)
}
