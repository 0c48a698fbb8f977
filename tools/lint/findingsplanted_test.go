package lint

import (
	"maps"
	"strings"
	"testing"
)

// texts of findings in a small tree with one more file.
func findingsIn(t *testing.T, find func(*tree) []finding, file, text string) (found []string) {
	t.Helper()
	texts := sound()
	maps.Copy(texts, map[string]string{file: text})
	for _, f := range find(plant(t, texts)) {
		if f.count < 1 || f.place == "" || f.at == "" {
			t.Errorf("incomplete finding %+v", f)
		}
		found = append(found, f.text)
	}
	return found
}

func TestSoundTreeHasNoFindings(t *testing.T) {
	h := plant(t, sound())
	for _, r := range findingRules() {
		for _, f := range r.find(h) {
			t.Errorf("%s: %+v", r.name, f)
		}
	}
}

// Each rule finds what is planted, and nothing else in the file.
func TestPlantedFindings(t *testing.T) {
	for _, c := range []struct {
		find func(*tree) []finding
		file string
		text string
		want string // the texts of all findings, joined by " | "
	}{
		{findWords, "sieve/a.go",
			"package p\n\n// f calls whoever waits, for\n// good.\nfunc f() {}\n", `"whoever" | "for good"`},
		{findWords, "sieve/a_test.go", "package p\n\n// The agent that is to be asked.\n", `"is to be"`},
		{findWords, "sieve/a.go", "package p\n\nvar err = \"p: nobody answers now\"\n", `"nobody"`},
		{findWords, "sieve/a.go", "package p\n\ntype t struct {\n\tF int `help:\"Ask those who answer.\"`\n}\n", `"who"`},
		{findWords, "docs/a.md",
			"The operator who starts it. An agent who leaves.\n`nobody`\n```\nnobody here\n```\n", `"who"`},
		{findMetaphors, "docs/a.md", "The undertaker of all rooms.\n", `"undertaker" | "rooms"`},
		{findNames, "sieve/calm.go", "package p\n", "calm"},
		{findNames, "sieve/a.go", "package p\n\ntype Undertaker struct{ newErrand int }\n", "Undertaker | newErrand"},
		{findNames, "sieve/a.go",
			"package p\n\ntype a interface{ LetterOf(letter int) }\n\nfunc borrowHTTP(loan int) {}\n", "LetterOf | borrowHTTP"},
		{findBareNames, "sieve/a.go", "package p\n\ntype a struct{ told, toldAgents int }\n", "field told"},
		{findBareNames, "sieve/a.go",
			"package p\n\nfunc (a) settle() {}\n\nfunc (b) settle() {}\n", "func settle, as at sieve/a.go:3"},
		{findWideLines, "sieve/a.go", "package p\n\n// " + strings.Repeat("ab ", 40) + "\n", "123 columns"},
		{findWideLines, "docs/a.md", strings.Repeat("ab ", 40) + "x\n", "121 columns"},
		{findLongSentences, "docs/a.md",
			strings.Repeat("a b. ", 20) + "It\n" + strings.Repeat("is so ", 13) + "end.\n", "28 words: It is so is so ..."},
		{findPackageSizes, "sieve/a.go",
			"package p\n" + strings.Repeat("\n", 6000), "6001 lines, at most 6000"},
		{findPackageSizes, "engine/a.go",
			"package engine\n\nimport \"orbweaver/sieve/small\"\n" + strings.Repeat("\n", 1598), "1601 lines, at most 1600"},
		{findLargeStructs, "sieve/a.go",
			"package p\n\ntype a struct{ " + strings.Repeat("a, ", 24) + "b int; e }\n\ntype e struct{ c int }\n",
			"26 fields, at most 25"},
		{findPointerCycles, "sieve/a.go",
			"package p\n\ntype a struct{ x []*b }\ntype b struct{ x m }\ntype m map[int]atomic.Pointer[c]\n" +
				"type c struct{ x *a }\n",
			"in a cycle: a b c | in a cycle: a b c | in a cycle: a b c"},
		{findNilTests, "sieve/a.go",
			collaborators + "func (u *user) f() bool { return u.p != nil || u.i == nil }\n", "u.p != nil | u.i == nil"},
		{findNilTests, "sieve/a.go", collaborators + "func (p *part) f() bool { return p == nil }\n", "p == nil"},
		{findSharedPromises, "sieve/doc.go",
			"// Package sieve is new.\n//\n//   - D1: once.\n//   - S1: D1 holds.\npackage p\n",
			"D1 is a promise of dnsres and sieve | D1 is a promise of dnsres and sieve"},
	} {
		if got := strings.Join(findingsIn(t, c.find, c.file, c.text), " | "); got != c.want {
			t.Errorf("%s: %s\n\tgot  %s\n\twant %s", c.file, c.text, got, c.want)
		}
	}
}

