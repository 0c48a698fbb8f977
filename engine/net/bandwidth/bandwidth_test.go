package bandwidth

import (
	"io"
	"math"
	"net"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// A download is a worker that receives a body, and what its server does.
type download struct {
	host  string
	rule  int64         // limit of the host
	piece int           // bytes that the server has ready each time
	pause time.Duration // of the server between two pieces

	received int64
	pieces   int
}

// run receives until the end of the test.
func (d *download) run(l *Limits, done <-chan struct{}) {
	f := l.NewFlow()
	f.BeginVisit()
	f.Begin(HostLimit{[]byte(d.host), d.rule})
	for {
		f.Wait(done)
		select {
		case <-done:
			return
		case <-time.After(d.pause):
		}
		n := min(d.piece, f.PieceMax())
		f.Received(n)
		d.received += int64(n)
		d.pieces++
	}
}

// during lets downloads run for a time, and returns the state of the limits at its end.
func during(l *Limits, d time.Duration, downloads ...*download) State {
	done := make(chan struct{})
	var running sync.WaitGroup
	for _, x := range downloads {
		running.Go(func() { x.run(l, done) })
	}
	<-time.After(d)
	s := l.State()
	close(done)
	running.Wait()
	return s
}

// isNear reports whether a rate is within 5 % of a limit.
func isNear(bytes int64, d time.Duration, limit int64) bool {
	return math.Abs(float64(bytes)/d.Seconds()-float64(limit)) <= 0.05*float64(limit)
}

// Downloads that could be a hundred times faster together have the limit, and equal shares of it.
func TestTotalIsKeptAndSharedFairly(t *testing.T) {
	for _, limit := range []int64{10 << 10, 1 << 20, 300 << 20} {
		synctest.Test(t, func(t *testing.T) {
			l := New(Options{Total: limit})
			var all []*download
			for range 50 {
				all = append(all, &download{piece: 1 << 20})
			}
			if s := during(l, 10*time.Minute, all...); !s.IsThrottling || s.Total != limit {
				t.Errorf("%+v", s)
			}
			var sum int64
			for _, d := range all {
				sum += d.received
				if share := float64(d.received) * 50 / (float64(limit) * 600); share < 0.9 || share > 1.1 {
					t.Errorf("limit %d: one of 50 downloads has %.2f of its share", limit, share)
				}
			}
			if !isNear(sum, 10*time.Minute, limit) {
				t.Errorf("limit %d: %d bytes in ten minutes", limit, sum)
			}
		})
	}
}

// A slow server takes nothing from the fast ones: what it leaves is theirs.
func TestASlowServerLeavesItsShareToTheOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := New(Options{Total: 1 << 20})
		slow := &download{piece: 100, pause: time.Second}
		all, sum := []*download{slow}, int64(0)
		for range 20 {
			all = append(all, &download{piece: 1 << 20})
		}
		during(l, 10*time.Minute, all...)
		for _, d := range all {
			sum += d.received
		}
		if !isNear(sum, 10*time.Minute, 1<<20) {
			t.Errorf("%d bytes in ten minutes", sum)
		}
		if slow.pieces < 300 {
			t.Errorf("the slow server could send %d of 600 pieces", slow.pieces)
		}
	})
}

// Each host has its limit, over all its connections. A rule of a host replaces the limit of all.
func TestEachHostHasItsLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := New(Options{PerHost: 100 << 10})
		a1, a2 := &download{host: "a.test", piece: 1 << 20}, &download{host: "a.test", piece: 1 << 20}
		b := &download{host: "b.test", piece: 1 << 20}
		ruled := &download{host: "c.test", piece: 1 << 20, rule: 5 << 20}
		during(l, 10*time.Minute, a1, a2, b, ruled)
		if !isNear(a1.received+a2.received, 10*time.Minute, 100<<10) {
			t.Errorf("two connections of a host: %d and %d bytes", a1.received, a2.received)
		}
		if !isNear(b.received, 10*time.Minute, 100<<10) || !isNear(ruled.received, 10*time.Minute, 5<<20) {
			t.Errorf("a host: %d bytes; one with a rule: %d bytes", b.received, ruled.received)
		}
	})
}

// Small pages come in one piece. The limit of their host lengthens the time to the next request, and the host is
// forgotten when its bytes are covered.
func TestSmallPagesPostponeTheirHost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := New(Options{PerHost: 1 << 10})
		f, began, bytes := l.NewFlow(), time.Now(), int64(0)
		for time.Since(began) < time.Hour {
			f.BeginVisit()
			f.Begin(HostLimit{Host: []byte("a.test")})
			f.Received(20 << 10)
			f.End()
			bytes += 20 << 10
			due := f.HostDue()
			f.EndVisit()
			<-time.After(time.Until(due))
		}
		if !isNear(bytes, time.Since(began), 1<<10) {
			t.Errorf("%d bytes in an hour", bytes)
		}
		for range 10_000 {
			f.Begin(HostLimit{Host: []byte(time.Now().String())})
			f.Received(1 << 10)
			f.End()
			<-time.After(100 * time.Millisecond)
		}
		if n := len(l.hosts.buckets); n > 2*sweepMin {
			t.Errorf("%d hosts are kept", n)
		}
	})
}

