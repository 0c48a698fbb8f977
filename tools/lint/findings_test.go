package lint

import (
	"fmt"
	"strings"
	"testing"
)

// listMost is how many findings of a rule a failure prints.
const listMost = 50

// A finding is one violation of a rule.
type finding struct {
	place string // package, document or type
	at    string // file:line
	text  string
	count int // 1, or the measured size for rules about sizes
}

// A findingRule is about words, names or structure, and holds in the whole tree.
type findingRule struct {
	name    string
	find    func(*tree) []finding
	instead string
}

func findingRules() []findingRule {
	return []findingRule{
		{"words", findWords, "docs/glossary.md has the words; name the actor, then the action"},
		{"metaphors", findMetaphors, "docs/glossary.md has the term"},
		{"names", findNames, "say what the thing is or does; docs/glossary.md has the terms"},
		{"bare-names", findBareNames, "a field is a noun, a function is a verb with an object"},
		{"line-width", findWideLines, "break the line at 120 columns"},
		{"sentences", findLongSentences, "write two sentences; 25 words are the most"},
		{"commit-subject", findLongSubjects, "72 characters are the most; the body has room"},
		{
			"package-size", findPackageSizes,
			"split it, or make it a file of its importer, or write the reason into packageReasons",
		},
		{
			"structs", findLargeStructs,
			"group fields that belong together; pass a part what it uses; a record goes into recordStructs",
		},
		{
			"pointer-cycles",
			findPointerCycles,
			"at most two struct types of a package refer to each other: use a small interface or pass the value",
		},
		{"nil-tests", findNilTests, "a collaborator is always there: use an implementation that does nothing"},
		{"promise-ids", findSharedPromises, "an id stands for one promise in the whole repository: take a free letter"},
	}
}

// testFindings reports the findings of each rule.
func testFindings(t *testing.T, h *tree) {
	for _, r := range findingRules() {
		t.Run(r.name, func(t *testing.T) {
			if fault := describeFindings(r, r.find(h)); fault != "" {
				t.Error(fault)
			}
		})
	}
}

// describeFindings says what to do and lists the places; "" if there are none.
func describeFindings(r findingRule, findings []finding) string {
	if len(findings) == 0 {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %d findings: %s.", r.name, len(findings), r.instead)
	for i, f := range findings {
		if i == listMost {
			fmt.Fprintf(&b, "\n\tand %d more", len(findings)-listMost)
			break
		}
		fmt.Fprintf(&b, "\n\t%s: %s", f.at, f.text)
	}
	return b.String()
}
