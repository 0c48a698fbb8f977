package transport

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/engine/peering"
)

// Batches whose Sends do not overlap arrive in their order, whole, under the name of their sender. Send returns after
// Receive.
func TestSend_arrivesWholeAndIsAcknowledgedWhenReceived(t *testing.T) {
	for _, secure := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			c := newCluster(t, secure)
			var got []string
			_, toB := c.agent("b", Options{Receive: func(_ context.Context, from string, batch []byte) error {
				time.Sleep(time.Second)
				got = append(got, from+":"+string(batch))
				return nil
			}})
			a, _ := c.agent("a", Options{})
			var want []string
			for i := range 5 {
				text := strings.Repeat(fmt.Sprintf("http://example.org/%d\n", i), 1+1000*i)
				if i == 4 {
					text = ""
				}
				began := time.Now()
				if err := a.Send(t.Context(), toB, uint64(i+1), []byte(text)); err != nil {
					t.Fatal(err)
				}
				if time.Since(began) < time.Second {
					t.Error("acknowledged before it was received")
				}
				want = append(want, "a:"+text)
			}
			if !slices.Equal(got, want) {
				t.Errorf("%d batches arrived, %d were sent, or they differ", len(got), len(want))
			}
		})
	}
}

// Requests are answered, and the ways in which a request can fail are told apart.
func TestCall_isAnsweredOrFailsWithTheReason(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, true)
		_, toB := c.agent("b", Options{Respond: func(_ context.Context, from string, kind byte, q []byte) ([]byte, error) {
			switch kind {
			case 1:
				return bytes.Repeat([]byte(from+string(q)), 1000), nil
			case 2:
				return nil, &peering.WaitError{Wait: 1500 * time.Millisecond}
			case 3:
				return nil, fmt.Errorf("no such kind: %w", peering.ErrMalformed)
			case 4:
				return make([]byte, 2<<20), nil
			}
			return nil, errors.New("disk full")
		}})
		a, _ := c.agent("a", Options{})
		got, err := a.Call(t.Context(), toB, 1, []byte("?"))
		if err != nil || !bytes.Equal(got, bytes.Repeat([]byte("a?"), 1000)) {
			t.Errorf("%.20q, %v", got, err)
		}
		var q *peering.WaitError
		if _, err := a.Call(t.Context(), toB, 2, nil); !errors.As(err, &q) || q.Wait != 1500*time.Millisecond {
			t.Error(err)
		}
		_, err = a.Call(t.Context(), toB, 3, nil)
		if !errors.Is(err, peering.ErrMalformed) || !strings.Contains(err.Error(), "no such kind") {
			t.Error(err)
		}
		for kind := byte(4); kind < 6; kind++ {
			if _, err := a.Call(t.Context(), toB, kind, nil); !errors.Is(err, ErrFailed) {
				t.Error(err)
			}
		}
		if _, err := a.Call(t.Context(), toB, 1, make([]byte, 1<<20+1)); !errors.Is(err, peering.ErrMalformed) {
			t.Error(err)
		}
		_, toC := c.agent("c", Options{})
		if _, err := a.Call(t.Context(), toC, 1, nil); !errors.Is(err, peering.ErrMalformed) {
			t.Error(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, toD := c.agent("d", Options{Respond: func(ctx context.Context, _ string, _ byte, _ []byte) ([]byte, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}})
		if _, err := a.Call(ctx, toD, 1, nil); !errors.Is(err, ErrUnknown) || !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
	})
}

// Both directions at once, several batches at a time: all arrive once.
func TestSend_bothWaysAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, true)
		var mu sync.Mutex
		got := make(map[string]int)
		o := Options{Receive: func(_ context.Context, from string, batch []byte) error {
			time.Sleep(time.Millisecond)
			mu.Lock()
			defer mu.Unlock()
			got[from+string(batch)]++
			return nil
		}}
		a, toA := c.agent("a", o)
		b, toB := c.agent("b", o)
		var all sync.WaitGroup
		for i := range 200 {
			all.Go(func() {
				if err := send(t, a, toB, fmt.Appendf(nil, "%d", i)); err != nil {
					t.Error(err)
				}
			})
			all.Go(func() {
				if err := send(t, b, toA, fmt.Appendf(nil, "%d", i)); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		for i := range 200 {
			if fromA, fromB := got[fmt.Sprintf("a%d", i)], got[fmt.Sprintf("b%d", i)]; fromA != 1 || fromB != 1 {
				t.Errorf("batch %d arrived %d and %d times", i, fromA, fromB)
			}
		}
	})
}

