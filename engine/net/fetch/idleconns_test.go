package fetch

import (
	"math/rand/v2"
	"net"
	"net/netip"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/zeebo/xxh3"
)

// recordingConn is a connection that records whether it was closed.
type recordingConn struct {
	net.Conn
	closed atomic.Bool // a timer's goroutine may write it
}

func (c *recordingConn) Close() error {
	c.closed.Store(true)
	return nil
}

// modelKeep is a slow model of IdleConns: a list of connections, oldest first.
type modelKeep struct {
	idle time.Duration
	most int
	list []modelKept
}

type modelKept struct {
	conn  *recordingConn
	site  siteOf
	until time.Time
}

func (m *modelKeep) put(site siteOf, c *recordingConn, allowed time.Duration) {
	idle := m.idle
	if allowed > 0 && allowed < idle {
		idle = allowed
	}
	for len(m.list) > 0 && !time.Now().Before(m.list[0].until) { // as the timer does
		m.list = m.list[1:]
	}
	if len(m.list) == m.most {
		return // c is closed
	}
	m.list = append(m.list, modelKept{c, site, time.Now().Add(idle)})
}

func (m *modelKeep) take(site siteOf) *recordingConn {
	for i, k := range slices.Backward(m.list) {
		if k.site == site {
			m.list = slices.Delete(m.list, i, i+1)
			if time.Now().Before(k.until) {
				return k.conn
			}
			return m.take(site)
		}
	}
	return nil
}

// IdleConns returns what the model returns. No connection is stored for too long or beyond the number, and all others
// are closed.
func TestKeepIsItsModel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(1, 2))
		const idle, most = 10 * time.Second, 5
		k, m := NewIdleConns(idle, most), &modelKeep{idle: idle, most: most}
		var all []*recordingConn
		out := map[*recordingConn]bool{}
		for range 20_000 {
			site := siteOf{name: xxh3.Uint128{Lo: rng.Uint64N(4)}}
			switch rng.IntN(5) {
			case 0, 1:
				c := &recordingConn{}
				all = append(all, c)
				allowed := time.Duration(rng.IntN(3)) * 7 * time.Second
				k.put(site, link{raw: c}, allowed)
				m.put(site, c, allowed)
			case 2, 3:
				l, ok := k.takeConn(site)
				want := m.take(site)
				if ok != (want != nil) || ok && l.raw != want {
					t.Fatalf("got %v %v, want %v", l.raw, ok, want)
				}
				if ok {
					out[want] = true
				}
			case 4:
				<-time.After(time.Duration(rng.IntN(4)) * time.Second)
				synctest.Wait()
			}
			if held := k.Stats().Held; held > most {
				t.Fatalf("%d held", held)
			}
			for _, x := range m.list { // closing early is for the timer, which looks at the oldest only
				if x.conn.closed.Load() && time.Now().Before(x.until) {
					t.Fatal("closed before its time")
				}
			}
		}
		<-time.After(idle)
		synctest.Wait()
		if s := k.Stats(); s.Held != 0 || s.Evicted == 0 || s.Expired == 0 || s.Reused == 0 {
			t.Errorf("at the end: %+v", s)
		}
		for _, c := range all {
			if c.closed.Load() == out[c] {
				t.Fatalf("closed: %v, given back: %v", c.closed.Load(), out[c])
			}
		}
	})
}

func TestKeepClosesEverything(t *testing.T) {
	k := NewIdleConns(time.Hour, 10)
	site := siteOf{addr: netip.MustParseAddrPort("192.0.2.1:80")}
	before, after := &recordingConn{}, &recordingConn{}
	k.put(site, link{raw: before}, 0)
	k.Close()
	k.put(site, link{raw: after}, 0)
	if _, ok := k.takeConn(site); ok || !before.closed.Load() || !after.closed.Load() {
		t.Error("something is open, or can be had")
	}
}

// A machine that has no descriptors left gets back half of those that wait.
func TestKeepSheds(t *testing.T) {
	k := NewIdleConns(time.Hour, 10)
	defer k.Close()
	conns := make([]recordingConn, 8)
	for i := range conns {
		k.put(siteOf{}, link{raw: &conns[i]}, 0)
	}
	k.shed()
	for i := range conns {
		if conns[i].closed.Load() != (i < 4) {
			t.Errorf("%d: closed %v; the oldest go", i, conns[i].closed.Load())
		}
	}
}

// A connection comes and goes without garbage: a crawl with kept connections does it for every page.
func TestKeepAllocatesNothing(t *testing.T) {
	k := NewIdleConns(time.Hour, 10)
	defer k.Close()
	site := siteOf{name: xxh3.Uint128{Lo: 1}}
	c := &recordingConn{}
	turn := func() {
		k.put(site, link{raw: c}, 0)
		if _, ok := k.takeConn(site); !ok {
			t.Fatal("it is not there")
		}
	}
	turn()
	if n := testing.AllocsPerRun(1000, turn); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
