package crawl

import (
	"context"
	"errors"
	"net"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/bench/scenario/testbed"
	"orbweaver/engine"
)

// busyWeb is a web whose connections take a second to open, and says how many are being opened.
type busyWeb struct {
	testbed.OutageWeb
	opening, peak, dials atomic.Int64
	isLost               func(n int64) bool // connections that time out instead, by number
}

// DialContext implements engine.Dialer.
func (w *busyWeb) DialContext(ctx context.Context, network, addr string) (net.Conn, error) {
	n := w.opening.Add(1)
	defer w.opening.Add(-1)
	for peak := w.peak.Load(); n > peak && !w.peak.CompareAndSwap(peak, n); peak = w.peak.Load() {
	}
	lost := w.isLost(w.dials.Add(1))
	select {
	case <-time.After(time.Second):
	case <-ctx.Done():
	}
	if lost {
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: os.NewSyscallError("connect", syscall.ETIMEDOUT)}
	}
	return w.OutageWeb.DialContext(ctx, network, addr)
}

// begin runs a crawl of the web with 128 fetch workers.
func (w *busyWeb) begin(t *testing.T) (*testbed.Rig, *engine.Engine, <-chan error) {
	t.Helper()
	rig, cfg := w.Config(t)
	cfg.Workers.Fetchers = 128
	w.Begin()
	seams := rig.Seams(rig.FS)
	seams.Dialer, seams.Resolver = w, w
	e, err := engine.Open(cfg, seams)
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- e.Run(t.Context()) }()
	return rig, e, done
}

// The operator pauses the crawl, lowers the number of active fetchers while all of them wait, and goes on: many sites
// are due. No more exchanges are under way than there are active fetchers, and each page is fetched once.
func TestActiveFetchers_fallWhileAllWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &busyWeb{OutageWeb: testbed.OutageWeb{Sites: 400, Pages: 8}, isLost: func(int64) bool { return false }}
		w.Condition = testbed.Lasting(testbed.Condition{}, 0)
		rig, e, done := w.begin(t)
		testbed.Wait(10 * time.Second)
		for _, fetchers := range []int{20, 128, 1, 90, 5, 128} {
			e.Operator().Pause()
			testbed.Wait(30 * time.Second)
			if err := testbed.Set(t, e, "fetchers", strconv.Itoa(fetchers)); err != nil {
				t.Error(err)
			}
			w.peak.Store(0)
			e.Operator().Resume()
			testbed.Wait(5 * time.Second)
			if peak := w.peak.Load(); peak != int64(fetchers) {
				t.Errorf("%d exchanges at a time with %d active fetchers", peak, fetchers)
			}
		}
		r := testbed.WaitEnd(t, rig, e, done)
		w.Open.Wait()
		w.Complete(t, r)
	})
}

// One connection in five times out while twenty workers are busy, so the number of active fetchers falls, without an
// operator. Then the names of 300 sites resolve, and all are due. No more exchanges are under way than there are active
// fetchers. The number rises again when the time-outs end, and each page is fetched once.
func TestActiveFetchers_fallWhenConnectionsTimeOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &busyWeb{OutageWeb: testbed.OutageWeb{Sites: 400, Pages: 20}}
		w.Condition = func(site int, since time.Duration) (c testbed.Condition) {
			if site >= 100 && since < time.Minute {
				c.Name = errors.New("the name server is away")
			}
			return c
		}
		w.isLost = func(n int64) bool { return n%5 == 0 && n > 200 && n < 2000 }
		rig, e, done := w.begin(t)
		testbed.Wait(time.Minute - time.Second)
		if w.peak.Swap(0) < 20 {
			t.Errorf("%d workers were busy: the test shows nothing", w.peak.Load())
		}
		testbed.Wait(10 * time.Second)
		if w.peak.Load() > 20 {
			t.Errorf("%d exchanges at a time while connections time out", w.peak.Load())
		}
		r := testbed.WaitEnd(t, rig, e, done)
		w.Open.Wait()
		w.Complete(t, r)
		for _, line := range []string{"the number of active fetchers is reduced", "all fetchers are active"} {
			if !strings.Contains(rig.EngineLog.String(), line) {
				t.Errorf("the log does not say that %s", line)
			}
		}
	})
}
