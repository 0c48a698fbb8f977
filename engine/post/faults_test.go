package post

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// noise does not pack.
func noise(n int) []byte {
	rng := rand.NewChaCha8([32]byte{1})
	b := make([]byte, n)
	rng.Read(b)
	return b
}

// A peer that takes 1 KiB a second makes Send wait, and nothing else: what is on its way is bounded, a letter to another peer takes no
// longer, the connection is not taken for dead, and in the end everything has arrived.
func TestG02_aSlowPeerMakesSendWaitAndNothingElse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := newVillage(t, true)
		var received atomic.Int64
		_, slow := v.agent("slow", Options{Receive: func(_ context.Context, _ string, b []byte) error {
			received.Add(int64(len(b)))
			return nil
		}})
		a, _ := v.agent("a", Options{})
		const letters, size = 12, 128 << 10
		if err := a.Send(t.Context(), slow, nil); err != nil {
			t.Fatal(err)
		}
		v.set(1<<10, false)
		began := time.Now()
		var all sync.WaitGroup
		for range letters {
			all.Go(func() {
				if err := a.Send(t.Context(), slow, noise(size)); err != nil {
					t.Error(err)
				}
			})
		}
		time.Sleep(time.Minute)
		if s := a.Stats().Peers[0]; s.Out.UnderWay != 4 || s.Since.After(began) {
			t.Errorf("%+v", s)
		}
		v.set(0, false) // others are fast; the connection to the slow one keeps its pace for what it has begun to write
		fast, toFast := v.agent("fast", Options{})
		_ = fast
		if err := a.Send(t.Context(), toFast, noise(size)); err != nil || time.Since(began) > time.Minute+time.Second {
			t.Errorf("a letter to a fast peer took %v: %v", time.Since(began)-time.Minute, err)
		}
		v.set(1<<10, false)
		all.Wait()
		if took := time.Since(began); received.Load() != letters*size || took < 20*time.Minute || took > 40*time.Minute {
			t.Errorf("%d bytes arrived in %v", received.Load(), took)
		}
		if s := a.Stats().Peers; s[1].ID != "slow" || s[1].Since.After(began) || s[1].Out.Acknowledged != letters+1 {
			t.Errorf("%+v", s[1])
		}
	})
}

// A receiver whose disk does not answer holds Window batches of each sender, and no more bytes of all than it may.
func TestG02_whatAReceiverHoldsIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := newVillage(t, false)
		var now, most, count atomic.Int64
		release := make(chan struct{})
		_, b := v.agent("b", Options{Window: 3, BatchMax: 64 << 10, MemoryMax: 256 << 10, Receive: func(_ context.Context, _ string, b []byte) error {
			most.Store(max(most.Load(), now.Add(int64(len(b)))))
			count.Add(1)
			<-release
			now.Add(-int64(len(b)))
			return nil
		}})
		var all sync.WaitGroup
		for _, id := range []string{"a1", "a2", "a3"} {
			a, _ := v.agent(id, Options{Window: 8})
			for range 10 {
				all.Go(func() {
					if err := a.Send(t.Context(), b, noise(40<<10)); err != nil {
						t.Error(err)
					}
				})
			}
		}
		synctest.Wait()
		if count.Load() != 6 || most.Load() != 6*40<<10 {
			t.Errorf("%d letters of %d bytes are being received", count.Load(), most.Load())
		}
		close(release)
		all.Wait()
		if most.Load() > 256<<10 || count.Load() != 30 {
			t.Errorf("%d letters, %d bytes at once", count.Load(), most.Load())
		}
	})
}

// A receiver that dies before its Receive has returned has acknowledged nothing: Send fails and says that it does not know. Sent again,
// the batch arrives, here for the second time.
func TestG08_noAcknowledgementBeforeReceiveReturns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := newVillage(t, true)
		a, _ := v.agent("a", Options{})
		disk := make(chan struct{})
		begun := make(chan struct{}, 10)
		o := Options{Receive: func(ctx context.Context, _ string, _ []byte) error {
			begun <- struct{}{}
			select {
			case <-disk:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		}}
		b, toB := v.agent("b", o)
		sent := make(chan error, 1)
		go func() { sent <- a.Send(t.Context(), toB, []byte("letter")) }()
		<-begun
		time.Sleep(time.Hour)
		select {
		case err := <-sent:
			t.Fatalf("acknowledged: %v", err)
		default:
		}
		if err := b.Close(); err != nil {
			t.Fatal(err)
		}
		if err := <-sent; !errors.Is(err, ErrUnknown) || !strings.Contains(err.Error(), "not known to have arrived") {
			t.Fatal(err)
		}
		close(disk)
		v.next-- // b comes back where it was
		_, toB = v.agent("b", o)
		if err := a.Send(t.Context(), toB, []byte("letter")); err != nil {
			t.Fatal(err)
		}
		if s := a.Stats().Peers[0].Out; s.Letters != 2 || s.Unknown != 1 || s.Acknowledged != 1 || s.UnderWay != 0 {
			t.Errorf("%+v", s)
		}
	})
}

