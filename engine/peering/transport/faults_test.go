package transport

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

	"orbweaver/engine/peering"
)

// A peer to which 1 KiB per second gets through makes Send wait. What is in flight is bounded, a batch to another peer
// takes no longer, the connection is not considered dead, and in the end all batches have arrived.
func TestG02_aSlowPeerMakesSendWaitAndNothingElse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, true)
		var received atomic.Int64
		_, slow := c.agent("slow", Options{Receive: func(_ context.Context, _ string, b []byte) error {
			received.Add(int64(len(b)))
			return nil
		}})
		a, _ := c.agent("a", Options{})
		const batches, size = 12, 128 << 10
		if err := send(t, a, slow, nil); err != nil {
			t.Fatal(err)
		}
		c.set(1<<10, false)
		connections := c.dialled.Load()
		began := time.Now()
		var all sync.WaitGroup
		for range batches {
			all.Go(func() {
				if err := send(t, a, slow, noise(size)); err != nil {
					t.Error(err)
				}
			})
		}
		time.Sleep(time.Minute)
		if n := inFlight(a, "slow"); n != 4 {
			t.Errorf("%d batches in flight", n)
		}
		c.set(0, false) // for new connections and further writes of others
		_, toFast := c.agent("fast", Options{})
		if err := send(t, a, toFast, noise(size)); err != nil || time.Since(began) > time.Minute+time.Second {
			t.Errorf("a batch to a fast peer took %v: %v", time.Since(began)-time.Minute, err)
		}
		c.set(1<<10, false)
		all.Wait()
		if took := time.Since(began); received.Load() != batches*size || took < 20*time.Minute || took > 40*time.Minute {
			t.Errorf("%d bytes arrived in %v", received.Load(), took)
		}
		if n := c.dialled.Load() - connections; n != 1 {
			t.Errorf("%d connections were made, want that to the fast peer", n)
		}
	})
}

// A receiver whose disk does not answer processes Window batches of each sender, and holds no more bytes of all senders
// than it may, besides one batch of each sender that waits for memory.
func TestG02_whatAReceiverHoldsIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, false)
		var now, most, count atomic.Int64
		release := make(chan struct{})
		_, toB := c.agent("b", Options{
			Window: 3, BatchMax: 64 << 10, MemoryMax: 256 << 10,
			Receive: func(_ context.Context, _ string, b []byte) error {
				most.Store(max(most.Load(), now.Add(int64(len(b)))))
				count.Add(1)
				<-release
				now.Add(-int64(len(b)))
				return nil
			},
		})
		var all sync.WaitGroup
		for _, id := range []string{"a1", "a2", "a3"} {
			a, _ := c.agent(id, Options{Window: 8})
			for range 10 {
				all.Go(func() {
					if err := send(t, a, toB, noise(40<<10)); err != nil {
						t.Error(err)
					}
				})
			}
		}
		synctest.Wait()
		if count.Load() != 6 || most.Load() != 6*40<<10 {
			t.Errorf("%d batches of %d bytes are being received", count.Load(), most.Load())
		}
		close(release)
		all.Wait()
		if most.Load() > 256<<10 || count.Load() != 30 {
			t.Errorf("%d batches, %d bytes at once", count.Load(), most.Load())
		}
	})
}

// A receiver that dies before its Receive has returned has acknowledged nothing: Send fails with ErrUnknown. Sent
// again, the batch arrives, here for the second time.
func TestG08_noAcknowledgementBeforeReceiveReturns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, true)
		a, _ := c.agent("a", Options{})
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
		b, toB := c.agent("b", o)
		sent := make(chan error, 1)
		go func() { sent <- a.Send(t.Context(), toB, 1, []byte("batch")) }()
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
		c.port-- // b comes back where it was
		_, toB = c.agent("b", o)
		if err := a.Send(t.Context(), toB, 1, []byte("batch")); err != nil {
			t.Fatal(err)
		}
	})
}

