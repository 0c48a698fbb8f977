package main

import (
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"orbweaver/bench/hostile"
)

// event is a line of `go test -json`.
type event struct {
	Action  string
	Package string
	Test    string
	Output  string
}

// proof is what the tests of one case have shown.
type proof struct {
	passed, failed []string // tests, with their packages
}

// score is what a run has shown of all cases.
type score struct {
	proofs map[string]*proof
	faults []string
	output map[string]*strings.Builder // output of tests, by package and name
}

var testName = regexp.MustCompile(`^Test(?:Hostile_((?:[A-Z][0-9]{2}_)+)|((?:G[0-9]{2}_)+))\w`)

// storiesTest is the test whose subtests are the stories of a package of bench/scenario.
const storiesTest = "TestStories"

func newScore() *score {
	return &score{proofs: map[string]*proof{}, output: map[string]*strings.Builder{}}
}

// take reads one event.
func (s *score) take(e *event) {
	name := e.Package + "." + e.Test
	switch e.Action {
	case "output":
		if s.output[name] == nil {
			s.output[name] = new(strings.Builder)
		}
		s.output[name].WriteString(e.Output)
	case "build-fail":
		s.faults = append(s.faults, "a package does not build")
	case "pass", "fail", "skip":
		s.end(e, name)
	}
}

// end reads the end of a test or of a package.
func (s *score) end(e *event, name string) {
	if e.Test == "" {
		if e.Action == "fail" {
			s.faults = append(s.faults, "package "+e.Package+" failed")
		}
		return
	}
	test := e.Test
	if story, isStory := strings.CutPrefix(test, storiesTest+"/"); isStory {
		test = "Test" + story // as it would be called in Go
	}
	if strings.Contains(test, "/") || test == storiesTest {
		return // its parent, or its stories, speak for it
	}
	ids := casesOf(test)
	if ids == nil {
		s.faults = append(s.faults, name+": proves no case: want TestHostile_H01_whatIsExpected")
	}
	for _, id := range ids {
		if !slices.ContainsFunc(hostile.Catalogue, func(e hostile.Entry) bool { return e.ID == id }) {
			s.faults = append(s.faults, name+": no case "+id+" in the catalogue")
			continue
		}
		p := s.proofs[id]
		if p == nil {
			p = new(proof)
			s.proofs[id] = p
		}
		if e.Action == "pass" {
			p.passed = append(p.passed, name)
		} else {
			p.failed = append(p.failed, name)
		}
	}
}

// casesOf are the cases that a test proves, by its name.
func casesOf(test string) []string {
	m := testName.FindStringSubmatch(test)
	if m == nil {
		return nil
	}
	return strings.Split(strings.TrimSuffix(m[1]+m[2], "_"), "_")
}

// judge holds the score against the catalogue and what is known to be open.
func (s *score) judge() {
	for _, e := range hostile.Catalogue {
		p := s.proofs[e.ID]
		switch why := open[e.ID]; {
		case p == nil && why == "":
			s.faults = append(s.faults, e.ID+": no test proves it, and held.go does not say why")
		case p != nil && len(p.failed) > 0:
			s.faults = append(s.faults, e.ID+": "+strings.Join(p.failed, ", ")+" failed")
		}
	}
}

// isProven reports whether a case has a test, and none failed.
func (s *score) isProven(id string) bool {
	p, tested := s.proofs[id]
	return tested && len(p.failed) == 0
}

// table prints a line for each family.
func (s *score) table(out io.Writer) {
	all, held := 0, 0
	for _, f := range hostile.Families {
		n, good := 0, 0
		var missing []string
		for _, e := range hostile.Catalogue {
			if e.ID[0] != f.Letter {
				continue
			}
			n++
			if s.isProven(e.ID) && open[e.ID] == "" {
				good++
			} else {
				missing = append(missing, e.ID)
			}
		}
		all, held = all+n, held+good
		fmt.Fprintf(out, "%c  %-24s %3d of %3d  %s\n", f.Letter, f.Name, good, n, strings.Join(missing, " "))
	}
	fmt.Fprintf(out, "   %-24s %3d of %3d\n", "all", held, all)
}
