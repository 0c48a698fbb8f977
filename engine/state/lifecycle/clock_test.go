package lifecycle

import (
	"strings"
	"testing"
	"time"
)

// What must not come too soon counts only the time that has passed for certain; what must not last too long counts all
// that may have.
func TestHostile_S13_timesOfTheLastRunAreCarriedOverWhateverTheClockSays(t *testing.T) {
	const up = 100 * time.Hour
	boot := func(id string, since time.Duration) Boot {
		return func() (string, time.Duration) { return id, since }
	}
	for _, c := range []struct {
		name         string
		ago          time.Duration // of the cut, by the wall clock
		boot         Boot
		passed, left time.Duration // certain; and of a validity that had an hour left at the cut
	}{
		{"nothing known", 10 * time.Minute, nil, 0, 50 * time.Minute},
		{"nothing known, clock went back", -10 * time.Minute, nil, 0, 0},
		{"same boot", 10 * time.Minute, boot("a", up+10*time.Minute), 10 * time.Minute, 50 * time.Minute},
		{"same boot, clock went back", -time.Hour, boot("a", up+10*time.Minute), 10 * time.Minute, 50 * time.Minute},
		{"same boot, clock went on", 99 * time.Hour, boot("a", up+10*time.Minute), 10 * time.Minute, 0},
		{"same boot, slept", 8 * time.Hour, boot("a", up+8*time.Hour), 8 * time.Hour, 0},
		{"same boot, whose clock lies", 10 * time.Minute, boot("a", up-time.Hour), 0, 50 * time.Minute},
		{"other boot", 10 * time.Minute, boot("b", 3*time.Minute), 3 * time.Minute, 50 * time.Minute},
		{"other boot, clock went back", -time.Hour, boot("b", 3*time.Minute), 3 * time.Minute, 0},
		{"the system does not tell any more", 10 * time.Minute, boot("", 0), 0, 50 * time.Minute},
	} {
		t.Run(c.name, func(t *testing.T) {
			cut := time.Now().Round(0).Add(-c.ago)
			k := NewResumed(ClockReading{Written: cut, Boot: "a", Up: up}, c.boot)
			if got := k.CheckpointClock().Sub(cut); got != c.passed {
				t.Errorf("%v have passed, not %v", got, c.passed)
			}
			if got := k.Moment(cut.Add(time.Hour)).Sub(k.Now); got != time.Hour-c.passed {
				t.Errorf("a moment in an hour is in %v", got)
			}
			if got := k.Expiry(cut.Add(time.Hour), 24*time.Hour).Sub(k.Now); (got - c.left).Abs() > time.Second {
				t.Errorf("%v are left of an hour, not %v", got, c.left)
			}
			if got := k.Expiry(cut.Add(9999*time.Hour), 24*time.Hour).Sub(k.Now); got > 24*time.Hour {
				t.Errorf("a validity of %v", got)
			}
		})
	}
}

func TestHostile_S13_aStepOfTheClockIsSaidAndCorrectionsAreNot(t *testing.T) {
	var said []string
	w := SetWatch{Warn: func(_ string, args ...any) {
		said = append(said, args[1].(string)) //nolint:forcetypeassert,errcheck // it is
	}}
	now := time.Now()
	wall := now.Round(0)
	for _, step := range []time.Duration{0, time.Second, -time.Second, time.Hour, -87600 * time.Hour, 8 * time.Hour} {
		now, wall = now.Add(5*time.Second), wall.Add(5*time.Second+step)
		w.compare(now, wall)
	}
	if got := strings.Join(said, " "); got != "1h0m0s -87600h0m0s 8h0m0s" {
		t.Errorf("%s", got)
	}
}