// The connection breaks with several batches in flight, many times. Each Send says so, and batches that are sent again
// with their sequences arrive; none is received again after its Receive succeeded.
func TestSend_theConnectionBreaksMidBatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, true)
		var mu sync.Mutex
		got := make(map[string]int)
		b, toB := c.agent("b", Options{Receive: func(_ context.Context, _ string, batch []byte) error {
			time.Sleep(10 * time.Millisecond)
			mu.Lock()
			defer mu.Unlock()
			got[string(batch[:4])]++
			return nil
		}})
		a, _ := c.agent("a", Options{})
		c.set(1<<20, false)
		ctx, stop := context.WithCancel(t.Context())
		go func() {
			for ctx.Err() == nil {
				time.Sleep(time.Duration(100+rand.IntN(900)) * time.Millisecond)
				c.cut()
			}
		}()
		var all sync.WaitGroup
		var repeated atomic.Int64
		const batches = 200
		for i := range batches {
			all.Go(func() {
				batch := append([]byte{'a', byte(i), byte(i >> 8), 0}, noise(60<<10)...)
				for {
					err := a.Send(t.Context(), toB, uint64(i+1), batch)
					if err == nil {
						return
					}
					if !errors.Is(err, ErrUnknown) && !errors.Is(err, ErrUnreachable) {
						t.Error(err)
					}
					repeated.Add(1)
				}
			})
		}
		all.Wait()
		stop()
		if len(got) != batches || repeated.Load() == 0 {
			t.Errorf("%d of %d batches arrived, %d were sent again", len(got), batches, repeated.Load())
		}
		for batch, times := range got {
			if times != 1 {
				t.Errorf("batch %q was received %d times", batch, times)
			}
		}
		if n := refusedBy(b); n[RefusedMalformed]+n[RefusedTooLong]+n[RefusedBanned] > 0 {
			t.Errorf("refused %v", n)
		}
		synctest.Wait()
	})
}

// The machine of a peer is lost and sends nothing any more, not even that. A Send in progress fails within forty
// seconds, and the receiver closes its end within a minute.
func TestSend_aDeadPeerIsNoticed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, true)
		b, toB := c.agent("b", Options{})
		a, _ := c.agent("a", Options{})
		if err := send(t, a, toB, []byte("batch")); err != nil {
			t.Fatal(err)
		}
		c.set(0, true)
		began := time.Now()
		err := send(t, a, toB, []byte("batch"))
		if took := time.Since(began); !errors.Is(err, ErrUnknown) || took > keepAliveTime+keepAliveTimeout+time.Second {
			t.Errorf("after %v: %v", took, err)
		}
		time.Sleep(time.Minute - time.Since(began))
		if n := connectionsTo(b); n != 0 {
			t.Errorf("the receiver has %d connections", n)
		}
		c.cut()
		c.set(0, false)
		if err := send(t, a, toB, []byte("batch")); err != nil {
			t.Error(err)
		}
	})
}

// connectionsTo is how many connections an agent has accepted that are open.
func connectionsTo(t *Transport) int {
	t.auth.conns.mu.Lock()
	defer t.auth.conns.mu.Unlock()
	return t.auth.conns.mu.all
}

// An idle connection is closed after a minute, at both ends, without a refusal. The next Send connects again.
func TestSend_anIdleConnectionIsClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, true)
		b, toB := c.agent("b", Options{})
		a, _ := c.agent("a", Options{})
		for range 2 {
			if err := send(t, a, toB, nil); err != nil {
				t.Fatal(err)
			}
			time.Sleep(idleTimeout / 2)
			if n := connectionsTo(b); n != 1 {
				t.Errorf("%d connections", n)
			}
			time.Sleep(2 * idleTimeout)
			if n := connectionsTo(b); n != 0 || c.open() != 0 {
				t.Errorf("idle: %d connections", n)
			}
		}
		if n := refusedBy(b); n != [refusalsEnd]int64{} {
			t.Error(n)
		}
	})
}

// No agent listens: Send fails after its patience and says what connecting failed with. When one listens, the batch
// arrives.
func TestSend_noAgentListens(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, true)
		a, _ := c.agent("a", Options{})
		toB := Peer{"b", netip.MustParseAddrPort("127.0.0.1:7002")}
		began := time.Now()
		err := send(t, a, toB, []byte("batch"))
		if took := time.Since(began); !errors.Is(err, ErrUnreachable) || took != 10*time.Second {
			t.Errorf("after %v: %v", took, err)
		}
		if !strings.Contains(err.Error(), "connection refused") {
			t.Error(err)
		}
		time.AfterFunc(3*time.Second, func() { c.agent("b", Options{}) })
		began = time.Now()
		if err := send(t, a, toB, []byte("batch")); err != nil || time.Since(began) > 9*time.Second {
			t.Errorf("after %v: %v", time.Since(began), err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		err = a.Send(ctx, Peer{"c", netip.MustParseAddrPort("127.0.0.1:7003")}, 0, nil)
		if !errors.Is(err, ErrUnreachable) || !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
	})
}

