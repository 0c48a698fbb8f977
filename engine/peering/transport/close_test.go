package transport

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// Close ends what is in progress at once, and waits for Receive and Respond. Forget ends the calls to one peer.
func TestClose_endsWhatIsInProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, true)
		var running atomic.Int64
		o := Options{
			Receive: func(ctx context.Context, _ string, _ []byte) error {
				running.Add(1)
				<-ctx.Done()
				time.Sleep(time.Second) // it does not end at once
				running.Add(-1)
				return ctx.Err()
			},
			Respond: func(ctx context.Context, _ string, _ byte, _ []byte) ([]byte, error) {
				running.Add(1)
				<-ctx.Done()
				running.Add(-1)
				return nil, ctx.Err()
			},
		}
		b, toB := c.agent("b", o)
		a, toA := c.agent("a", o)
		failed := make(chan error, 6)
		begin := func(from *Transport, to Peer) {
			go func() { failed <- send(t, from, to, []byte("batch")) }()
			go func() { _, err := from.Call(t.Context(), to, 1, nil); failed <- err }()
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
		time.Sleep(2 * time.Second)
		if err := b.Close(); err != nil {
			t.Error(err)
		}
		if n := running.Load(); n > 2 { // those at a, whose sender was b
			t.Errorf("%d run when b is closed", n)
		}
		for range 4 {
			if err := <-failed; !errors.Is(err, ErrUnknown) && !errors.Is(err, ErrFailed) {
				t.Error(err)
			}
		}
		time.Sleep(2 * time.Second)
		if running.Load() != 0 {
			t.Errorf("%d still run", running.Load())
		}
		if err := send(t, b, toA, nil); !errors.Is(err, ErrClosed) {
			t.Error(err)
		}
		_, toB = c.agent("b", Options{})
		if err := send(t, a, toB, []byte("batch")); err != nil {
			t.Error(err)
		}
		if err := errors.Join(a.Close(), a.Close(), b.Close()); err != nil {
			t.Error(err)
		}
	})
}

// A connection whose peer does not read is closed at once with its Transport: gRPC would wait some seconds.
func TestClose_doesNotWaitForASlowPeer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, true)
		_, toB := c.agent("b", Options{})
		a, _ := c.agent("a", Options{})
		if err := send(t, a, toB, nil); err != nil {
			t.Fatal(err)
		}
		c.set(1<<10, false)
		failed := make(chan error, 1)
		go func() { failed <- send(t, a, toB, noise(100<<10)) }()
		time.Sleep(10 * time.Second)
		began := time.Now()
		if err := a.Close(); err != nil {
			t.Error(err)
		}
		if err := <-failed; !errors.Is(err, ErrUnknown) {
			t.Error(err)
		}
		synctest.Wait()
		if n := c.open(); n != 0 || time.Since(began) > 0 {
			t.Errorf("%d connections are open, after %v", n, time.Since(began))
		}
	})
}
