package feed

import (
	"strings"
	"testing"
)

// A page leaves the list when it is gone or needs no browser, and may come back. An unchanged one stays. What is
// written stays written. The places of a site are free for others.
func TestRenderList_takesBack(t *testing.T) {
	var out strings.Builder
	l := RenderList{Out: &out, Most: 2}
	add := func(kind Kind, name string, render bool) {
		if err := l.Add(&Change{Kind: kind, URL: "http://a.test/" + name, Render: render}); err != nil {
			t.Fatal(err)
		}
	}
	wrote := func(want string) {
		t.Helper()
		if err := l.Flush(); err != nil {
			t.Fatal(err)
		}
		if got := strings.ReplaceAll(strings.ReplaceAll(out.String(), "http://a.test/", ""), "\n", " "); got != want {
			t.Errorf("%q, want %q", got, want)
		}
		out.Reset()
	}
	add(Fresh, "1", true)
	add(Fresh, "2", true)
	add(Fresh, "3", true)
	add(Fresh, "4", true) // there is no place
	add(Gone, "2", false)
	add(Unchanged, "1", false) // a 304 has no page
	wrote("1 3 ")
	add(Changed, "1", false)
	add(Changed, "3", true)
	add(Changed, "4", true)
	add(Changed, "1", true) // there is no place
	wrote("4 ")
	if err := l.Add(&Change{Kind: End}); err != nil {
		t.Error(err)
	}
	wrote("")
}
