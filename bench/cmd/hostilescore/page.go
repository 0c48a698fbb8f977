package main

import (
	"bytes"
	"fmt"
	"os"

	"orbweaver/bench/hostile"
)

// writePage writes the score and all cases to a file.
func (s *score) writePage(name string) error {
	return os.WriteFile(name, s.page(), 0o644) //nolint:gosec // a page is no secret
}

// page is the score and all cases as Markdown.
func (s *score) page() []byte {
	var b bytes.Buffer
	b.WriteString(`# Hostile inputs

What servers, networks, disks and operators do to a crawler, case by case, and what becomes of it. Made by
` +
		"`make accept NAME=hostile`; tests of the name TestHostile_H01_... prove case H01, and TestG01_... case G01. " +
		"Those that a\nserver can commit are played for any crawler by `orbweaver-bench sim --hostile H01`.\n\n```\n")
	s.table(&b)
	b.WriteString("```\n\n| case | what happens | what becomes of it | tests |\n|---|---|---|---|\n")
	for _, e := range hostile.Catalogue {
		tests := 0
		if p := s.proofs[e.ID]; p != nil {
			tests = len(p.passed)
		}
		expected := e.Expected
		if why := open[e.ID]; why != "" {
			expected += "; **open**: " + why
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %d |\n", e.ID, e.What, expected, tests)
	}
	return b.Bytes()
}
