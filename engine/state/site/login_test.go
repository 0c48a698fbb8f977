package site

import (
	"testing"
	"time"

	"orbweaver/internal/outcome"
)

// A site that redirects everything to one log-in page is behind a wall after a few URLs. Pages that it has served, and
// other targets, make more URLs necessary. A failure and an answer forget nothing of it.
func TestNoteLogIn_needsMostURLs(t *testing.T) {
	var s State
	until := func(target uint32) (n int) {
		for n = 1; !NoteLogIn(&s, target); n++ {
			if n > 300 {
				return 0
			}
			s.NoteFailure(outcome.Reset, time.Unix(int64(n), 0), time.Time{})
			s.NotePageAnswer()
		}
		return n
	}
	if n := until(7); n != logInLeast {
		t.Errorf("known after %d URLs", n)
	}
	s.Stored = 3 // the wall has fallen for a while
	if n := until(7); n != 3*logInLeast-logInLeast {
		t.Errorf("after three pages, known after %d more URLs", n)
	}
	if n := until(8); n != 6*logInLeast {
		t.Errorf("another target is known after %d URLs", n)
	}
	s.Stored = 100
	if n := until(8); n != 0 {
		t.Errorf("a site of 100 pages is behind a wall after %d URLs", n)
	}
}
