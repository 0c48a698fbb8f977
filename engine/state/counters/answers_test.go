package counters

import (
	"strings"
	"testing"

	"orbweaver/internal/outcome"
)

// Each type of the table has a counter, whatever its case and parameters. Servers cannot make more counters.
func TestMediaTypeOf(t *testing.T) {
	longest := 0
	for i, name := range mediaTypes {
		longest = max(longest, len(name))
		if name != strings.ToLower(name) || len(mediaTypes) > mediaTypesMost {
			t.Errorf("%q, %d types", name, len(mediaTypes))
		}
		if i < 2 {
			continue
		}
		for _, sent := range []string{name, strings.ToUpper(name), " " + name + " ; charset=utf-8"} {
			if got := MediaTypeOf([]byte(sent)); got != MediaType(i) || got.String() != name {
				t.Errorf("%q: %v", sent, got)
			}
		}
	}
	if longest != mediaTypeLongest {
		t.Errorf("the longest name has %d bytes", longest)
	}
	for sent, want := range map[string]MediaType{
		"": UnknownType, ";": UnknownType, " ": UnknownType, "unknown": UnknownType, "other": OtherType,
		"x/" + strings.Repeat("y", 1<<16): OtherType, "<img src=x>": OtherType, "text": OtherType, "\xff\x00": OtherType,
	} {
		if got := MediaTypeOf([]byte(sent)); got != want {
			t.Errorf("%.20q: %v", sent, got)
		}
	}
}

// A report names the media types that there are, and at most 16 depths.
func TestTotals_answersHaveNames(t *testing.T) {
	var c Live
	for depth := range 20 {
		c.CountAnswer(MediaTypeOf([]byte("text/html")), true, depth)
	}
	c.CountAnswer(OtherType, outcome.IsPageStatus(404), 3)
	n := c.Load()
	types, depths := n.MediaTypes(), n.PageDepths()
	if len(types) != 2 || types["text/html"] != 20 || types["other"] != 1 {
		t.Errorf("%v", types)
	}
	if len(depths) != 17 || depths["0"] != 1 || depths["3"] != 1 || depths["15"] != 1 || depths["16+"] != 4 {
		t.Errorf("%v", depths)
	}
}

func BenchmarkCountAnswer(b *testing.B) {
	var c Live
	sent := []byte("text/html; charset=utf-8")
	b.ReportAllocs()
	for b.Loop() {
		c.CountAnswer(MediaTypeOf(sent), true, 3)
	}
}
