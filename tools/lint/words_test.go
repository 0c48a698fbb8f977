package lint

import (
	"fmt"
	"path"
	"regexp"
	"strings"
)

// unfinished are words that do not enter the tree. They are spelt in two halves, since this file is part of the tree.
func unfinished() map[*regexp.Regexp]string {
	words := map[string]string{
		`(^|[^\w.|])(TO` + `DO|FIX` + `ME|XX` + `X)\b`:       "do it, or say in the documentation why not",
		`(^|[\s"'=:(\x60])/(wo` + `rk|ro` + `ot|ho` + `me)/`: "a path of a machine: use one from the root of the tree",
		`(^|[\s"'=:(\x60/])shar` + `ed/`:                     "a path outside of the tree: say the thing here",
	}
	patterns := make(map[*regexp.Regexp]string)
	for word, instead := range words {
		patterns[regexp.MustCompile(word)] = instead
	}
	return patterns
}

// unjudged are files whose text is not ours to choose.
func unjudged(name string) bool {
	base := path.Base(name)
	return base == "LICENSE" || base == "go.sum" || strings.Contains("/"+name, "/testdata/")
}

func checkUnfinished(h *tree) (faults []string) {
	words := unfinished()
	for _, name := range sorted(h.texts) {
		if unjudged(name) {
			continue
		}
		number := 0
		for line := range strings.Lines(h.texts[name]) {
			number++
			for word, instead := range words {
				if found := word.FindString(line); found != "" {
					faults = append(faults, fmt.Sprintf("%s:%d: %q: %s", name, number, strings.TrimSpace(found), instead))
				}
			}
		}
	}
	return faults
}

// Names that the documentation uses must exist: paths, make targets, exported names of our packages. The changelog and
// the decision records speak about the past as well, so only the others are held to it.
func isDoc(name string) bool {
	return strings.HasSuffix(name, ".md") && !unjudged(name) && name != "CHANGELOG.md" &&
		!strings.HasPrefix(name, "docs/adr/")
}

func checkDocs(h *tree) (faults []string) {
	dirs := h.directories()
	targets := makeTargets(h.texts["Makefile"])
	members := h.members()
	link := regexp.MustCompile(`\]\(([^)#\s]+)[^)]*\)`)
	for _, name := range sorted(h.texts) {
		if !strings.HasSuffix(name, ".md") || unjudged(name) {
			continue
		}
		number, fenced := 0, false
		for line := range strings.Lines(h.texts[name]) {
			number++
			where := fmt.Sprintf("%s:%d: ", name, number)
			for _, m := range link.FindAllStringSubmatch(line, -1) {
				if !strings.Contains(m[1], ":") && !h.exists(path.Join(path.Dir(name), m[1]), dirs) {
					faults = append(faults, where+"links to "+m[1]+", which does not exist")
				}
			}
			if !isDoc(name) {
				continue
			}
			if strings.HasPrefix(strings.TrimSpace(line), "```") {
				fenced = !fenced
				continue
			}
			for _, span := range spans(line, fenced) {
				if fault := h.judgeSpan(span, path.Dir(name), dirs, targets, members); fault != "" {
					faults = append(faults, where+fault)
				}
			}
		}
	}
	return faults
}

// spans returns what a line of Markdown holds between backticks; of a line of a fenced block, the command.
func spans(line string, fenced bool) (found []string) {
	if fenced {
		command := strings.TrimPrefix(strings.TrimSpace(line), "$ ")
		if strings.HasPrefix(command, "make ") {
			command, _, _ = strings.Cut(command, "#")
			return []string{strings.TrimSpace(command)}
		}
		return nil
	}
	for i, part := range strings.Split(line, "`") {
		if i%2 == 1 {
			found = append(found, part)
		}
	}
	return found
}

// judgeSpan returns a fault if the words in backticks look like one of our names and there is no such thing.
func (h *tree) judgeSpan(
	span, from string, dirs, targets map[string]bool, members memberNames,
) string {
	if strings.HasPrefix(span, "make ") {
		for command := range strings.SplitSeq(span, "&&") {
			rest, _ := strings.CutPrefix(strings.TrimSpace(command), "make ")
			for word := range strings.FieldsSeq(rest) {
				if regexp.MustCompile(`^[a-z]+$`).MatchString(word) && !targets[word] {
					return fmt.Sprintf("`%s`: the Makefile has no target %s", span, word)
				}
			}
		}
		return ""
	}
	if m := regexp.MustCompile(`^\*?([a-z]\w*)\.([A-Z]\w*)(\.[A-Za-z]\w*)?(\(.*\))?$`).FindStringSubmatch(span); m != nil {
		if known, ours := members[m[1]]; ours && !known[m[2]] {
			return fmt.Sprintf("`%s`: package %s has no %s", span, m[1], m[2])
		}
		return ""
	}
	if !regexp.MustCompile(`^(\./)?[\w.-]+(/[\w.-]+)*/?$`).MatchString(span) {
		return ""
	}
	name := path.Clean(span)
	first, _, nested := strings.Cut(name, "/")
	switch {
	case built(first), nested && !dirs[first] && !sourceName(name),
		!nested && !sourceName(name) && !strings.HasSuffix(span, "/"):
		return ""
	case h.exists(name, dirs), h.exists(path.Join(from, name), dirs), !nested && h.existsSomewhere(name):
		return ""
	case strings.HasSuffix(span, "/") && !nested && !dirs[first]:
		return "" // a directory that the program makes
	}
	return fmt.Sprintf("`%s`: there is no such file or directory", span)
}

// sourceName reports whether the name ends like a file that belongs to the tree and not to a crawl.
func sourceName(name string) bool {
	switch path.Ext(name) {
	case ".go", ".md", ".sh":
		return true
	}
	return false
}

func (h *tree) exists(name string, dirs map[string]bool) bool {
	_, file := h.texts[name]
	return file || dirs[name] || name == "."
}

func (h *tree) existsSomewhere(base string) bool {
	for name := range h.texts {
		if path.Base(name) == base {
			return true
		}
	}
	return false
}

// directories are all directories that hold a file, at any depth.
func (h *tree) directories() map[string]bool {
	dirs := make(map[string]bool)
	for name := range h.texts {
		for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
			dirs[dir] = true
		}
	}
	return dirs
}

// makeTargets are the targets that a Makefile defines.
func makeTargets(makefile string) map[string]bool {
	targets := make(map[string]bool)
	for _, m := range regexp.MustCompile(`(?m)^([a-z][a-z ]*):([^=]|$)`).FindAllStringSubmatch(makefile, -1) {
		for target := range strings.FieldsSeq(m[1]) {
			targets[target] = true
		}
	}
	return targets
}
