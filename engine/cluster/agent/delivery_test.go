package agent

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/engine/cluster/message"
	"orbweaver/engine/net/outage"
	"orbweaver/engine/peering"
	"orbweaver/engine/peering/outbox"
	"orbweaver/engine/state/queued"
	"orbweaver/engine/store/journal"
	"orbweaver/internal/vfs"
	"orbweaver/internal/vfs/faultfs"
)

// Whenever a message begins to wait for more items, it leaves when the others of its agent do: a whole number of
// periods after the beginning. The period grows with the number of agents, up to two seconds.
func TestSenders_messagesLeaveAtTheSameMoments(t *testing.T) {
	for others, period := range map[int]time.Duration{
		0: 250 * time.Millisecond, 1: 250 * time.Millisecond, 3: 750 * time.Millisecond, 7: 1750 * time.Millisecond,
		8: 2 * time.Second, 39: 2 * time.Second,
	} {
		synctest.Test(t, func(t *testing.T) {
			s, rng := newSenders(senderOptions{Others: func() int { return others }}), rand.New(rand.NewPCG(1, uint64(others)))
			for range 100 {
				wait := s.linger()
				if wait <= 0 || wait > period {
					t.Fatalf("%d others: a message waits for %v", others, wait)
				}
				time.Sleep(wait)
				if past := time.Since(s.epoch) % period; past != 0 {
					t.Fatalf("%d others: a message leaves %v after the moment", others, past)
				}
				time.Sleep(time.Duration(rng.Int64N(int64(2 * period))))
			}
		})
	}
}

// For a moment no file descriptor is left to read a message from disk: it is sent afterwards, without another one.
func TestSenders_aMessageIsSentAfterAPassingErrorOfTheDisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		script, disk := faultfs.NewScript(), vfs.NewMem(1)
		fsys := faultfs.New(disk, script)
		box, err := outbox.Open(fsys, outbox.Options{Dir: "outbox", SegmentBytes: 4 << 10}, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := box.EnsureAgent("a1/1"); err != nil {
			t.Fatal(err)
		}
		for i := range 2000 { // so many that most are read from disk
			box.Put("a1/1", message.AppendLink(nil, &queued.URL{Rest: fmt.Appendf(nil, "http://a.test/%02000d", i)}))
		}
		script.Add(faultfs.Rule{Op: faultfs.Read, Count: 2, Err: syscall.EMFILE})
		guard := &outage.DiskGuard{
			Fs: fsys, Gate: outage.NewGate(func() {}), Most: func() int64 { return 0 }, Warn: func(string, ...any) {},
		}
		s := newSenders(senderOptions{
			Outbox: box, Journal: &journal.Store{Disk: guard}, Log: slog.New(slog.DiscardHandler),
			Others: func() int { return 1 }, Wake: func() {},
			Send:   func(context.Context, string, uint64, []byte) error { return nil },
			Attend: func(string, string) func(ctx context.Context) { return func(context.Context) {} },
		})
		s.Add(t.Context(), "a1", "a1/1")
		time.Sleep(time.Hour)
		if n := box.Counts("a1/1").Backlog; n > 0 {
			t.Errorf("%d items wait an hour after the error", n)
		}
		if pauses, _ := guard.Pauses(); pauses != 1 {
			t.Errorf("%d errors of the disk: the test shows nothing", pauses)
		}
		s.Remove("a1/1")
		s.Wait()
	})
}

