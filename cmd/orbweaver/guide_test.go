package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
)

// guidePages reads the pages of the guide, and README.md.
func guidePages(t *testing.T) map[string]string {
	t.Helper()
	names, err := filepath.Glob("../../docs/guide/*.md")
	if err != nil || len(names) < 10 {
		t.Fatal(names, err)
	}
	pages := make(map[string]string)
	for _, name := range append(names, "../../README.md") {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		pages[name] = string(text)
	}
	return pages
}

var (
	codeSpan    = regexp.MustCompile("`([^`\n]+)`")
	commandLine = regexp.MustCompile(`(?m)^[$#] ((?:.*\\\n)*.*)$`)
	ownProgram  = regexp.MustCompile(`(?:^|[|&] |sudo |-u orbweaver |-rm )orbweaver (.*)`)
	endOfArgs   = regexp.MustCompile(`[|>;]|&&`)
	quotedText  = regexp.MustCompile(`'[^']*'|"[^"]*"`)
)

// commandsIn returns the arguments of each orbweaver in a page, from its code spans and its examples.
func commandsIn(page string) (all [][]string) {
	var lines []string
	for _, m := range codeSpan.FindAllStringSubmatch(page, -1) {
		lines = append(lines, m[1])
	}
	for _, m := range commandLine.FindAllStringSubmatch(page, -1) {
		lines = append(lines, strings.ReplaceAll(m[1], "\\\n", " "))
	}
	for _, line := range lines {
		m := ownProgram.FindStringSubmatch(quotedText.ReplaceAllString(line, "TEXT"))
		if m == nil || strings.HasPrefix(line, "podman build") {
			continue
		}
		args := m[1]
		if end := endOfArgs.FindStringIndex(args); end != nil {
			args = args[:end[0]]
		}
		all = append(all, strings.Fields(args))
	}
	return all
}

// unknownIn returns the word of a command line that no command or flag has; "" if there is none.
func unknownIn(root *kong.Node, args []string) string {
	at, flags := root, slices.Clone(root.Flags)
	for _, word := range args {
		word = strings.TrimRight(word, ",.:")
		if name, isFlag := strings.CutPrefix(word, "--"); isFlag && name != "" {
			name, _, _ = strings.Cut(name, "=")
			if !slices.ContainsFunc(flags, func(f *kong.Flag) bool { return f.Name == name }) {
				return at.FullPath() + " " + word
			}
			continue
		}
		next := slices.IndexFunc(at.Children, func(n *kong.Node) bool { return n.Name == word })
		if next >= 0 {
			at = at.Children[next]
			flags = append(flags, at.Flags...)
		} else if at == root {
			return word
		}
	}
	return ""
}

// Each command that the guide names exists, with the flags that it is given.
func TestGuide_namesCommandsThatExist(t *testing.T) {
	parser, err := kong.New(newCLI())
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for name, page := range guidePages(t) {
		for _, args := range commandsIn(page) {
			found++
			if word := unknownIn(parser.Model.Node, args); word != "" {
				t.Errorf("%s: orbweaver %s: there is no %s", name, strings.Join(args, " "), word)
			}
		}
	}
	if found < 100 {
		t.Errorf("only %d commands were found", found)
	}
}

// The page about other crawlers says of each expectation that is not met why, and names only flags that there are.
func TestGuide_comparedGivesReasons(t *testing.T) {
	text, err := os.ReadFile("../../docs/guide/compared.md")
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	eachFlag(t, func(_ *kong.Node, f *kong.Flag) { known["--"+f.Name] = true })
	rows := regexp.MustCompile(`(?m)^\| .* \| (?:no|partly) \| (.*) \|$`).FindAllStringSubmatch(string(text), -1)
	for _, row := range rows {
		if len(strings.Fields(row[1])) < 4 {
			t.Errorf("a row without a reason: %q", row[0])
		}
		for _, flag := range regexp.MustCompile(`--[a-z][a-z0-9-]+`).FindAllString(row[1], -1) {
			if !known[flag] {
				t.Errorf("there is no flag %s: %q", flag, row[0])
			}
		}
	}
	if len(rows) != 10 || !strings.Contains(string(text), "Of 66 expectations") {
		t.Errorf("%d rows: correct the number of those that are met", len(rows))
	}
}
