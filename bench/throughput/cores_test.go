package throughput

import (
	"log/slog"
	"math"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"orbweaver/internal/cputime"
	"orbweaver/internal/trial"
)

// runsOf are crawls whose speed follows a law.
func runsOf(law Scaling, threads ...int) (runs []CoresRun) {
	for _, n := range threads {
		rate := law.predict(n, nil).PagesPerSecond
		runs = append(runs, CoresRun{Threads: n, PagesPerSecond: rate, CPUPerPage: float64(n) * 1e6 / rate})
	}
	return runs
}

// The law is found from crawls that follow it. Crawls with more threads than cores do not count.
func TestFit_findsTheLaw(t *testing.T) {
	law := Scaling{Contention: 0.03, Coherence: 0.0005, Page: 400}
	runs := append(runsOf(law, 1, 2, 4, 8, 16), CoresRun{Threads: 32, PagesPerSecond: 1})
	got := fit(runs, 16)
	if math.Abs(got.Contention-law.Contention) > 1e-9 || math.Abs(got.Coherence-law.Coherence) > 1e-9 {
		t.Errorf("%+v", got)
	}
	if got := fit(runs[:2], 2); math.Abs(got.Contention-0.031) > 1e-9 || got.Coherence != 0 {
		t.Errorf("of two crawls: %+v", got)
	}
	faster := []CoresRun{{Threads: 1, PagesPerSecond: 100}, {Threads: 2, PagesPerSecond: 220, CPUPerPage: 9e3}}
	if got := fit(faster, 2); got.Contention != 0 || got.Crawls != 1 {
		t.Errorf("faster than twice: %+v", got)
	}
	idle := []CoresRun{runs[0], {Threads: 2, PagesPerSecond: 100, CPUPerPage: 1e4}}
	if got := fit(idle, 2); got.Crawls != 0 || got.Contention != 0 {
		t.Errorf("of a crawl with one core of two: %+v", got)
	}
}

// A loop with one goroutine bounds the speed: of 20 us a page it serves 50,000 pages a second, and 20 cores keep it
// busy.
func TestPredict_anOwnedLoopIsTheBound(t *testing.T) {
	owned := ownedLoops(
		[]Loop{{"fetch", 200}, {"feed", 20}, {"distribute", 4}, {unlabelled, 30}},
		[]Loop{{"parse", 100}, {"distribute", 5}, {"feed", 10}},
	)
	if len(owned) != 2 || owned[0] != (Serial{"feed", 20, 10, 20}) || owned[1] != (Serial{"distribute", 4, 5, 80}) {
		t.Fatalf("%+v", owned)
	}
	law := Scaling{Page: 400}
	if p := law.predict(16, owned); p.PagesPerSecond != 40_000 || p.Bound != "" {
		t.Errorf("%+v", p)
	}
	if p := law.predict(64, owned); p.PagesPerSecond != 50_000 || p.Bound != "feed" {
		t.Errorf("%+v", p)
	}
}

// A crawl from memory with one thread is measured, and ends by itself. The number of threads is as before then.
func TestCoresRun_measuresACrawl(t *testing.T) {
	threads := runtime.GOMAXPROCS(0)
	r, err := coresRun(t.Context(), trial.Options{
		Dir: filepath.Join(t.TempDir(), "crawl"), Fetchers: 32, SkipVerify: true, Version: "test",
		HostDelay: 10 * time.Millisecond, IPDelay: time.Millisecond, Progress: t.Output(),
		Log:   slog.New(slog.DiscardHandler),
		Usage: func() (time.Duration, int64) { return cputime.Process(), 1 },
	}, &Fabricated{URLs: 1 << 40, Hosts: 10_000, IPs: 5000, Seed: 1}, 1, 2*time.Second)
	if err != nil || r.Threads != 1 || r.PagesPerSecond < 1 || r.CPUPerPage <= 0 || len(r.Loops) == 0 || len(r.Held) == 0 {
		t.Errorf("%+v, %v", r, err)
	}
	if now := runtime.GOMAXPROCS(0); now != threads {
		t.Errorf("%d threads before, %d after", threads, now)
	}
	result := &CoresResult{Cores: 2, Memory: []CoresRun{r}, Sockets: []CoresRun{r}, Owned: ownedLoops(r.Loops, r.Loops)}
	result.Expect = []Prediction{{Cores: 64, PagesPerSecond: 1000, Bound: "feed"}}
	var out strings.Builder
	if result.Print(&out); !strings.Contains(out.String(), "64 cores       1000 pages/s  bounded by feed") {
		t.Errorf("%s", &out)
	}
}
