package limits

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/engine/state/lifecycle"
)

// A limit of time is a length or a date. What is read is written so that another machine reads the same.
func TestTerm_isALengthOrADate(t *testing.T) {
	here := func(hour, minute, second int) string {
		return time.Date(2026, 12, 1, hour, minute, second, 0, time.Local).Format(time.RFC3339)
	}
	for text, want := range map[string]string{
		"0": "0", "90m": "1h30m", "7d": "7d",
		"2026-12-01": here(0, 0, 0), "2026-12-01T06:00": here(6, 0, 0), "2026-12-01 06:00:30": here(6, 0, 30),
		"2026-12-01T06:00Z": "2026-12-01T06:00:00Z", "2026-12-01T06:00:00+01:00": "2026-12-01T06:00:00+01:00",
		"2026-12-01 06:00-05:30": "2026-12-01T06:00:00-05:30",
	} {
		var term, again Term
		if err := term.UnmarshalText([]byte(text)); err != nil || term.String() != want {
			t.Errorf("%s is %s, %v; want %s", text, term, err, want)
		}
		if err := again.UnmarshalText([]byte(term.String())); err != nil || again.String() != want {
			t.Errorf("%s is read back as %s, %v", want, again, err)
		}
	}
	for _, text := range []string{
		"", "soon", "2026-13-01", "2026-02-30", "2026-12-01T25:00", "2026-12", "01.12.2026", "-1h", "2026-12-01T06",
		"2026-12-01T06:00 CET",
	} {
		var term Term
		if err := term.UnmarshalText([]byte(text)); err == nil {
			t.Errorf("%q is taken for %s", text, term)
		}
	}
}

// A crawl ends at its date, however long it has run. A later date, or a length, given meanwhile is the one that counts.
func TestMaxTime_endsAtADate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		var reason string
		l := New(&Options{MaxTime: Term{Date: began.Add(time.Hour)}}, 0, func(r string) { reason = r })
		done := make(chan struct{})
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		go func() {
			defer close(done)
			_ = l.FinishAtMaxTime(ctx, func() time.Duration { return 1000 * time.Hour })
		}()
		time.Sleep(30 * time.Minute)
		if l.Reached(0, 0, 1000*time.Hour) != "" {
			t.Error("ended by an earlier run")
		}
		l.SetMaxTime(Term{Date: began.Add(2 * time.Hour)})
		<-done
		if took := time.Since(began); took != 2*time.Hour || reason != lifecycle.ReasonMaxTime {
			t.Errorf("%q after %v", reason, took)
		}
		if got := l.Reached(0, 0, 0); got != lifecycle.ReasonMaxTime {
			t.Errorf("a resume at the same date: %q", got)
		}
		l.SetMaxTime(For(time.Hour))
		if l.Reached(0, 0, 59*time.Minute) != "" || l.Reached(0, 0, time.Hour) != lifecycle.ReasonMaxTime {
			t.Error("a length is not what counts after the date")
		}
	})
}
