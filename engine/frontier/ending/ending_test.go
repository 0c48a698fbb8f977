package ending

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/engine/net/politeness"
	"orbweaver/engine/state/counters"
	"orbweaver/engine/state/lifecycle"
	"orbweaver/engine/state/settings"
	"orbweaver/engine/state/site"
	"orbweaver/internal/outcome"
	"orbweaver/workbench"
)

// The state in which a crawl without queued URLs ends, and its reason.
func TestStateOf(t *testing.T) {
	with := func(o outcome.Outcome, n int64) (c counters.Totals) {
		c.Outcomes[o], c.URLsAdmitted = n, n
		return c
	}
	gone, answered := with(outcome.NameNotFound, 3), with(outcome.OK, 3)
	answered.PagesStored = 3
	givenUp := with(outcome.GivenUp, 4)
	givenUp.PagesStored = 1
	denied, moved := with(outcome.RobotsDenied, 2), with(outcome.Redirect, 1)
	notStored := with(outcome.OK, 1)
	notStored.PagesNotStored = 1
	refused := counters.Totals{}
	refused.DroppedScope = 2
	for name, test := range map[string]struct {
		counts counters.Totals
		alone  bool
		state  lifecycle.State
		reason string // a part of it
	}{
		"complete":                    {answered, true, lifecycle.Finished, lifecycle.ReasonComplete},
		"no seed has an address":      {gone, true, lifecycle.Failed, "3 of 3 name-not-found"},
		"other agents may have pages": {gone, false, lifecycle.Finished, lifecycle.ReasonComplete},
		"robots.txt forbids all":      {denied, true, lifecycle.Failed, "fetched: 2 of 2 robots-denied. robots.txt"},
		"the seed leads away":         {moved, true, lifecycle.Failed, "1 of 1 redirect. The seeds redirect"},
		"no page is to be stored":     {notStored, true, lifecycle.Finished, lifecycle.ReasonComplete},
		"no URL at all":               {counters.Totals{}, true, lifecycle.Failed, "no seed entered the frontier"},
		"no seed was admitted":        {refused, true, lifecycle.Failed, "2 refused by --scope"},
		"sites were given up":         {givenUp, true, lifecycle.Finished, "4 URLs of 2 sites"},
	} {
		state, reason := StateOf(&test.counts, test.alone, func() (int, error) { return 2, nil })
		if state != test.state || !strings.Contains(reason, test.reason) {
			t.Errorf("%s: %s: %s", name, state, reason)
		}
	}
	_, reason := StateOf(&givenUp, true, func() (int, error) { return 0, errors.New("disk") })
	if !strings.Contains(reason, "4 URLs of sites") {
		t.Errorf("sites that cannot be counted: %s", reason)
	}
}

// A crawl stalls when no site is healthy for the stall wait, unless a URL is on its way or a server has answered.
func TestStallDetector_stallsAfterTheStallWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const wait = time.Hour
		var counts counters.Live
		retries := 0
		live := settings.NewLive(politeness.Default(), new(settings.HostRules))
		live.ChangeBounds(func(b *settings.Bounds) { b.StallWait = wait })
		d := NewStallDetector(workbench.New[site.State](workbench.Options{}), live, &counts, func() { retries++ })
		idle, begun := func() bool { return true }, time.Now()
		stalls := func(after time.Duration, nothingMoves func() bool) bool {
			time.Sleep(time.Until(begun.Add(after)))
			return d.IsStalled(time.Now(), nothingMoves)
		}
		if stalls(0, idle) || stalls(wait/2, idle) {
			t.Error("stalled before the wait")
		}
		if at := d.EndsAt(); !at.Equal(begun.Add(wait)) {
			t.Errorf("it ends %v after the first scan", at.Sub(begun))
		}
		if stalls(wait*4/5, idle) || retries != 1 {
			t.Errorf("before the end: %d retries of all sites", retries)
		}
		if stalls(wait, func() bool { return false }) {
			t.Error("stalled while a URL is on its way")
		}
		counts.Finish(outcome.OK, 1)
		if stalls(wait+time.Minute, idle) {
			t.Error("stalled though a server has answered")
		}
		if !stalls(2*wait+2*time.Minute, idle) {
			t.Error("not stalled after the wait")
		}
		if d.Reset(); !d.EndsAt().IsZero() {
			t.Error("after a pause the wait goes on")
		}
	})
}

// The agents of a cluster ask for each other's state at moments of their own. A stalled agent says so at each of them,
// also between two scans of its sites, until something happens.
func TestStallDetector_saysTheSameBetweenTwoScans(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const wait = time.Hour
		var counts counters.Live
		live := settings.NewLive(politeness.Default(), new(settings.HostRules))
		live.ChangeBounds(func(b *settings.Bounds) { b.StallWait = wait })
		d := NewStallDetector(workbench.New[site.State](workbench.Options{}), live, &counts, func() {})
		idle := func() bool { return true }
		d.IsStalled(time.Now(), idle)
		time.Sleep(2 * wait)
		for range 10 {
			if !d.IsStalled(time.Now(), idle) {
				t.Fatal("not stalled, a moment after it was")
			}
			time.Sleep(scanPause / 4)
		}
		d.IsStalled(time.Now(), idle)
		if d.IsStalled(time.Now(), func() bool { return false }) {
			t.Error("stalled while a URL is on its way")
		}
		counts.RobotsFetched.Add(1)
		if d.IsStalled(time.Now(), idle) {
			t.Error("stalled though a robots.txt has come since the last scan")
		}
		time.Sleep(scanPause)
		if !d.IsStalled(time.Now(), idle) {
			t.Error("not stalled after the next scan")
		}
		d.Reset()
		if d.IsStalled(time.Now(), idle) {
			t.Error("stalled right after a pause")
		}
	})
}

// A crawl of one misspelt name gives up within a minute. Its forecast said that the tries of the site take an hour.
func TestStallDetector_saysWhenNoServerHasEverAnswered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var counts counters.Live
		live := settings.NewLive(politeness.Default(), new(settings.HostRules))
		d := NewStallDetector(workbench.New[site.State](workbench.Options{}), live, &counts, func() {})
		if begun := time.Now(); d.IsUnreached(begun, func() bool { return true }) ||
			!d.GivesUpAt().Equal(begun.Add(unreachedShort)) {
			t.Errorf("gives up at %v", d.GivesUpAt())
		}
		view := workbench.View[site.State]{Key: []byte("http://a.test"), State: workbench.Waiting, Queued: 1}
		view.Data.NoteFailure(outcome.NameNotFound, time.Now(), time.Time{})
		now := time.Now()
		var o Outlook
		o.Observe(&view, live, now)
		o.noneAnswers(d.GivesUpAt())
		if o.Finish(now); o.GiveUpLast != timestamp(d.GivesUpAt()) || o.GiveUpFirst != o.GiveUpLast {
			t.Errorf("%+v", o)
		}
		counts.BytesReceived.Add(1)
		if d.IsUnreached(now, func() bool { return true }) || !d.GivesUpAt().IsZero() {
			t.Error("a server has answered")
		}
	})
}
