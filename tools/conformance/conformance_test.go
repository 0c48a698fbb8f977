package main

import (
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// a suite of two cases, and one of them fails
func halfGood() result {
	r := result{suite: suite{name: "half", asks: "what", from: "a publisher"}}
	r.judge("good", "1", "1")
	r.judge("bad: a|b`c", "2", "3")
	return r
}

func TestAScoreMayNeitherSinkNorRiseUnseen(t *testing.T) {
	for held, want := range map[string]string{
		"half 1 of 2":             "",
		"half 2 of 2":             "half has sunk from 2 of 2 to 1 of 2",
		"half 0 of 2":             "held.go says 0 of 2, write there: half 1 of 2",
		"half 1 of 3":             "held.go says 1 of 3, write there: half 1 of 2",
		"":                        "held.go has no line for it: half 1 of 2",
		"half 1 of 2\nold 1 of 1": "held.go names old, which is no suite",
	} {
		floors, err := readFloors(held)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(floors.faults([]result{halfGood()}), "; "); got != want {
			t.Errorf("%q: %s, want %s", held, got, want)
		}
	}
	for _, bad := range []string{"half 1", "half one of 2", "a 1 of 1\na 1 of 1"} {
		if floors, err := readFloors(bad); err == nil {
			t.Errorf("%q: %v", bad, floors)
		}
	}
	missing := result{suite: suite{name: "half"}, missing: true}
	if got := (floors{"half": {1, 2}}).faults([]result{missing}); len(got) > 0 {
		t.Errorf("a suite that is not there: %v", got)
	}
}

func TestEveryFailureNeedsAReasonAndEveryReasonAFailure(t *testing.T) {
	results := []result{halfGood()}
	if e := explain(results, nil); len(e.faults) != 1 || !strings.Contains(e.faults[0], "without an explanation") {
		t.Errorf("no reason: %q", e.faults)
	}
	e := explain(results, []reason{{"other", "*", "no"}, {"half", "bad: *", "since"}})
	if len(e.faults) > 0 || !slices.Equal(e.why["half"], []string{"since"}) {
		t.Errorf("%+v", e)
	}
	if late := explain(results, []reason{{"half", "*", "since"}, {"half", "good", "it was so"}}); len(late.faults) != 1 {
		t.Errorf("a reason for what passes: %q", late.faults)
	}
	page := string(pageOf(results, e))
	for _, want := range []string{
		"| half | what | a publisher | 1 | 2 |",
		"`` bad: a|b\\x60c ``\n  - got `` 2 ``\n  - want `` 3 ``\n  - since\n",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q:\n%s", want, page)
		}
	}
}

func TestReadersOfSoupAgreeAndWouldTellIfNot(t *testing.T) {
	j := newJudges()
	for doc, want := range map[string]string{
		"<a href=x><img src='y z'><!--><a href=q>-->":                                             "x\ny z\nq",
		"<a href=1 href=2><a href='mailto:a'><script src=/s><a href=3></script><a href=\"4\n5\">": "1\n/s\n45",
		"<template><a href=1></template><a href=2><noscript><a href=3>":                           "2\n3",
	} {
		if ours, theirs := j.ours(doc), j.theirs(doc); ours != want || theirs != want {
			t.Errorf("%q: ours %q, theirs %q, want %q", doc, ours, theirs, want)
		}
	}
	// A reader that sees links in comments would be caught, with a document that is as short as can be.
	k := soupMaker{}
	blind := &judges{scanner: j.scanner, links: map[string][]string{"a": {"title"}}}
	if got := k.thin(blind, "some text <b>x</b> <a class=c href=/found> more"); got != "<a href=/>" && len(got) > 14 {
		t.Errorf("thinned to %q", got)
	}
}

func TestDoubleEscapedInputs(t *testing.T) {
	if got := unescape(`a\u0041\uD83D\uDE00\uD800 \n`); got != "aA\U0001f600\ufffd \\n" {
		t.Errorf("%q", got)
	}
}

// A small directory, laid out as the real one.
func TestRunScoresWhatIsThere(t *testing.T) {
	data := fstest.MapFS{
		"url/urltestdata.json": {Data: []byte(`["remark", {"input": "HTTP://u@EX.com:80/a/../b#c", "base": null,
			"href": "http://u@ex.com/b#c", "protocol": "http:", "hostname": "ex.com", "port": ""},
			{"input": "http://[", "base": null, "failure": true},
			{"input": "x", "base": "ftp://h/", "href": "ftp://h/x", "protocol": "ftp:", "hostname": "h", "port": ""}]`)},
		"robots/google_robots_cases.json": {Data: []byte(`[{"test": "T", "line": 1, "robots": "user-agent: F\ndisallow: /",
			"agent": "F", "url": "http://a/x", "allowed": true, "google_only": false},
			{"test": "G", "line": 2, "robots": "", "agent": "F", "url": "", "allowed": true, "google_only": true}]`)},
		"psl/tests.txt": {Data: []byte("// remark\nnull null\nwww.example.co.uk example.co.uk\ncom null\n")},
	}
	var out strings.Builder
	page := filepath.Join(t.TempDir(), "page.md")
	faults, err := run(&out, data, page)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"url 2 of 2", "url-others 1 of 1", "robots 0 of 1", "psl 2 of 2"} {
		name, _, _ := strings.Cut(want, " ")
		floor, err := readFloors(want)
		if err != nil {
			t.Fatal(err)
		}
		results, err := scoreAll(data, slices.DeleteFunc(suites(), func(s suite) bool { return s.name != name }))
		if err != nil || len(floor.faults(results)) > 0 {
			t.Errorf("want %s: %v, %v", want, floor.faults(results), err)
		}
	}
	if all := strings.Join(faults, "\n"); !strings.Contains(all, "T, line 1") ||
		!strings.Contains(out.String(), "not there") {
		t.Errorf("faults %s\n%s", all, out.String())
	}
	if _, err := run(io.Discard, fstest.MapFS{"psl/tests.txt": {Data: []byte("")}}, ""); err == nil {
		t.Error("a suite without cases")
	}
}