// The connection breaks with several batches under way, over and over: each Send says so, nobody hangs, and what is sent again arrives.
func TestSend_theConnectionBreaksMidBatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := newVillage(t, true)
		var mu sync.Mutex
		got := make(map[string]int)
		_, b := v.agent("b", Options{Receive: func(_ context.Context, _ string, batch []byte) error {
			time.Sleep(10 * time.Millisecond)
			mu.Lock()
			defer mu.Unlock()
			got[string(batch[:4])]++
			return nil
		}})
		a, _ := v.agent("a", Options{})
		v.set(1<<20, false)
		ctx, stop := context.WithCancel(t.Context())
		go func() {
			for ctx.Err() == nil {
				time.Sleep(time.Duration(100+rand.IntN(900)) * time.Millisecond)
				v.cut()
			}
		}()
		var all sync.WaitGroup
		var again atomic.Int64
		const letters = 200
		for i := range letters {
			all.Go(func() {
				batch := append([]byte{'a', byte(i), byte(i >> 8), 0}, noise(60<<10)...)
				for {
					err := a.Send(t.Context(), b, batch)
					if err == nil {
						return
					}
					if !errors.Is(err, ErrUnknown) && !errors.Is(err, ErrUnreachable) {
						t.Error(err)
					}
					again.Add(1)
				}
			})
		}
		all.Wait()
		stop()
		if len(got) != letters || again.Load() == 0 {
			t.Errorf("%d of %d letters arrived, %d were sent again", len(got), letters, again.Load())
		}
		s := a.Stats().Peers[0].Out
		if s.Letters != s.Acknowledged+s.Unknown || s.UnderWay != 0 || s.Acknowledged != letters {
			t.Errorf("%+v", s)
		}
		synctest.Wait()
	})
}

// A peer whose machine is gone says nothing more, not even that: it is noticed within ten seconds or so, while sending and while idle; on
// the other side, where nobody waits, within a minute.
func TestSend_aDeadPeerIsNoticed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := newVillage(t, true)
		b, toB := v.agent("b", Options{})
		a, _ := v.agent("a", Options{})
		if err := a.Send(t.Context(), toB, []byte("letter")); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Hour)
		if since := a.Stats().Peers[0].Since; time.Since(since) < time.Hour {
			t.Errorf("an idle connection lasted since %v", since)
		}
		v.set(0, true)
		began := time.Now()
		err := a.Send(t.Context(), toB, []byte("letter"))
		if took := time.Since(began); !errors.Is(err, ErrUnknown) || took > 12*time.Second {
			t.Errorf("after %v: %v", took, err)
		}
		if !strings.Contains(a.Stats().Peers[0].LastError, "has not been heard") {
			t.Error(a.Stats().Peers[0].LastError)
		}
		time.Sleep(time.Minute - time.Since(began))
		if s := b.Stats().Peers[0]; !s.Heard.IsZero() {
			t.Errorf("the receiver thinks that it is connected: %+v", s)
		}
		v.cut()
		v.set(0, false)
		if err := a.Send(t.Context(), toB, []byte("letter")); err != nil {
			t.Error(err)
		}
	})
}

// Nobody listens: Send fails after its patience and says what connecting said. When somebody does, it arrives without more ado.
func TestSend_nobodyThere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := newVillage(t, true)
		a, _ := v.agent("a", Options{})
		nobody := Peer{"b", netip.MustParseAddrPort("127.0.0.1:7002")}
		began := time.Now()
		err := a.Send(t.Context(), nobody, []byte("letter"))
		if took := time.Since(began); !errors.Is(err, ErrUnreachable) || !strings.Contains(err.Error(), "connection refused") || took != 10*time.Second {
			t.Errorf("after %v: %v", took, err)
		}
		time.AfterFunc(3*time.Second, func() { v.agent("b", Options{}) })
		began = time.Now()
		if err := a.Send(t.Context(), nobody, []byte("letter")); err != nil || time.Since(began) > 9*time.Second {
			t.Errorf("after %v: %v", time.Since(began), err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := a.Send(ctx, Peer{"c", netip.MustParseAddrPort("127.0.0.1:7003")}, nil); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
	})
}

