package agent

import (
	"errors"
	"fmt"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/engine/cluster/message"
	"orbweaver/engine/peering"
	"orbweaver/engine/state/cluster"
)

// shortItems is a message of n short items.
func shortItems(n int) (items []message.Item) {
	for i := range n {
		items = append(items, message.Item{Bytes: fmt.Appendf(nil, "Lhttp://a.test/%d", i)})
	}
	return items
}

// An agent may send its quota at once, and more as the receiver completes URLs. Beyond that it is told to wait. If it
// waits, all its messages are taken in the end.
func TestPQ1_theQuotaGrowsWithCompletedURLs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		done := int64(1000) // of a run before
		s := newAccounts(100, func() int64 { return done }, func() {}, slog.New(slog.DiscardHandler))
		ten := shortItems(10)
		var wait *peering.WaitError
		taken := 0
		for ; taken < 1000; taken++ {
			if _, err := s.ChargeMessage("peer", ten); errors.As(err, &wait) {
				break
			} else if err != nil {
				t.Fatal(err)
			}
		}
		if taken != 10 || wait == nil || wait.Wait != quotaWait {
			t.Fatalf("%d messages of ten URLs were taken with a quota of 100, then %v", taken, wait)
		}
		done += 10
		for ; taken < 1000; taken++ {
			if _, err := s.ChargeMessage("peer", ten); err != nil {
				break
			}
		}
		if taken != 10+itemsAhead {
			t.Errorf("%d messages were taken when ten URLs were done", taken)
		}
		if refund, err := s.ChargeMessage("other", ten); err != nil {
			t.Errorf("another agent pays for the first: %v", err)
		} else if refund(); s.mu.byAgent["other"].items != 0 {
			t.Errorf("%d items are charged of a message that was not taken", s.mu.byAgent["other"].items)
		}
		// For an hour, four messages in flight arrive at each wait.
		for range 720 {
			for range 4 {
				if _, err := s.ChargeMessage("peer", ten); !errors.As(err, &wait) {
					t.Fatalf("an agent that waits when it is told to: %v", err)
				}
			}
			time.Sleep(wait.Wait)
		}
		s.ForgiveAll()
		if _, err := s.ChargeMessage("peer", ten); err != nil {
			t.Errorf("with nothing to do: %v", err)
		}
	})
}

// An agent that does not wait when it is told to is banned. So is an agent that sends malformed messages again and
// again. Bans end, and the next is longer.
func TestPQ2_bansEndAndGrow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bans := 0
		s := newAccounts(1, func() int64 { return 0 }, func() { bans++ }, slog.New(slog.DiscardHandler))
		ten := shortItems(10)
		early := 0
		for err := error(nil); !errors.Is(err, peering.ErrBanned); early++ {
			if _, err = s.ChargeMessage("flood", ten); early > 10*earlyMost {
				t.Fatal("an agent that does not wait is never banned")
			}
		}
		if early < earlyMost {
			t.Errorf("a ban after %d messages", early)
		}
		var a cluster.AgentReport
		for i, length := range []time.Duration{banFirst, 2 * banFirst, 4 * banFirst} {
			if err := s.CheckBan("flood"); !errors.Is(err, peering.ErrBanned) {
				t.Fatalf("ban %d: %v", i, err)
			}
			time.Sleep(length - time.Second)
			a = cluster.AgentReport{ID: "flood"}
			s.FillReport(&a)
			if s.CheckBan("flood") == nil || a.BannedUntil == "" || a.BanReason == "" || a.MessagesRefused == 0 ||
				a.URLsReceived != 10 {
				t.Errorf("ban %d, just before its end: %+v", i, a)
			}
			time.Sleep(time.Second)
			if err := s.CheckBan("flood"); err != nil {
				t.Errorf("ban %d, after its end: %v", i, err)
			}
			for k := range malformedMost {
				err := s.NoteMalformed("flood", peering.ErrMalformed)
				if want := k == malformedMost-1; errors.Is(err, peering.ErrBanned) != want {
					t.Errorf("message %d that cannot be read: %v", k, err)
				}
			}
		}
		if bans != 4 { // the first one, and three for malformed messages
			t.Errorf("%d bans were told", bans)
		}
		if err := s.CheckBan("other"); err != nil {
			t.Errorf("another agent: %v", err)
		}
		for range 10 * malformedMost { // a malformed message now and then is no reason
			if err := s.NoteMalformed("other", peering.ErrMalformed); errors.Is(err, peering.ErrBanned) {
				t.Fatal(err)
			}
			time.Sleep(time.Hour)
			if _, err := s.ChargeMessage("other", nil); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// A long item counts several times, and a list of an agent that left counts once.
func TestPQ1_countsOfItems(t *testing.T) {
	s := newAccounts(1, func() int64 { return 0 }, func() {}, slog.New(slog.DiscardHandler))
	long := []message.Item{{Bytes: make([]byte, 3*itemBytes)}}
	if _, err := s.ChargeMessage("other", long); err != nil || s.mu.byAgent["other"].items != 4 {
		t.Errorf("an item of %d bytes counts %d, %v", 3*itemBytes, s.mu.byAgent["other"].items, err)
	}
	for i := range listsMost + 3 {
		instance := fmt.Sprintf("a%d/0000000000000001", i)
		if may := s.MayPassOn("other", instance); may != (i < listsMost) || s.MayPassOn("other", instance) != may {
			t.Errorf("list %d may be passed on: %v", i, may)
		}
	}
}

// Questions are answered up to ten seconds ahead of the granted rate. Then the agent is told how long to wait.
func TestPQ1_questionsHaveARate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newAccounts(0, func() int64 { return 0 }, func() {}, slog.New(slog.DiscardHandler))
		var wait *peering.WaitError
		answered := 0
		for ; answered < 1e6 && wait == nil; answered++ {
			errors.As(s.ChargeQuestion("eager", 0), &wait)
		}
		if most := int(questionAhead/questionTime) + 2; wait == nil || answered > most {
			t.Fatalf("%d questions were answered at once, then %v", answered, wait)
		}
		time.Sleep(wait.Wait)
		if err := s.ChargeQuestion("eager", 0); err != nil {
			t.Errorf("after the wait: %v", err)
		}
	})
}
