package filter

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"orbweaver/internal/cputime"
)

// Expressions that are invalid, too long or too deep, or that could take very long for some URLs, are refused quickly
// when they are compiled. (--dry-run shows what an expression matches; there is no confirmation for one that matches
// everything.)
func TestHostile_A04_badAndDearExpressionsAreRefusedAtOnce(t *testing.T) {
	long := strings.Repeat
	for name, text := range map[string]string{
		"no expression":           "host ==",
		"an unknown name":         "hots == 'a.test'",
		"no answer":               "path",
		"a number":                "depth + 1",
		"too long":                "host == '" + long("a", 64<<10) + "'",
		"too many nodes":          long("not ", 12_000) + "seed",
		"brackets that stay open": long("(", 60_000),
		"deep lists":              long("[", 30_000),
		"many terms":              "seed" + long(" and seed", 7000),
		"no RE2":                  `path matches "(a+)+\\1"`,
		"a look behind":           `path matches "(?<=a)b"`,
		"a pattern too large":     `path matches "((((a{1000}){1000}){1000}){1000})"`,
		"a stranger's pattern":    `host matches path`,
		"a loop in a loop":        `all(1..9000, all(1..9000, # > 0))`,
		"a loop in a list":        `any(split(path, "/"), any(split(query, "&"), # == "a"))`,
		"growing text":            `len(replace(path, "a", path)) > 5`,
		"growing by a letter":     `len(replace(path, "a", "bb")) > 5`,
		"repeated text":           `len(repeat(path, 999999)) > 5`,
		"doubled text":            `let a = url + url; ` + doubling("a", 30) + ` > 5`,
		"reduced text":            `len(reduce(1..60, #acc + #acc, path)) > 5`,
		"the time":                `now().Year() > 5`,
	} {
		var err error
		cost := cputime.Cost(3, compileLimit, func() { _, err = CompileScope(text, nil) }, cputime.Reference)
		if !errors.Is(err, ErrExpression) {
			t.Errorf("%s: %.200v", name, err)
		}
		if cost > compileLimit {
			t.Errorf("%s: refused after %.0f million steps of a hash", name, cost)
		}
	}
}

// Brackets cost nothing, however many; their content counts.
func TestHostile_A04_bracketsCostNothing(t *testing.T) {
	f, err := CompileScope(strings.Repeat("(", 30_000)+"seed"+strings.Repeat(")", 30_000), nil)
	if err != nil || !f.Admits([]byte("http://a.test/"), Way{}) {
		t.Error(err)
	}
}

// doubling returns let b = a + a; let c = b + b; ... and the length of the last one.
func doubling(name string, times int) string {
	var b strings.Builder
	for i := range times {
		next := fmt.Sprintf("x%d", i)
		fmt.Fprintf(&b, "let %s = %s + %s; ", next, name, name)
		name = next
	}
	return b.String() + "len(" + name + ")"
}

// Patterns that take exponential time in other engines, and the most expensive allowed expressions, with URLs made for
// them: a URL of twice the length takes about twice the time.
func TestHostile_A04_evaluationIsLinear(t *testing.T) {
	for _, text := range []string{
		`path matches "^(a+)+$"`, `path matches "^(a|aa)+$"`, `path matches "^(a|a?)+$"`, `path matches "(.*a){20}b"`,
		`path matches "(.*)(.*)(.*)(.*)(.*)x$"`,
		`url + url + url + url contains "b?b"`, `len(replace(path, "a", "b")) == 5`, `any(split(path, ""), # == "x")`,
		`all(1..9999, # > 0) and path endsWith "x"`,
	} {
		f, err := CompileFetch(text, nil)
		if err != nil {
			t.Fatal(err)
		}
		answer := func(size int) func() {
			url := []byte("http://a.test/" + strings.Repeat("a", size) + "!")
			return func() { f.Allows(url, Way{}, 0, nil) }
		}
		if grows := cputime.Growth(10, 24, answer(8000), answer(1000)); grows > 24 {
			t.Errorf("%s: 8 KB cost %.1f times as much as 1 KB", text, grows)
		}
		if cost := cputime.Cost(10, evaluateLimit, answer(8000), cputime.Reference); cost > evaluateLimit {
			t.Errorf("%s: %.0f million steps of a hash for a URL", text, cost)
		}
	}
}

// A list beyond its budget makes the evaluation fail, which is counted; the cautious answer is used.
func TestHostile_A04_listsHaveABudget(t *testing.T) {
	f, err := CompileFetch(`len(filter(0..depth, # >= 0)) > 0`, nil)
	if err != nil {
		t.Fatal(err)
	}
	url := []byte("http://a.test/")
	if !f.Allows(url, Way{Depth: 100}, 0, nil) || f.Errors() != 0 {
		t.Errorf("a short list fails: %d", f.Errors())
	}
	if f.Allows(url, Way{Depth: 1 << 30}, 0, nil) || f.Errors() != 1 {
		t.Errorf("a long list is allowed: %d errors", f.Errors())
	}
}
