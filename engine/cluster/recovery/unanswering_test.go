package recovery

import (
	"testing"
	"testing/synctest"
	"time"
)

// An agent that does not answer is asked again, one question at a time, and its pages wait a minute. When it answers it
// is asked as any other agent.
func TestUnanswering_pagesWaitForAMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s Unanswering
		ask := func(want bool) (again time.Time) {
			t.Helper()
			again, may := s.MayAsk("a/1", time.Now())
			if may != want || may != again.IsZero() {
				t.Fatalf("may be asked %t, again %v; want %t", may, again, want)
			}
			return again
		}
		ask(true)
		ask(true) // two questions at a time
		began := time.Now()
		waits := 0
		for again := s.NoteMissed("a/1", time.Now()); !again.IsZero(); again = s.NoteMissed("a/1", time.Now()) {
			if next := ask(false); !next.Equal(again) {
				t.Fatalf("others wait until %v, want %v", next, again)
			}
			if _, may := s.MayAsk("b/1", time.Now()); !may {
				t.Fatal("another agent may not be asked")
			}
			time.Sleep(time.Until(again))
			ask(true)
			ask(false) // one at a time
			time.Sleep(Patience)
			waits++
		}
		if took := time.Since(began); took < waitMost || took > waitMost+retryWait+Patience || waits < 10 {
			t.Errorf("it was waited for %v, and asked %d times", took, waits)
		}
		ask(true)
		ask(true) // its pages wait no longer
		s.Forget("a/1")
		ask(true)
		if s.NoteMissed("a/1", time.Now()).IsZero() {
			t.Error("an answer does not begin the minute again")
		}
	})
}