// The three ways in which a receiver does not take a batch are told apart, and counted at both ends.
func TestSend_whatTheReceiverSays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := newVillage(t, false)
		b, toB := v.agent("b", Options{Receive: func(_ context.Context, _ string, batch []byte) error {
			switch string(batch) {
			case "quota":
				return &Quota{Wait: 20 * time.Second}
			case "bad":
				return errors.Join(ErrRefused, errors.New("it is "+strings.Repeat("very ", 100)+"bad"))
			}
			return errors.New("disk full")
		}})
		a, _ := v.agent("a", Options{})
		var q *Quota
		if err := a.Send(t.Context(), toB, []byte("quota")); !errors.As(err, &q) || q.Wait != 20*time.Second {
			t.Error(err)
		}
		if err := a.Send(t.Context(), toB, []byte("bad")); !errors.Is(err, ErrRefused) || !strings.Contains(err.Error(), "very very") {
			t.Error(err)
		}
		if err := a.Send(t.Context(), toB, []byte("x")); !errors.Is(err, ErrFailed) || !strings.Contains(err.Error(), "disk full") {
			t.Error(err)
		}
		if err := a.Send(t.Context(), toB, make([]byte, 1<<20+1)); !errors.Is(err, ErrRefused) {
			t.Error(err)
		}
		out, in := a.Stats().Peers[0].Out, b.Stats().Peers[0].In
		if in.Quota != 1 || in.Refused != 1 || in.Failed != 1 || in.Letters != 3 || out != in {
			t.Errorf("%+v\n%+v", out, in)
		}
	})
}

// A receiver that takes shorter batches than the sender makes says so, and the sender does not send.
func TestSend_theReceiversLimitIsKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := newVillage(t, false)
		b, toB := v.agent("b", Options{BatchMax: 1000})
		a, _ := v.agent("a", Options{})
		if err := a.Send(t.Context(), toB, make([]byte, 1001)); !errors.Is(err, ErrRefused) || !strings.Contains(err.Error(), "at most 1000") {
			t.Error(err)
		}
		if err := a.Send(t.Context(), toB, noise(1000)); err != nil {
			t.Error(err)
		}
		if s := b.Stats(); s.Refused != [refusalsEnd]int64{} {
			t.Error(s.Refused)
		}
	})
}

// A Send that is given up keeps its place until the peer has answered, so that giving up and trying again does not flood it.
func TestSend_givenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := newVillage(t, false)
		disk := make(chan struct{})
		_, b := v.agent("b", Options{Receive: func(context.Context, string, []byte) error { <-disk; return nil }})
		a, _ := v.agent("a", Options{})
		for i := range 6 {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			err := a.Send(ctx, b, []byte("letter"))
			cancel()
			if want := i < 4; errors.Is(err, ErrUnknown) != want || !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("letter %d: %v", i, err)
			}
		}
		if s := a.Stats().Peers[0].Out; s.UnderWay != 4 || s.Letters != 4 {
			t.Errorf("%+v", s)
		}
		close(disk)
		synctest.Wait()
		if s := a.Stats().Peers[0].Out; s.Acknowledged != 4 || s.UnderWay != 0 {
			t.Errorf("%+v", s)
		}
	})
}

// One that was given up and whose connection breaks then is counted, too, as one that nobody knows of.
func TestSend_givenUpAndLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := newVillage(t, false)
		b, toB := v.agent("b", Options{Receive: func(ctx context.Context, _ string, _ []byte) error { <-ctx.Done(); return nil }})
		a, _ := v.agent("a", Options{})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := a.Send(ctx, toB, []byte("letter")); !errors.Is(err, ErrUnknown) {
			t.Error(err)
		}
		v.cut()
		synctest.Wait()
		if s := a.Stats().Peers[0].Out; s.Unknown != 1 || s.UnderWay != 0 {
			t.Errorf("%+v", s)
		}
		if s := b.Stats().Peers[0].In; s.Unknown != 1 || s.UnderWay != 0 {
			t.Errorf("%+v", s)
		}
	})
}

