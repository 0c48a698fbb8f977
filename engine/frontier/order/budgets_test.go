package order

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

// read reads the text of a file of budgets.
func read(t *testing.T, text string) Budgets {
	t.Helper()
	b, err := ReadBudgets("b.tsv", strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// Domains are brought into their normal form; comments, blanks and the kinds of line ends are those of other lists.
func TestReadBudgets(t *testing.T) {
	b := read(t, "\ufeff# ranks of May\r\n\r\nExample.ORG\t12.5\r\n"+
		"b\u00fccher.example  1e3 # good\r\n192.0.2.7\t0.001\r\ngov.uk\t2")
	want := map[string]float64{"example.org": 12.5, "xn--bcher-kva.example": 1000, "192.0.2.7": 0.001, "gov.uk": 2}
	if len(b) != len(want) {
		t.Errorf("%v", b)
	}
	for name, weight := range want {
		if b[name] != uint32(weight*weightUnit) {
			t.Errorf("%s has %d", name, b[name])
		}
	}
}

// Each bad line is named with its place and what is expected.
func TestReadBudgets_refusesBadLines(t *testing.T) {
	for line, says := range map[string]string{
		"example.org":                     "write a domain, a tab and its weight",
		"example.org\t1\t2":               "write a domain, a tab and its weight",
		"\x00\x01 \xff":                   "bad budget",
		"http://example.org/\t1":          `is not a domain, such as example.org`,
		"example.org/a\t1":                "is not a domain",
		".example.org\t1":                 "is a host of the domain example.org",
		"www.example.org\t1":              "is a host of the domain example.org: write that",
		"a.test\t1":                       `"a.test" is there already`,
		"A.TEST\t1":                       "is there already",
		"com\t3":                          `"com" is no domain, but what domains end in`,
		"CO\t3":                           "is no domain, but what",
		"example.org\t1_0":                "write a weight from",
		"example.org\t0x1p4":              "write a weight from",
		"example.org\t0":                  "write a weight from 0.001 to 1000000",
		"example.org\t-1":                 "write a weight from",
		"example.org\tNaN":                "write a weight from",
		"example.org\tInf":                "write a weight from",
		"example.org\t1000001":            "write a weight from",
		"example.org\t1,5":                "write a weight from",
		strings.Repeat("a", 2000) + "\t1": "longer than 1024 bytes",
	} {
		_, err := ReadBudgets("b.tsv", strings.NewReader("# two good lines\na.test\t1\n"+line+"\nb.test\t2\n"))
		if err == nil || !strings.Contains(err.Error(), "b.tsv:3: ") || !strings.Contains(err.Error(), says) ||
			!errors.Is(err, ErrBudget) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%.50q: %v", line, err)
		}
	}
}

// A file without a domain is not the one that was meant.
func TestReadBudgets_refusesAnEmptyFile(t *testing.T) {
	for _, text := range []string{"", "\n", "# example.org\t1\n\n \t\n", "\ufeff"} {
		_, err := ReadBudgets("b.tsv", strings.NewReader(text))
		if !errors.Is(err, ErrBudget) || !strings.Contains(err.Error(), "b.tsv: bad budget: no line has") {
			t.Errorf("%q: %v", text, err)
		}
	}
	if b := read(t, "localhost\t1\nco.uk\t2\n"); len(b) != 2 {
		t.Errorf("%v", b) // graph rank writes what has pages, and names of hosts may be public suffixes
	}
}

// endless is a file without an end.
type endless struct{ n int }

func (e *endless) Read(b []byte) (int, error) {
	e.n++
	return copy(b, fmt.Sprintf("d%d.test\t1\n", e.n)), nil
}

// A file has a bound, at which reading ends; and some twenty faults are told.
func TestReadBudgets_isBounded(t *testing.T) {
	if b, err := ReadBudgets("b.tsv", new(endless)); !errors.Is(err, errManyBudgets) || len(b) != BudgetsMost {
		t.Errorf("%d: %v", len(b), err)
	}
	_, err := ReadBudgets("b.tsv", strings.NewReader(strings.Repeat("x\n", 1000)))
	if n := strings.Count(err.Error(), "\n") + 1; n != budgetFaultsTold {
		t.Errorf("%d faults", n)
	}
}

// A budget replaces the number of domains that link to a domain, also for what was learned in an earlier run. Another
// domain has its own number.
func TestRanked_budgetsAreWeights(t *testing.T) {
	first := New(Options{Visit: Visit{Mode: ModeRanked}}, 1, nil)
	link(first, "known.test", 60)
	link(first, "best.test", 1)
	for name, state := range map[string][]byte{"new": nil, "resumed": first.State()} {
		p := New(Options{Visit: Visit{Mode: ModeRanked}, Budgets: read(t, "best.test\t40\nknown.test\t10")}, 1, state)
		link(p, "other.test", 1)
		link(p, "known.test", 60)
		best, known, other := queue(p, "www.best.test", 4000), queue(p, "known.test", 4000), queue(p, "other.test", 4000)
		got := take(t, p, 2000)
		if got[best] < 1450 || got[known] < 350 || got[known] > 450 || got[other] < 30 || got[other] > 80 {
			t.Errorf("%s: %d, %d and %d pages", name, got[best], got[known], got[other])
		}
	}
}
