package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"orbweaver/internal/cli/command"
)

var (
	exampleBlock = regexp.MustCompile("(?s)```\n(.*?)\n```")
	wordOfOutput = regexp.MustCompile(`[A-Za-z-]{2,}`)
	varying      = regexp.MustCompile(`https?://\S+|\(\d+ warcinfo[^)]*\)`) // URLs, and the kinds of records
)

// wordsOf returns the words of a line, without figures, units, URLs and plurals.
func wordsOf(line string) (words []string) {
	for _, w := range wordOfOutput.FindAllString(varying.ReplaceAllString(line, ""), -1) {
		if !slices.Contains([]string{"KiB", "MiB", "GiB", "ms"}, w) {
			words = append(words, strings.TrimSuffix(w, "s"))
		}
	}
	return words
}

// recorded returns the recorded lines of the outputs in a page that the program must still print: the summary of a
// crawl, and the verdict on an archive.
func recorded(page string) (lines []string) {
	for _, block := range exampleBlock.FindAllStringSubmatch(page, -1) {
		inside := false
		for line := range strings.SplitSeq(block[1], "\n") {
			switch {
			case strings.HasPrefix(line, "$ "):
				inside = strings.HasPrefix(line, "$ orbweaver warc verify ")
				continue
			case strings.HasPrefix(line, "finished: "):
				inside = true
			}
			if inside {
				lines = append(lines, line)
			}
		}
	}
	return lines
}

// The outputs that README.md and the guide show have the words that the program prints. If this fails, run the commands
// of docs/guide/first-crawl.md again as they are written there, and put their outputs into both pages.
func TestGuide_outputsAreThoseOfTheProgram(t *testing.T) {
	w, dir := serve(t), t.TempDir()+"/crawl"
	r := call(w.crawl(dir, 0, "--requisites", "all")...).want(t, command.ExitDone)
	files, err := filepath.Glob(dir + "/warc/*.warc.gz")
	if err != nil {
		t.Fatal(err)
	}
	verified := call(append([]string{"warc", "verify"}, files...)...).want(t, command.ExitDone)
	var printed [][]string
	for line := range strings.SplitSeq(strings.ReplaceAll(r.err, dir, "crawl")+verified.out, "\n") {
		printed = append(printed, wordsOf(line))
	}
	for _, name := range []string{"../../README.md", "../../docs/guide/first-crawl.md"} {
		page, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		lines := recorded(string(page))
		if len(lines) < 7 {
			t.Errorf("%s: only %d lines of outputs were found", name, len(lines))
		}
		for _, line := range lines {
			words := wordsOf(line)
			is := func(p []string) bool { return slices.Equal(p, words) }
			if label := words[0]; label == "dropped" || label == "outcome" { // lists, with what there was
				is = func(p []string) bool { return len(p) > 0 && p[0] == label }
			}
			if !slices.ContainsFunc(printed, is) {
				t.Errorf("%s shows\n%s\nand the program prints\n%s%s", name, line, r.err, verified.out)
			}
		}
	}
}
