package hosts

import (
	"context"
	"time"

	"orbweaver/workbench"
)

// Survey is what all hosts in memory together wait for.
type Survey struct {
	Sites      int           // with URLs queued
	URLs       uint64        // queued for them
	DueNow     int           // sites that could be asked now, if their addresses are free
	NextDue    time.Duration // until the first of them is due
	Failing    int           // sites that fail or ask to slow down
	FailingURL uint64        // their URLs
	Unresolved int           // sites without an address, with or without URLs
	Largest    Host          // the one with the most URLs
	Slowest    Host          // the one that needs longest for its queue, at its delay
	SlowestFor time.Duration // how long
	WaitingFor time.Duration // sum of the times until sites are due
}

// Survey reads all sites in memory, as List does.
func (l *Lister) Survey(ctx context.Context) (s Survey, err error) {
	l.turn.Lock()
	defer l.turn.Unlock()
	now := time.Now()
	var views []view
	var scratch []byte
	for from := uint64(1); from != 0; {
		if err := ctx.Err(); err != nil {
			return s, err
		}
		views, scratch, from = l.Workbench.Listing().Views(from, views[:0], scratch[:0])
		for i := range views {
			l.addToSurvey(&s, &views[i], now)
		}
	}
	return s, nil
}

func (l *Lister) addToSurvey(s *Survey, v *view, now time.Time) {
	if v.State == workbench.Unresolved || v.State == workbench.Deferred {
		s.Unresolved++
	}
	n := queuedURLs(v)
	if n == 0 || v.State == workbench.Dead {
		return
	}
	due, takes := dueIn(v, now), time.Duration(min(n, 1<<32))*l.delay(v)
	if s.Sites == 0 || due < s.NextDue {
		s.NextDue = due
	}
	s.Sites++
	s.URLs += n
	s.WaitingFor += due
	if due == 0 && v.State == workbench.Waiting {
		s.DueNow++
	}
	if v.Data.FailureStreak().Count > 0 || v.Data.Failures != 0 {
		s.Failing++
		s.FailingURL += n
	}
	if n > s.Largest.Queued {
		s.Largest = l.host(v, now)
	}
	if takes > s.SlowestFor {
		s.Slowest, s.SlowestFor = l.host(v, now), takes
	}
}
