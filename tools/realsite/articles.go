package main

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// article is a text that an application is filled with: a page of Git's documentation or the notes of one of its
// releases. The text is as the package has it, apart from the marks of headings and links, which each application
// writes in its own way.
type article struct {
	Title   string    `json:"title"` // of Git's pages the name, such as git-add
	Group   string    `json:"group"`
	Date    time.Time `json:"date"`
	Text    string    `json:"text"`
	parts   []string  // its paragraphs
	heading map[int]bool
}

const revisions = 3 // of each article: the first two end after a third and two thirds of the text

var (
	gitLink   = regexp.MustCompile(`linkgit:([a-z0-9-]+)\[\d\]`)
	underline = regexp.MustCompile(`^[=~^-]{4,}$`)
	release   = regexp.MustCompile(`^(\d+)\.(\d+)\.(\d+)`)
)

// manual reads the pages of Git's documentation that are whole ones, at most so many.
func (r *packages) manual(most int) ([]*article, error) {
	names, err := filepath.Glob(filepath.Join(r.root, "usr/share/doc/git-doc/git*.txt"))
	if err != nil || len(names) < 100 {
		return nil, fmt.Errorf("git-doc has %d texts: %w", len(names), err)
	}
	var of []*article
	for _, name := range names[:min(len(names), most)] {
		text, err := os.ReadFile(name) //nolint:gosec // a file of the package
		if err != nil {
			return nil, err
		}
		a := parse(strings.TrimSuffix(filepath.Base(name), ".txt"), string(text))
		a.Group = cmp.Or(map[bool]string{true: "Plumbing"}[strings.Contains(string(text), "-tree")], "Porcelain")
		of = append(of, a)
	}
	return of, nil
}

// releases reads the notes of Git's releases, oldest first, each with a day of its own.
func (r *packages) releases() ([]*article, error) {
	names, err := filepath.Glob(filepath.Join(r.root, "usr/share/doc/git/RelNotes/*.txt"))
	if err != nil || len(names) < 100 {
		return nil, fmt.Errorf("git has notes of %d releases: %w", len(names), err)
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Compare(version(a), version(b)) })
	var of []*article
	for i, name := range names {
		text, err := os.ReadFile(name) //nolint:gosec // a file of the package
		if err != nil {
			return nil, err
		}
		title := "Git " + strings.TrimSuffix(filepath.Base(name), ".txt")
		a := parse(title, string(text))
		a.Group = "Git " + strings.Join(strings.SplitN(strings.TrimPrefix(title, "Git "), ".", 3)[:2], ".")
		a.Date = time.Date(2010, 1, 1, 12, 0, 0, 0, time.UTC).AddDate(0, 0, 9*i)
		of = append(of, a)
	}
	return of, nil
}

func version(name string) (n int) {
	for _, part := range release.FindStringSubmatch(filepath.Base(name)) {
		var v int
		if _, err := fmt.Sscanf(part, "%d", &v); err == nil && !strings.Contains(part, ".") {
			n = n*1000 + v
		}
	}
	return n
}

// parse splits a text into its paragraphs and headings.
func parse(title, text string) *article {
	a := &article{Title: title, heading: map[int]bool{}}
	text = strings.NewReplacer("{", "(", "}", ")", "<", "(", ">", ")", "|", "/").Replace(text)
	for _, part := range strings.Split(text, "\n\n") {
		part = strings.TrimSpace(part)
		if above, below, found := strings.Cut(part, "\n"); found {
			rule, rest, _ := strings.Cut(below, "\n")
			if underline.MatchString(rule) {
				a.heading[len(a.parts)] = true
				a.parts = append(a.parts, above)
				part = rest
			}
		}
		if part != "" {
			a.parts = append(a.parts, part)
		}
	}
	a.Text = a.revision(revisions-1, func(s string) string { return s }, func(s string) string { return s })
	return a
}

// revision is the text of a revision, with links and headings written by the functions.
func (a *article) revision(i int, link, heading func(string) string) string {
	var out []string
	for at, part := range a.parts[:max(1, len(a.parts)*(i+1)/revisions)] {
		if a.heading[at] {
			part = heading(part)
		}
		out = append(out,
			gitLink.ReplaceAllStringFunc(part, func(l string) string { return link(gitLink.FindStringSubmatch(l)[1]) }))
	}
	return strings.Join(out, "\n\n")
}