// A batch that is sent again with its sequence is acknowledged and not received again. The same sequence is another
// batch if another agent sends it, or another incarnation of the same agent, or to another peer. Sequence 0 is never
// recognised.
func TestSend_aRepeatedBatchIsRecognised(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, true)
		var got []string
		_, toB := c.agent("b", Options{Receive: func(_ context.Context, from string, batch []byte) error {
			got = append(got, from+string(batch))
			return nil
		}})
		byOther := 0
		other, _ := c.agent("other", Options{Receive: func(context.Context, string, []byte) error { byOther++; return nil }})
		a, _ := c.agent("a", Options{})
		for _, from := range []*Transport{a, a, other, other} {
			for _, batch := range []string{"", "x", "y"} {
				if err := from.Send(t.Context(), toB, uint64(len(batch)), []byte(batch)); err != nil {
					t.Fatal(err)
				}
			}
		}
		if want := []string{"a", "ax", "a", "other", "otherx", "other"}; !slices.Equal(got, want) {
			t.Errorf("%q, want %q: x and y have one sequence", got, want)
		}
		if err := a.Close(); err != nil {
			t.Fatal(err)
		}
		got = nil
		restarted, _ := c.agent("a", Options{})
		for range 2 {
			if err := restarted.Send(t.Context(), toB, 1, []byte("z")); err != nil {
				t.Fatal(err)
			}
		}
		if want := []string{"az"}; !slices.Equal(got, want) {
			t.Errorf("after a restart of the sender: %q, want %q", got, want)
		}
		if err := restarted.Send(t.Context(), Peer{"other", other.Addr()}, 1, []byte("z")); err != nil {
			t.Fatal(err)
		}
		if byOther != 1 {
			t.Errorf("another peer received the batch %d times", byOther)
		}
	})
}

// The sender gives up while the batch is received, and sends it again. The batch is not received twice at once. If the
// first Receive succeeds, the second delivery is acknowledged by it. If it fails, the second one is received.
func TestSend_aRepeatedBatchWaitsForTheFirst(t *testing.T) {
	for _, failure := range []error{nil, errors.New("disk full")} {
		synctest.Test(t, func(t *testing.T) {
			c := newCluster(t, true)
			disk := make(chan error)
			calls := 0
			_, toB := c.agent("b", Options{Receive: func(context.Context, string, []byte) error {
				calls++
				return <-disk
			}})
			a, _ := c.agent("a", Options{})
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			if err := a.Send(ctx, toB, 1, []byte("batch")); !errors.Is(err, ErrUnknown) {
				t.Error(err)
			}
			sent := make(chan error, 1)
			go func() { sent <- a.Send(t.Context(), toB, 1, []byte("batch")) }()
			synctest.Wait()
			if calls != 1 {
				t.Errorf("received %d times at once", calls)
			}
			disk <- failure
			synctest.Wait()
			if failure != nil {
				disk <- nil
			}
			if err := <-sent; err != nil {
				t.Error(err)
			}
			if want := map[bool]int{true: 1, false: 2}[failure == nil]; calls != want {
				t.Errorf("received %d times, want %d", calls, want)
			}
		})
	}
}

// The receiver remembers the last receivedMax batches of each sender, and no more.
func TestReceivedLog_isBounded(t *testing.T) {
	var r receivedLog
	received := make(map[uint64]int)
	once := func(incarnation, sequence uint64) bool {
		before := received[sequence]
		if err := r.once(t.Context(), incarnation, sequence, func() error { received[sequence]++; return nil }); err != nil {
			t.Fatal(err)
		}
		return received[sequence] == before
	}
	for sequence := uint64(1); sequence <= 1000; sequence++ {
		if once(1, sequence) || !once(1, sequence) {
			t.Fatalf("batch %d", sequence)
		}
		if oldest := max(1, int64(sequence)-receivedMax+1); !once(1, uint64(oldest)) {
			t.Fatalf("at batch %d, batch %d is forgotten", sequence, oldest)
		}
	}
	if l := r.current; len(l.durable) != receivedMax || len(l.recent) != receivedMax || len(l.running) != 0 {
		t.Errorf("%d batches, %d in the ring, %d running", len(l.durable), len(l.recent), len(l.running))
	}
	if once(1, 1000-receivedMax) || once(2, 1000) || once(1, 1000) {
		t.Error("an old batch, or one of another incarnation, is remembered")
	}
	if received[999] != 1 || received[1000] != 3 {
		t.Errorf("received %d and %d times", received[999], received[1000])
	}
}