// collaborators are types for the tests of nil: user has a part and an interface that is set once.
const collaborators = `package p

import "net"

type i interface{ g() }
type part struct{ next *part }
func (p *part) g() {}
type user struct { p *part; i i; conn net.Conn; now *part; Options *part; number *int }
`

// What looks like a finding and is none.
func TestHonestFindings(t *testing.T) {
	for _, c := range []struct {
		find func(*tree) []finding
		file string
		text string
	}{
		{findWords, "sieve/a.go", "package p\n\nvar a = \"who\" // the WHOIS server\n"},
		{findWords, "sieve/a_test.go", "package p\n\nvar a = \"a test for nobody at all\"\n"},
		{findWords, glossaryFile, "| agent | a process | one, who, nobody |\n"},
		{findNames, "sieve/a.go", "package p\n\ntype letterhead struct{ calmly int }\n"},
		{findBareNames, "sieve/a.go", "package p\n\nfunc settle() {}\n\nfunc settleAll(told int) {}\n"},
		{findWideLines, "docs/a.md", "| " + strings.Repeat("ab ", 60) + "|\n" + strings.Repeat("a", 130) + "\n"},
		{findLongSentences, "docs/a.md",
			"# " + strings.Repeat("a ", 30) + "\n- " + strings.Repeat("a ", 20) + "\n- " + strings.Repeat("b ", 20) + "\n"},
		{findPointerCycles, "sieve/a.go",
			"package p\n\ntype a struct{ x *b }\ntype b struct{ x *a; f func(c) }\ntype c struct{ x *a }\n"},
		{findNilTests, "sieve/a.go", collaborators + "func (p *part) f() bool { return p.next != nil }\n" +
			"func (u *user) f() bool { u.now = nil; return u.conn != nil || u.now != nil || " +
			"u.Options == nil || u.number == nil }\n"},
	} {
		for _, found := range findingsIn(t, c.find, c.file, c.text) {
			t.Errorf("%s: %s\n\tfound %s", c.file, c.text, found)
		}
	}
	if long := longSubjects("1234567 area: short\n89abcde area: " + strings.Repeat("x", 67) + "\n"); len(long) != 1 ||
		long[0].at != "89abcde" {
		t.Errorf("got %v, want the second commit", long)
	}
}

// A failure lists the places and says what to write instead. It does not grow without bound.
func TestFindingsAreDescribed(t *testing.T) {
	r := findingRule{name: "words", instead: "say it plainly"}
	if fault := describeFindings(r, nil); fault != "" {
		t.Errorf("no finding: %q", fault)
	}
	many := make([]finding, listMost+3)
	for i := range many {
		many[i] = finding{"sieve", "sieve/a.go:1", `"lest"`, 1}
	}
	fault := describeFindings(r, many)
	if !strings.Contains(fault, "say it plainly") || !strings.HasSuffix(fault, "and 3 more") ||
		strings.Count(fault, "sieve/a.go:1") != listMost {
		t.Errorf("got %q", fault)
	}
}

// A flag in a message that no command has is a fault; one that a command has, and those of others, are none.
func TestNamedFlagsExist(t *testing.T) {
	texts := sound()
	texts[flagsFile] = ": --help\ncrawl: --max-pages\n"
	texts["cmd/orbweaver/cli.go"] = "package main\n\ntype cli struct {\n\tMaxPages int `help:\"See --max-page.\"`\n}\n\n" +
		"func f() string { return \"raise --max-pages, or give --no-max-pages; see --help, and a--b\" }\n"
	if got := checkNamedFlags(plant(t, texts)); len(got) != 1 || !strings.Contains(got[0], "--max-page is no flag") {
		t.Errorf("faults: %q", got)
	}
}