// The sender distinguishes the three ways in which a receiver refuses a batch.
func TestSend_answersOfTheReceiver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, false)
		_, toB := c.agent("b", Options{Receive: func(_ context.Context, _ string, batch []byte) error {
			switch string(batch) {
			case "quota":
				return &peering.WaitError{Wait: 20 * time.Second}
			case "long":
				return &peering.WaitError{Wait: 20 * time.Hour}
			case "bad":
				return errors.Join(peering.ErrMalformed, errors.New("it is "+strings.Repeat("very ", 100)+"bad"))
			}
			return errors.New("disk full")
		}})
		a, _ := c.agent("a", Options{})
		var q *peering.WaitError
		if err := send(t, a, toB, []byte("quota")); !errors.As(err, &q) || q.Wait != 20*time.Second {
			t.Error(err)
		}
		if err := send(t, a, toB, []byte("long")); !errors.As(err, &q) || q.Wait != waitMax {
			t.Error(err)
		}
		err := send(t, a, toB, []byte("bad"))
		if !errors.Is(err, peering.ErrMalformed) || !strings.Contains(err.Error(), "very very") {
			t.Error(err)
		}
		if err := send(t, a, toB, []byte("x")); !errors.Is(err, ErrFailed) || !strings.Contains(err.Error(), "disk full") {
			t.Error(err)
		}
		if err := send(t, a, toB, make([]byte, 1<<20+1)); !errors.Is(err, peering.ErrMalformed) {
			t.Error(err)
		}
		synctest.Wait()
	})
}

// A Send that is given up and tried again does not flood the receiver: of each sender, Window batches are processed.
func TestSend_givenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, false)
		disk := make(chan struct{})
		var running, most atomic.Int64
		_, toB := c.agent("b", Options{Receive: func(context.Context, string, []byte) error {
			most.Store(max(most.Load(), running.Add(1)))
			<-disk
			running.Add(-1)
			return nil
		}})
		a, _ := c.agent("a", Options{})
		for i := range 10 {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			err := a.Send(ctx, toB, 0, []byte("batch"))
			cancel()
			if !errors.Is(err, ErrUnknown) || !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("batch %d: %v", i, err)
			}
		}
		if n := inFlight(a, "b"); n != 0 {
			t.Errorf("%d batches in flight", n)
		}
		if most.Load() != 4 {
			t.Errorf("%d at once", most.Load())
		}
		close(disk)
		if err := send(t, a, toB, []byte("batch")); err != nil {
			t.Error(err)
		}
		synctest.Wait()
		if running.Load() != 0 {
			t.Errorf("%d still run", running.Load())
		}
	})
}

// A Send that is given up ends the Receive of its batch.
func TestSend_givenUpEndsReceive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, false)
		wait := func(ctx context.Context, _ string, _ []byte) error { <-ctx.Done(); return ctx.Err() }
		b, toB := c.agent("b", Options{Receive: wait})
		a, _ := c.agent("a", Options{})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := a.Send(ctx, toB, 1, []byte("batch")); !errors.Is(err, ErrUnknown) {
			t.Error(err)
		}
		synctest.Wait()
		if n := len(b.peers.byID["a"].batches); n != 0 {
			t.Errorf("%d batches are still received", n)
		}
	})
}

// Sixteen agents send to each other at once. With 64 the race detector itself sometimes fails, since gRPC has thousands
// of goroutines then.
func TestSend_manyAgents(t *testing.T) {
	const agents, receivers = 16, 8
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, false)
		var received atomic.Int64
		var transports []*Transport
		var peers []Peer
		for i := range agents {
			a, p := c.agent(fmt.Sprintf("agent-%d", i), Options{Receive: func(context.Context, string, []byte) error {
				received.Add(1)
				return nil
			}})
			transports, peers = append(transports, a), append(peers, p)
		}
		var all sync.WaitGroup
		for i, a := range transports {
			for k := range receivers { // so that each agent receives from as many
				all.Go(func() {
					if err := send(t, a, peers[(i+1+k*7)%agents], []byte("batch")); err != nil {
						t.Error(err)
					}
				})
			}
		}
		all.Wait()
		if received.Load() != agents*receivers {
			t.Errorf("%d arrived", received.Load())
		}
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		t.Logf("%d goroutines, %d MB of heap", runtime.NumGoroutine(), m.HeapInuse>>20)
	})
}

// inFlight is how many batches to a peer wait for their acknowledgement.
func inFlight(t *Transport, peer string) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.connections[peer].inFlight)
}

// refusedBy is what a Transport has refused, by reason.
func refusedBy(t *Transport) [refusalsEnd]int64 {
	t.refusals.mu.Lock()
	defer t.refusals.mu.Unlock()
	return t.refusals.counts
}
