package lint

import (
	"fmt"
	"go/ast"
	"go/token"
	"os/exec"
	"regexp"
	"strconv"
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

func findWords(h *tree) []finding     { return h.findInProse(wordPattern(bannedWords)) }
func findMetaphors(h *tree) []finding { return h.findInProse(wordPattern(metaphorWords)) }

// findInProse looks for a pattern in comments, in the messages of the product and its programs, and in documents.
func (h *tree) findInProse(pattern *regexp.Regexp) (findings []finding) {
	look := func(place, file string, line int, text string) {
		for _, span := range pattern.FindAllStringIndex(text, -1) {
			word := text[span[0]:span[1]]
			if strings.HasPrefix(strings.ToLower(word), "who") && hasWord(persons, strings.ToLower(lastWord(text[:span[0]]))) {
				continue
			}
			at := file + ":" + strconv.Itoa(line+strings.Count(text[:span[0]], "\n"))
			findings = append(findings, finding{place, at, strconv.Quote(strings.Join(strings.Fields(word), " ")), 1})
		}
	}
	for _, f := range h.files {
		for _, group := range f.ast.Comments {
			look(f.dir, f.path, h.fset.Position(group.Pos()).Line, group.Text())
		}
		if f.test {
			continue
		}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			literal, ok := n.(*ast.BasicLit)
			if !ok || literal.Kind != token.STRING || strings.Count(literal.Value, " ") < 2 {
				return true
			}
			if text, err := strconv.Unquote(literal.Value); err == nil {
				look(f.dir, f.path, h.fset.Position(literal.Pos()).Line, text)
			}
			return true
		})
	}
	for _, name := range h.documents() {
		look(name, name, 1, prose(name, h.texts[name]))
	}
	return findings
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

func lastWord(text string) string {
	words := strings.Fields(text)
	if len(words) == 0 {
		return ""
	}
	return words[len(words)-1]
}

// findWideLines looks for lines over 120 columns in Go files and documents. Rows of Markdown tables and single long
// tokens, such as addresses, cannot be broken, nor can struct tags with help.
func findWideLines(h *tree) (findings []finding) {
	helpTag := regexp.MustCompile("[` ]help:\"")
	look := func(place, name string, text string) {
		number := 0
		for line := range strings.Lines(text) {
			number++
			line = strings.TrimRight(line, "\r\n")
			width := utf8.RuneCountInString(line)
			if width <= columnsMost || strings.HasPrefix(line, "|") || helpTag.MatchString(line) ||
				!strings.Contains(strings.TrimSpace(line), " ") {
				continue
			}
			findings = append(findings, finding{place, fmt.Sprintf("%s:%d", name, number), fmt.Sprintf("%d columns", width), 1})
		}
	}
	for _, f := range h.files {
		look(f.dir, f.path, h.texts[f.path])
	}
	for _, name := range h.documents() {
		look(name, name, h.texts[name])
	}
	return findings
}

// findLongSentences looks for sentences of more than 25 words in documents. Headings and table rows are no sentences.
func findLongSentences(h *tree) (findings []finding) {
	item := regexp.MustCompile(`^\s*([-*+]|\d+\.)\s`)
	end := regexp.MustCompile(`[.!?]["')\]*_]*(\s|$)`)
	for _, name := range h.documents() {
		var paragraph []string
		begin, number := 0, 0
		finish := func() {
			text := strings.Join(paragraph, " ")
			paragraph = nil
			for _, sentence := range end.Split(text, -1) {
				if n := countWords(sentence); n > sentenceMost {
					words := strings.Fields(sentence)
					findings = append(
						findings,
						finding{
							name,
							fmt.Sprintf("%s:%d", name, begin),
							fmt.Sprintf("%d words: %s ...", n, strings.Join(words[:5], " ")),
							1,
						},
					)
				}
			}
		}
		for line := range strings.Lines(prose(name, h.texts[name])) {
			number++
			trimmed := strings.TrimSpace(line)
			if trimmed == "" || strings.HasPrefix(trimmed, "#") || strings.HasPrefix(trimmed, "|") || item.MatchString(line) {
				finish()
			}
			if trimmed == "" || strings.HasPrefix(trimmed, "#") || strings.HasPrefix(trimmed, "|") {
				continue
			}
			if len(paragraph) == 0 {
				begin = number
			}
			paragraph = append(paragraph, trimmed)
		}
		finish()
	}
	return findings
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
func findLongSubjects(h *tree) (findings []finding) {
	if !h.whole {
		return nil
	}
	shallow, err := exec.Command("git", "rev-parse", "--is-shallow-repository").Output()
	if err != nil || strings.TrimSpace(string(shallow)) != "false" {
		return nil
	}
	out, err := exec.Command("git", "log", "--format=%h %s", subjectsSince+"..HEAD").Output()
	if err != nil { // otherwise the rule would find nothing for ever
		return []finding{{"git", "tools/lint/language_test.go", "subjectsSince is not in the history: move it", 1}}
	}
	return longSubjects(string(out))
}

func longSubjects(log string) (findings []finding) {
	for line := range strings.Lines(log) {
		hash, subject, _ := strings.Cut(strings.TrimSpace(line), " ")
		if n := utf8.RuneCountInString(subject); n > subjectMost {
			findings = append(findings, finding{"git", hash, fmt.Sprintf("%d characters: %s", n, subject), 1})
		}
	}
	return findings
}