// Close ends what is under way at once, and waits for it; a peer that is forgotten, too, and one that moves is found at its new place.
func TestClose_endsWhatIsUnderWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := newVillage(t, true)
		var receiving atomic.Int64
		o := Options{
			Receive: func(ctx context.Context, _ string, _ []byte) error {
				receiving.Add(1)
				<-ctx.Done()
				time.Sleep(time.Second) // it takes its time
				receiving.Add(-1)
				return ctx.Err()
			},
			Answer: func(ctx context.Context, _ string, _ byte, _ []byte) ([]byte, error) {
				receiving.Add(1)
				<-ctx.Done()
				receiving.Add(-1)
				return nil, ctx.Err()
			},
		}
		b, toB := v.agent("b", o)
		a, toA := v.agent("a", o)
		failed := make(chan error, 6)
		begin := func(from *Office, to Peer) {
			go func() { failed <- from.Send(t.Context(), to, []byte("letter")) }()
			go func() { _, err := from.Ask(t.Context(), to, 1, nil); failed <- err }()
		}
		begin(a, toB)
		begin(b, toA)
		synctest.Wait()
		a.Forget("b")
		for range 2 {
			if err := <-failed; !errors.Is(err, ErrUnknown) || !errors.Is(err, ErrClosed) {
				t.Error(err)
			}
		}
		begin(a, toB)
		time.Sleep(2 * time.Second) // the Receive of before has to end first
		if err := b.Close(); err != nil {
			t.Error(err)
		}
		for range 4 { // b may yet say that it did not keep it
			if err := <-failed; !errors.Is(err, ErrUnknown) && !errors.Is(err, ErrFailed) {
				t.Error(err)
			}
		}
		time.Sleep(2 * time.Second)
		if receiving.Load() != 0 {
			t.Errorf("%d are still received", receiving.Load())
		}
		if err := b.Send(t.Context(), toA, nil); !errors.Is(err, ErrClosed) {
			t.Error(err)
		}
		c, toB := v.agent("b", Options{})
		_ = c
		if err := a.Send(t.Context(), toB, []byte("letter")); err != nil {
			t.Error(err)
		}
		if err := errors.Join(a.Close(), a.Close(), b.Close()); err != nil {
			t.Error(err)
		}
	})
}

// A connection whose peer does not read is closed at once with its Office: gRPC would wait some seconds.
func TestClose_doesNotWaitForASlowPeer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := newVillage(t, true)
		_, toB := v.agent("b", Options{})
		a, _ := v.agent("a", Options{})
		if err := a.Send(t.Context(), toB, nil); err != nil {
			t.Fatal(err)
		}
		v.set(1<<10, false)
		failed := make(chan error, 1)
		go func() { failed <- a.Send(t.Context(), toB, noise(100<<10)) }()
		time.Sleep(10 * time.Second)
		began := time.Now()
		if err := a.Close(); err != nil {
			t.Error(err)
		}
		if err := <-failed; !errors.Is(err, ErrUnknown) {
			t.Error(err)
		}
		synctest.Wait()
		if n := v.open(); n != 0 || time.Since(began) > 0 {
			t.Errorf("%d connections are open, after %v", n, time.Since(began))
		}
	})
}

// Sixty-four agents write to each other at once.
func TestSend_sixtyFourAgents(t *testing.T) {
	const agents = 64
	synctest.Test(t, func(t *testing.T) {
		v := newVillage(t, false)
		var received atomic.Int64
		var offices []*Office
		var peers []Peer
		for i := range agents {
			o, p := v.agent(fmt.Sprintf("agent-%d", i), Options{Receive: func(context.Context, string, []byte) error { received.Add(1); return nil }})
			offices, peers = append(offices, o), append(peers, p)
			_ = o
		}
		var all sync.WaitGroup
		for i, o := range offices {
			for k := range 8 { // so that every agent has eight that write to it
				all.Go(func() {
					if err := o.Send(t.Context(), peers[(i+1+k*7)%agents], []byte("letter")); err != nil {
						t.Error(err)
					}
				})
			}
		}
		all.Wait()
		if received.Load() != agents*8 {
			t.Errorf("%d arrived", received.Load())
		}
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		t.Logf("%d goroutines, %d MB of heap", runtime.NumGoroutine(), m.HeapInuse>>20)
	})
}
