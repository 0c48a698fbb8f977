package agent

import (
	"testing"
	"testing/synctest"
	"time"
)

// An agent that does not answer is asked again, one question at a time, and waited for, but not for ever; one that
// answers is any agent.
func TestSilences_whoDoesNotAnswerIsWaitedForAWhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s silences
		ask := func(want bool) (again time.Time) {
			t.Helper()
			again, may := s.ask("a/1", time.Now())
			if may != want || may != again.IsZero() {
				t.Fatalf("may be asked %t, again %v; want %t", may, again, want)
			}
			return again
		}
		ask(true)
		ask(true) // two at a time, as nothing is wrong
		began := time.Now()
		waits := 0
		for again := s.miss("a/1", time.Now()); !again.IsZero(); again = s.miss("a/1", time.Now()) {
			if next := ask(false); !next.Equal(again) {
				t.Fatalf("others wait until %v, want %v", next, again)
			}
			if _, may := s.ask("b/1", time.Now()); !may {
				t.Fatal("another agent is taken for silent")
			}
			time.Sleep(time.Until(again))
			ask(true)
			ask(false) // one at a time
			time.Sleep(recoveryPatience)
			waits++
		}
		if took := time.Since(began); took < recoveryWait || took > recoveryWait+recoveryAgain+recoveryPatience || waits < 10 {
			t.Errorf("it was waited for %v, and asked %d times", took, waits)
		}
		ask(true)
		ask(true) // nobody waits for it any more
		s.end("a/1")
		ask(true)
		if s.miss("a/1", time.Now()).IsZero() {
			t.Error("what was before it answered is held against it")
		}
	})
}
