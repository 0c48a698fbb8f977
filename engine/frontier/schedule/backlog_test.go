package schedule

import (
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// backlogModel is a crawl by milliseconds. Sites are always due, servers take a time with an exponential distribution,
// and the parse workers store so many pages in a millisecond.
type backlogModel struct {
	backlog Backlog
	pages   atomic.Int64
	random  *rand.Rand
	now     time.Time
	most    int           // Visits
	latency time.Duration // mean
	stored  int           // a millisecond
	out     int           // Visits
	ends    map[int64]int // of exchanges, by millisecond

	peak, idle int // most pages that waited, and milliseconds in which parse workers had too few
}

func newBacklogModel(seed uint64, most, stored int, latency time.Duration) *backlogModel {
	m := &backlogModel{
		random: rand.New(rand.NewPCG(seed, 0)), now: time.Unix(1e9, 0), most: most, latency: latency, stored: stored,
		ends: make(map[int64]int),
	}
	m.backlog = Backlog{Pages: &m.pages, Parsers: 2, WakeFeeder: func() {}}
	return m
}

// run crawls for a time. due is how many Visits are due at most in a millisecond.
func (m *backlogModel) run(long time.Duration, due int) {
	m.peak, m.idle = 0, 0
	for range long.Milliseconds() {
		m.now = m.now.Add(time.Millisecond)
		before, back := m.out, m.ends[m.now.UnixMilli()]
		delete(m.ends, m.now.UnixMilli())
		m.out -= back
		waiting := int(m.pages.Load()) + back
		m.peak = max(m.peak, waiting)
		if waiting < m.stored {
			m.idle++
		}
		m.pages.Store(int64(max(waiting-m.stored, 0)))
		for range min(m.backlog.visitsMost(m.most, before, back, m.now)-m.out, due) {
			took := time.Duration(m.random.ExpFloat64() * float64(m.latency))
			m.ends[m.now.Add(took).UnixMilli()+1]++
			m.out++
		}
	}
}

// However long servers take, and whatever they took before, the parse workers are busy and few pages wait for them. If
// each fetch worker had one that would be 16,000.
func TestBacklog_keepsParseWorkersBusyWithFewPages(t *testing.T) {
	m := newBacklogModel(1, 16000, 5, 0)
	for _, latency := range []time.Duration{time.Second, time.Millisecond, 200 * time.Millisecond, 20 * time.Millisecond} {
		m.latency = latency
		m.run(8*time.Second, 1<<20) // to settle
		m.run(10*time.Second, 1<<20)
		if m.peak > 1500 || m.idle > 500 || !m.backlog.IsHolding(m.now) {
			t.Errorf("latency %v: %d pages waited, %d of 10000 ms without enough of them, holding %v", latency, m.peak,
				m.idle, m.backlog.IsHolding(m.now))
		}
	}
}

// Parse workers that keep up hold nothing back: after a few times the latency all Visits are out. Slow servers are not
// called a backlog.
func TestBacklog_doesNotHoldBackWhatServersHold(t *testing.T) {
	m := newBacklogModel(1, 16000, 50, 2*time.Second)
	m.run(12*time.Second, 1<<20)
	if m.out != m.most || m.backlog.isLimited.Load() || m.backlog.IsHolding(m.now) {
		t.Errorf("%d of %d Visits are out, limited %v, holding %v", m.out, m.most, m.backlog.isLimited.Load(),
			m.backlog.IsHolding(m.now))
	}
}

// Servers that do not answer at all may have each Visit that the limit allows. Then it grows with time.
func TestBacklog_growsWhileNoVisitComesBack(t *testing.T) {
	m := newBacklogModel(1, 16000, 5, time.Millisecond)
	m.run(5*time.Second, 1<<20) // the processor is short
	m.latency = time.Hour
	m.run(3*time.Second, 1<<20)
	if m.out < m.most*9/10 {
		t.Errorf("%d of %d Visits are out", m.out, m.most)
	}
}

// A burst that was fetched faster than it could be stored is no backlog once it is stored.
func TestBacklog_ends(t *testing.T) {
	m := newBacklogModel(1, 16000, 5, time.Millisecond)
	m.run(5*time.Second, 1<<20)
	m.run(60*time.Millisecond, 0)
	if m.backlog.IsHolding(m.now) {
		t.Errorf("holding when %d pages are left of a burst", m.pages.Load())
	}
	m.run(500*time.Millisecond, 1) // politeness allows a page in a millisecond
	if m.backlog.IsHolding(m.now) || m.pages.Load() > 0 {
		t.Errorf("holding with %d pages", m.pages.Load())
	}
}

// While many pages wait the Feeder moves nothing, and takes Visits back that no worker has taken. It goes on when few
// wait, without any other signal.
func TestFeeder_waitsForParseWorkers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newFeederRig(t, 3, func(f *Feeder) { f.MaxLeased = 1 << 12 })
		synctest.Wait()
		if n := g.feeder.Todo.Len(); n != 1 {
			t.Fatalf("%d Visits are due", n)
		}
		g.pagesOut.Store(2*backlogLeast + 1)
		time.Sleep(1500 * time.Millisecond)
		synctest.Wait()
		if n, leased := g.feeder.Todo.Len(), g.Workbench.Counts().Leased; n > 0 || leased > 0 {
			t.Fatalf("%d Visits, %d out, while pages wait", n, leased)
		}
		for pages := g.pagesOut.Add(-1); pages > 0; pages = g.pagesOut.Add(-1) {
			g.feeder.Backlog.NoteStored(pages)
		}
		if got := g.take(); len(got) != 2 {
			t.Errorf("%d Visits after the pages were stored, want 2", len(got))
		}
	})
}
