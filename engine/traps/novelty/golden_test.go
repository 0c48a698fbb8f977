package novelty

import (
	"fmt"
	"testing"

	"orbweaver/internal/golden"
)

// The encoded state must equal the golden file. After Load, URLs of the poor part are delayed, and no others.
func TestGolden_state(t *testing.T) {
	s := newSite("http://a.test")
	for n := range 300 {
		s.visit(fmt.Sprintf("/calendar/%d", n), "nothing happens here today")
		s.visit(fmt.Sprintf("/news/%d", n), "story "+word(n))
	}
	s.drain(20, nil)
	again := newSite("http://a.test")
	state := golden.Compare(t, "state-4", "e4b2f1834cfe1c67ff59c2eb81e5099ee50d76b10ff276f816b2cd6312cd662c",
		s.w.AppendState(nil))
	if err := again.w.Load(state); err != nil {
		t.Fatal(err)
	}
	for n := range 100 {
		if again.visit(fmt.Sprintf("/calendar/%d", n), "nothing happens here today") ||
			!again.visit(fmt.Sprintf("/news/%d", n+300), "story "+word(n+300)) {
			t.Fatalf("number %d: the calendar is not delayed, or the news is", n)
		}
	}
}
