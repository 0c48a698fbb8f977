package lint

import (
	"fmt"
	"go/ast"
	"os/exec"
	"regexp"
	"strings"
	"unicode/utf8"
)

// bannedWords never stand for a process, a host or a record, and are no plain English elsewhere.
const bannedWords = `who|whom|whoever|whomever|nobody|no one|somebody|someone|anybody|anyone|everybody|everyone|
	that one|lest|anew|for good|of late|by now|but for|(?:is|are|was|were|be|has|have|had) to be|of which|of whom|
	(?:has|have|had) (?:no|a) say|whether (?:it|that|this) is so`

// metaphorWords are pictures in prose where the field has a term.
const metaphorWords = `aloft|clerks?|comers?|errands?|farewells?|graves?|heirs?|leavers?|murmurs?|newborns?|
	outcasts?|parish|rooms|shelf|strangers?|travellers?|undertakers?|vitro`

// persons are words that the first pronouns of bannedWords may follow.
const persons = `author authors contributor contributors developer developers engineer engineers maintainer
	maintainers operator operators owner owners people person reader readers user users visitor visitors webmaster
	webmasters`

const (
	columnsMost  = 120
	sentenceMost = 25
	subjectMost  = 72
)

// subjectsSince is the commit after which subjects are checked. Move it forward if a long subject has been published.
const subjectsSince = "4ab5dde"

// glossary names the words that must go, so its rows may contain them.
const glossaryFile = "docs/glossary.md"

func wordPattern(alternatives string) *regexp.Regexp {
	alternatives = strings.ReplaceAll(strings.Join(strings.Fields(alternatives), " "), "| ", "|")
	return regexp.MustCompile(`(?i)\b(?:` + strings.ReplaceAll(alternatives, " ", `\s+`) + `)\b`)
}

func findWords(h *tree) []string     { return h.findInProse(wordPattern(bannedWords)) }
func findMetaphors(h *tree) []string { return h.findInProse(wordPattern(metaphorWords)) }

// findInProse looks for a pattern in comments, in the messages of the product and its programs, and in documents.
func (h *tree) findInProse(pattern *regexp.Regexp) (faults []string) {
	look := func(file string, line int, text string) {
		for _, span := range pattern.FindAllStringIndex(text, -1) {
			word := strings.Join(strings.Fields(text[span[0]:span[1]]), " ")
			before := append([]string{""}, strings.Fields(text[:span[0]])...)
			if strings.HasPrefix(strings.ToLower(word), "who") && hasWord(persons, strings.ToLower(before[len(before)-1])) {
				continue
			}
			faults = append(faults, fmt.Sprintf("%s:%d: %q", file, line+strings.Count(text[:span[0]], "\n"), word))
		}
	}
	for _, f := range h.files {
		for _, group := range f.ast.Comments {
			look(f.path, h.fset.Position(group.Pos()).Line, group.Text())
		}
	}
	h.each(func(f *goFile, n ast.Node) {
		if text := stringOf(n); strings.Count(text, " ") >= 2 {
			look(f.path, h.fset.Position(n.Pos()).Line, text)
		}
	})
	for _, name := range h.documents() {
		look(name, 1, prose(name, h.texts[name]))
	}
	return faults
}

// documents are the Markdown files of the tree.
func (h *tree) documents() (names []string) {
	for _, name := range sorted(h.texts) {
		if strings.HasSuffix(name, ".md") && !unjudged(name) {
			names = append(names, name)
		}
	}
	return names
}

// prose is a Markdown text without code, link targets and, in the glossary, table rows. It has the same line numbers.
func prose(name, text string) string {
	var b strings.Builder
	code := regexp.MustCompile("`[^`\n]*`")
	target := regexp.MustCompile(`\]\([^)\n]*\)`)
	fenced := false
	for line := range strings.Lines(text) {
		fence := strings.HasPrefix(strings.TrimSpace(line), "```")
		if fence {
			fenced = !fenced
		}
		if !fenced && !fence && (name != glossaryFile || !strings.HasPrefix(line, "|")) {
			line = target.ReplaceAllString(code.ReplaceAllString(line, "`x`"), "]")
			b.WriteString(strings.TrimSuffix(line, "\n"))
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// findWideLines looks for lines over 120 columns in Go files and documents. Rows of Markdown tables and single long
// tokens, such as addresses, cannot be broken, nor can struct tags with help.
func findWideLines(h *tree) (faults []string) {
	helpTag := regexp.MustCompile("[` ]help:\"")
	names := h.documents()
	for _, f := range h.files {
		names = append(names, f.path)
	}
	for _, name := range names {
		for i, line := range strings.Split(h.texts[name], "\n") {
			if width := utf8.RuneCountInString(line); width > columnsMost && !strings.HasPrefix(line, "|") &&
				!helpTag.MatchString(line) && strings.Contains(strings.TrimSpace(line), " ") {
				faults = append(faults, fmt.Sprintf("%s:%d: %d columns", name, i+1, width))
			}
		}
	}
	return faults
}

// findLongSentences looks for sentences of more than 25 words in documents. Headings and table rows are no sentences.
func findLongSentences(h *tree) (faults []string) {
	item := regexp.MustCompile(`^\s*([-*+]|\d+\.)\s`)
	end := regexp.MustCompile(`[.!?]["')\]*_]*(\s|$)`)
	for _, name := range h.documents() {
		paragraph, begin := "", 0
		for i, line := range append(strings.Split(prose(name, h.texts[name]), "\n"), "") {
			line = strings.TrimRight(line, " ")
			isText := line != "" && !strings.HasPrefix(line, "#") && !strings.HasPrefix(line, "|")
			if !isText || item.MatchString(line) {
				for _, sentence := range end.Split(paragraph, -1) {
					if n := countWords(sentence); n > sentenceMost {
						start := strings.Join(strings.Fields(sentence)[:5], " ")
						faults = append(faults, fmt.Sprintf("%s:%d: %d words: %s ...", name, begin, n, start))
					}
				}
				paragraph = ""
			}
			if isText && paragraph == "" {
				begin = i + 1
			}
			if isText {
				paragraph += line + " "
			}
		}
	}
	return faults
}

// countWords counts what contains a letter or a digit.
func countWords(sentence string) (n int) {
	for word := range strings.FieldsSeq(sentence) {
		if strings.ContainsAny(strings.ToLower(word), "abcdefghijklmnopqrstuvwxyz0123456789") {
			n++
		}
	}
	return n
}

// findLongSubjects looks at the subjects of commits. Without git, or without the history, nothing is found.
func findLongSubjects(h *tree) (faults []string) {
	if !h.whole {
		return nil
	}
	shallow, err := exec.Command("git", "rev-parse", "--is-shallow-repository").Output()
	if err != nil || strings.TrimSpace(string(shallow)) != "false" {
		return nil
	}
	out, err := exec.Command("git", "log", "--format=%h %s", subjectsSince+"..HEAD").Output()
	if err != nil { // otherwise the rule would find nothing for ever
		return []string{"tools/lint/language_test.go: subjectsSince is not in the history: move it"}
	}
	return longSubjects(string(out))
}

func longSubjects(log string) (faults []string) {
	for line := range strings.Lines(log) {
		hash, subject, _ := strings.Cut(strings.TrimSpace(line), " ")
		if n := utf8.RuneCountInString(subject); n > subjectMost {
			faults = append(faults, fmt.Sprintf("%s: %d characters: %s", hash, n, subject))
		}
	}
	return faults
}