// Visits of one small page each start as fast as the limit covers them, whatever the workers could do at once.
func TestVisitsStartAsFastAsTheLimitAllows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const limit, page = 100 << 10, 5 << 10
		l := New(Options{Total: limit})
		var mu sync.Mutex
		bytes, underway, most := 0, 0, 0
		var workers sync.WaitGroup
		began := time.Now()
		for time.Since(began) < 10*time.Minute {
			workers.Go(func() {
				f := l.NewFlow()
				f.BeginVisit()
				defer f.EndVisit()
				mu.Lock()
				underway++
				most = max(most, underway)
				mu.Unlock()
				<-time.After(200 * time.Millisecond)
				mu.Lock()
				underway--
				if underway%7 == 0 { // some fail
					mu.Unlock()
					return
				}
				bytes += page
				mu.Unlock()
				f.Begin(HostLimit{})
				f.Received(page)
				f.End()
			})
			l.StartVisits(1, nil)
		}
		workers.Wait()
		if !isNear(int64(bytes), time.Since(began), limit) {
			t.Errorf("%d bytes in ten minutes", bytes)
		}
		if most > 20 {
			t.Errorf("%d exchanges at the same time, for 20 pages a second that take 0.2 s", most)
		}
	})
}

// A limit that is lifted frees all that wait, and a new one holds at once.
func TestALimitChangesWhileDownloadsRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := New(Options{Total: 1 << 10})
		d := &download{piece: 1 << 20, pause: time.Millisecond}
		steps := []struct{ rate, least, most int64 }{
			{1 << 10, 55 << 10, 65 << 10}, {0, 1 << 30, 1 << 40}, {1 << 20, 57 << 20, 63 << 20}, {0, 1 << 30, 1 << 40},
		}
		var waiting sync.WaitGroup
		done := make(chan struct{})
		waiting.Go(func() { d.run(l, done) })
		for _, step := range steps {
			synctest.Wait()
			before := d.received
			if err := l.Set(Total, step.rate); err != nil {
				t.Fatal(err)
			}
			<-time.After(time.Minute)
			synctest.Wait()
			if got := d.received - before; got < step.least || got > step.most {
				t.Errorf("%d bytes in a minute at %d/s", got, step.rate)
			}
		}
		close(done)
		waiting.Wait()
		if l.Set(Total, 100) == nil || l.Set(PerHost, -1) == nil || l.Set("ip-bandwidth", 1<<20) == nil {
			t.Error("a limit that is none was taken")
		}
	})
}

// Visits that were waiting for a worker when the limit was lifted cost nothing when there is a limit again.
func TestVisitsBeforeALimitWasLiftedAreForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const waiting, limit = 256, 100 << 10
		l := New(Options{Total: limit})
		var feeder sync.WaitGroup
		feeder.Go(func() { l.StartVisits(waiting, nil) })
		synctest.Wait()
		set := func(rate int64) {
			t.Helper()
			if err := l.Set(Total, rate); err != nil {
				t.Fatal(err)
			}
		}
		set(0)
		feeder.Wait()
		for range waiting {
			f := l.NewFlow()
			f.BeginVisit()
			f.EndVisit()
		}
		set(limit)
		began := time.Now()
		l.StartVisits(1, nil)
		if waited := time.Since(began); waited > time.Second {
			t.Errorf("the first Visit under a limit of %d waited %v", limit, waited)
		}
	})
}

// A worker whose exchange is cancelled does not wait.
func TestAWaitEndsWithTheExchange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := New(Options{Total: 1 << 10})
		f := l.NewFlow()
		f.BeginVisit()
		f.Begin(HostLimit{})
		f.Received(100 << 20)
		done := make(chan struct{})
		time.AfterFunc(time.Second, func() { close(done) })
		if waited := f.Wait(done); waited != time.Second {
			t.Errorf("%v", waited)
		}
	})
}

// What comes below TLS counts as it comes.
func TestWhatTLSReceivesCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := New(Options{Total: 1 << 10})
		f := l.NewFlow()
		f.BeginVisit()
		f.Begin(HostLimit{})
		ours, theirs := net.Pipe()
		m := Meter{Conn: ours, Flow: f}
		go func() {
			_, _ = theirs.Write(make([]byte, 10<<10))
			_ = theirs.Close()
		}()
		if n, err := io.Copy(io.Discard, &m); n != 10<<10 || err != nil {
			t.Fatal(n, err)
		}
		if waited := f.Wait(nil); waited < 9900*time.Millisecond || waited > 10100*time.Millisecond {
			t.Errorf("after 10 KiB at 1 KiB/s: %v", waited)
		}
	})
}

// BenchmarkExchange is what the limits cost an exchange of two reads: 16 KiB in all.
func BenchmarkExchange(b *testing.B) {
	for _, c := range []struct {
		name string
		o    Options
	}{{"off", Options{}}, {"total", Options{Total: 1 << 50}}, {"host", Options{PerHost: 1 << 50}}} {
		b.Run(c.name, func(b *testing.B) {
			l := New(c.o)
			b.ReportAllocs()
			b.RunParallel(func(pb *testing.PB) {
				f, host := l.NewFlow(), []byte("host.example")
				for pb.Next() {
					f.BeginVisit()
					f.Begin(HostLimit{Host: host})
					for range 2 {
						if f.PieceMax() < 1<<10 || f.Wait(nil) > time.Second {
							b.Error("held back")
						}
						f.Received(8 << 10)
					}
					f.End()
					f.EndVisit()
				}
			})
		})
	}
}
