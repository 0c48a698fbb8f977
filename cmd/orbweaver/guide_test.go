package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
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

// The page about other crawlers has a row for each of 66 expectations, and counts them right. Each no has its reason,
// each yes its command or page, and each flag in it exists.
func TestGuide_comparedCountsItsRows(t *testing.T) {
	text, err := os.ReadFile("../../docs/guide/compared.md")
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	eachFlag(t, func(_ *kong.Node, f *kong.Flag) { known["--"+f.Name] = true })
	count, next := map[string]int{}, 1
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(strings.Trim(strings.ReplaceAll(line, `\|`, ""), "| \n"), " | ")
		n, err := strconv.Atoi(strings.TrimSpace(cells[0]))
		if err != nil {
			continue
		}
		if n != next || len(cells) != 4 || !slices.Contains([]string{"yes", "partly", "no"}, cells[2]) {
			t.Errorf("row %d should be row %d, with four cells and yes, partly or no: %s", n, next, line)
			continue
		}
		next++
		count[cells[2]]++
		if why := cells[3]; cells[2] != "yes" && len(strings.Fields(why)) < 4 || why == "" {
			t.Errorf("row %d: %s without a reason: %q", n, cells[2], why)
		}
		for _, flag := range regexp.MustCompile(`--[a-z][a-z-]+`).FindAllString(cells[3], -1) {
			if !known[flag] {
				t.Errorf("row %d: there is no flag %s", n, flag)
			}
		}
	}
	said := regexp.MustCompile(`Of (\d+) expectations (\d+) are met, (\d+) partly, and (\d+) are not`).
		FindStringSubmatch(strings.Join(strings.Fields(string(text)), " "))
	if said == nil {
		t.Fatal("the page does not say how many expectations are met")
	}
	for i, want := range []int{66, count["yes"], count["partly"], count["no"]} {
		if said[i+1] != strconv.Itoa(want) {
			t.Errorf("the page says %q, and has %v in %d rows", said[0], count, next-1)
			break
		}
	}
	if next != 67 || count["yes"] < 52 {
		t.Errorf("%d rows, %v", next-1, count)
	}
}