// What an agent does not take stays in the outbox and is sent again, until it arrives or cannot be read. When each
// sender has been told to wait, the message is not sent before that. Each outcome is counted.
func TestSenders_aMessageIsSentUntilItIsDone(t *testing.T) {
	held := &peering.WaitError{Wait: time.Minute}
	for name, c := range map[string]struct {
		answers []error
		want    string // sent, held, failed, refused
		least   time.Duration
	}{
		"taken at once":  {[]error{nil}, "1 0 0 0", 0},
		"lost twice":     {[]error{errors.New("lost"), errors.New("lost"), nil}, "1 0 2 0", 2 * lingerPerAgent},
		"held":           {[]error{held, held, held, held, nil}, "1 4 0 0", time.Minute},
		"not understood": {[]error{peering.ErrMalformed}, "0 0 0 1", 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			box, err := outbox.Open(vfs.NewMem(1), outbox.Options{Dir: "outbox"}, nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := box.EnsureAgent("a1/1"); err != nil {
				t.Fatal(err)
			}
			var tries, attended atomic.Int64
			s := newSenders(senderOptions{
				Outbox: box, Journal: &journal.Store{Disk: new(outage.DiskGuard)}, Log: slog.New(slog.DiscardHandler),
				Others: func() int { return 1 }, Wake: func() {},
				Send: func(_ context.Context, to string, _ uint64, _ []byte) error {
					if to != "a1" {
						t.Errorf("it is sent to %q", to)
					}
					return c.answers[min(int(tries.Add(1)), len(c.answers))-1]
				},
				Attend: func(string, string) func(ctx context.Context) {
					return func(ctx context.Context) {
						attended.Add(1)
						<-ctx.Done()
					}
				},
			})
			box.Put("a1/1", message.AppendLink(nil, &queued.URL{Rest: []byte("http://a.test/")}))
			began := time.Now()
			for range 2 { // the second time changes nothing
				s.Add(t.Context(), "a1", "a1/1")
			}
			for waiting := 1; waiting > 0; waiting = box.Counts("a1/1").Backlog {
				if time.Since(began) > 2*time.Minute {
					t.Fatalf("%s: %d items wait still", name, waiting)
				}
				time.Sleep(10 * time.Millisecond)
			}
			if took := time.Since(began); took < c.least || took > c.least+2*time.Second {
				t.Errorf("%s: it took %v", name, took)
			}
			got := fmt.Sprint(s.Sent.Load(), s.Held.Load(), s.Failed.Load(), s.Refused.Load())
			if got != c.want || attended.Load() != 1 {
				t.Errorf("%s: sent, held, failed, refused: %s, want %s; %d loops", name, got, c.want, attended.Load())
			}
			if !s.Remove("a1/1") || s.Remove("a1/1") {
				t.Errorf("%s: an agent was not there, or is there twice", name)
			}
			s.Wait()
		})
	}
}

// An agent joins while the disk is full, so that it can have no queue yet. Messages are sent to it when there is room.
func TestSenders_anAgentIsAddedWhenAFullDiskHasRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		script, disk := faultfs.NewScript(), vfs.NewMem(1)
		fsys := faultfs.New(disk, script)
		box, err := outbox.Open(fsys, outbox.Options{Dir: "outbox", SegmentBytes: 4 << 10}, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		script.Add(faultfs.Rule{Op: faultfs.Mkdir, Count: 3, Err: syscall.ENOSPC})
		guard := &outage.DiskGuard{
			Fs: fsys, Gate: outage.NewGate(func() {}), Most: func() int64 { return 0 }, Warn: func(string, ...any) {},
		}
		s := newSenders(senderOptions{
			Outbox: box, Journal: &journal.Store{Disk: guard}, Log: slog.New(slog.DiscardHandler),
			Others: func() int { return 1 }, Wake: func() {},
			Send:   func(context.Context, string, uint64, []byte) error { return nil },
			Attend: func(string, string) func(ctx context.Context) { return func(context.Context) {} },
		})
		ctx, stop := context.WithCancel(t.Context())
		s.Add(ctx, "a1", "a1/1")
		box.Put("a1/1", message.AppendLink(nil, &queued.URL{Rest: []byte("http://a.test/")}))
		time.Sleep(time.Minute)
		if n := box.Counts("a1/1").Backlog; n > 0 || s.Sent.Load() != 1 {
			t.Errorf("%d items wait, %d messages were sent", n, s.Sent.Load())
		}
		if pauses, _ := guard.Pauses(); pauses == 0 {
			t.Error("no error of the disk: the test shows nothing")
		}
		stop()
		s.Wait()
	})
}
