package main

import (
	"strings"
	"testing"
)

// A case is held when all its tests pass; a case without a test, a test that fails and a name that says no case are
// faults.
func TestScore_aCaseIsHeldWhenAllItsTestsPass(t *testing.T) {
	s := newScore()
	for _, e := range []event{
		{"pass", "a", "TestHostile_H01_isCut", ""},
		{"pass", "a", "TestHostile_H01_isCut/a_part", ""},
		{"pass", "b", "TestHostile_H02_H03_areCut", ""},
		{"output", "b", "TestHostile_H03_isNot", "this is why"},
		{"fail", "b", "TestHostile_H03_isNot", ""},
		{"pass", "b", "TestHostile_X99_isUnknown", ""},
		{"pass", "b", "TestHostile_", ""},
		{"pass", "c", "TestG03_comesBack", ""},
		{"fail", "c", "TestG10_churn", ""},
		{"pass", "d", "TestStories/Hostile_X01_isApart", ""},
		{"fail", "d", "TestStories/Hostile_X02_isApart/a_case", ""},
		{"fail", "d", "TestStories", ""},
	} {
		s.take(&e)
	}
	s.judge()
	for id, want := range map[string]bool{
		"H01": true, "H02": true, "H03": false, "H04": false, "G03": true, "G10": false, "X01": true, "X02": false,
	} {
		if s.isProven(id) != want {
			t.Errorf("%s: held %v, want %v", id, !want, want)
		}
	}
	var out strings.Builder
	if s.print(&out) {
		t.Error("a score with faults is called good")
	}
	for _, want := range []string{
		"2 of  30", "this is why", "H03: b.TestHostile_H03_isNot failed", "H04: no test", "no case X99",
		"b.TestHostile_: proves no case",
	} {
		if want == "H04: no test" && open["H04"] != "" {
			continue
		}
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not said:\n%s", want, &out)
		}
	}
}
