package storage

import (
	"context"
	"flag"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"path"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/bench/scenario/testbed"
	"orbweaver/engine"
	"orbweaver/engine/operate/report"
	"orbweaver/engine/state/lifecycle"
	"orbweaver/internal/simweb"
	"orbweaver/internal/vfs"
	"orbweaver/internal/vfs/faultfs"
)

var everyCall = flag.Bool("every-call", false,
	"storage faults at each call of the disk, not only at a few of each kind")

// fewSites is a small web that makes a crawl use every kind of file: sites with more pages than the bench takes.
func fewSites(seed uint64) simweb.Config {
	c := testbed.SmallWorld(seed, simweb.Plain())
	c.Hosts, c.IPs, c.PagesPerHostMean, c.PagesPerHostMax, c.PageBytesMean = 3, 3, 110, 200, 400
	c.Robots = simweb.Robots{}
	return c
}

// aLargeSite is a web of few sites with a large one. A crawl writes report.json before its end: each page takes more
// than the host delay of 30 ms, and the first report comes after 5 s.
func aLargeSite(t *testing.T, seed uint64) simweb.Config {
	t.Helper()
	isLarge := func(m *simweb.Model) bool { return testbed.HostsBySize(m)[0].Pages > 170 }
	return testbed.DrawWorld(t, fewSites(seed), isLarge)
}

// busy makes a crawl rotate, flush and cut often.
func busy(c *engine.Config) {
	c.Archive.SizeMax, c.Sieve.BucketBytes, c.Workers.Fetchers = 1<<16, 1<<16, 1
	c.Intervals.Checkpoint = time.Second
	c.Politeness.HostDelay, c.Politeness.IPDelay = 30*time.Millisecond, 10*time.Millisecond
}

// diskCall is a kind of call on a kind of file.
type diskCall struct {
	op   faultfs.Op
	file string // a pattern for faultfs
}

// fileKind makes a pattern of a file's name: its numbers and dates do not count.
func fileKind(name string) string {
	base := path.Base(name)
	if strings.Contains(base, ".warc.") || strings.HasSuffix(base, ".cdxj") || strings.HasSuffix(base, ".cdxj.tmp") {
		return "*" + base[strings.Index(base, "."):]
	}
	return regexp.MustCompile(`[0-9a-f]{6,}`).ReplaceAllString(base, "*")
}

// stages are crawls that between them use every kind of file: a small one to its end, and the beginning of one that has
// more in its queues than it can ask for; of another such web, too, since whether a URL waits in the ready queue just
// when a checkpoint comes is chance.
func stages(seed uint64) []stage {
	return []stage{{"a small web", fewSites(seed), false}, {"many sites", manySites(seed), true},
		{"many other sites", manySites(seed + 1), true}}
}

type stage struct {
	name    string
	world   simweb.Config
	partial bool // it is stopped after beginning
}

// beginning is how long a crawl of many sites is let run, and beginningPages what it must have fetched by then (it is
// some 700): one that stood still would write to few files, without a visible reason.
const (
	beginning      = 8 * time.Second
	beginningPages = 500
)

// census crawls once on a sound disk and counts the calls of the kinds that are asked for.
func census(t *testing.T, s stage, ops ...faultfs.Op) map[diskCall]int {
	t.Helper()
	found := map[diskCall]int{}
	synctest.Test(t, func(t *testing.T) {
		rig := testbed.MustRig(t, s.world, true)
		cfg := rig.Config()
		busy(&cfg)
		script := faultfs.NewScript()
		script.Watch(func(op faultfs.Op, space bool, name string) {
			if op == faultfs.Open && space {
				op = faultfs.Create
			}
			if slices.Contains(ops, op) {
				found[diskCall{op, fileKind(name)}]++
			}
		})
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		if s.partial {
			ctx, cancel = context.WithTimeout(t.Context(), beginning)
			defer cancel()
		}
		r, err := rig.Crawl(ctx, cfg, faultfs.New(rig.FS, script))
		if err != nil {
			t.Fatal(err)
		}
		if s.partial && r.PagesStored < beginningPages {
			t.Errorf("in %v on a sound disk it stored %d pages: %+v", beginning, r.PagesStored, r)
		}
		if err := rig.Net.Close(); err != nil {
			t.Error(err)
		}
	})
	return found
}

// moments are the calls of a kind that are tried: one, or each. A thinned run leaves out most kinds. Which kinds it
// tries follows from the seed.
func moments(c diskCall, n int) []int {
	switch {
	case *everyCall:
	case testbed.Reduced && rand.New(rand.NewPCG(*testbed.FirstSeed,
		uint64(crc32.ChecksumIEEE([]byte(fmt.Sprint(c)))))).IntN(20) > 0:
		return nil
	default:
		return []int{n/2 + 1}
	}
	all := make([]int, n)
	for i := range all {
		all[i] = i + 1
	}
	return all
}

// ailing is a crawl on a disk that a script breaks.
type ailing struct {
	*testbed.Rig
	t       *testing.T
	cfg     engine.Config
	script  *faultfs.Script
	partial bool // it ends before all is crawled
	fs      vfs.FS
	e       *engine.Engine
	done    chan error
	cancel  context.CancelFunc
}

// newAiling makes the rig; nothing is opened yet.
func newAiling(t *testing.T, s stage) *ailing {
	t.Helper()
	rig := testbed.MustRig(t, s.world, true)
	a := &ailing{Rig: rig, t: t, cfg: rig.Config(), script: faultfs.NewScript(), partial: s.partial}
	busy(&a.cfg)
	a.fs = faultfs.New(rig.FS, a.script)
	return a
}

// start opens the crawl and lets it run.
func (a *ailing) start() error {
	var err error
	if a.e, err = engine.Open(a.cfg, a.Seams(a.fs)); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(a.t.Context())
	a.cancel = cancel
	a.done = make(chan error, 1)
	go func() { a.done <- a.e.Run(ctx) }()
	return nil
}

// end waits for the crawl and closes it; one that is not to end by itself is stopped.
func (a *ailing) end() (report.Report, error) {
	if a.partial {
		testbed.Wait(beginning)
		a.cancel()
	}
	err := <-a.done
	a.cancel()
	r := a.e.Report()
	if cerr := a.e.Close(); err == nil {
		err = cerr
	}
	return r, err
}

// over closes the network and asks the oracle and fsck. Of requests, so many may have been repeated.
func (a *ailing) over(r report.Report, again int) {
	a.t.Helper()
	p := testbed.Promise(a.cfg)
	p.Partial = a.partial && r.State != lifecycle.Finished // it may make the call at its end, and has all then
	if err := a.Net.Close(); err != nil {
		a.t.Error(err)
	}
	testbed.CheckConservation(a.t, r)
	v, err := a.Judge(p, a.FS)
	if err != nil {
		a.t.Fatal(err)
	}
	repeated := v.Repeated
	if again > 0 {
		v.Repeated, v.Overlap = 0, 0
	}
	want := lifecycle.Finished
	if p.Partial {
		want = lifecycle.Stopped
	}
	if !v.Sound() || repeated > again || r.State != want {
		v.Print(a.t.Output())
		a.t.Errorf("%s: %s, %d requests repeated, %v", r.State, r.Reason, repeated, r.Outcomes)
	}
	f := testbed.Fsck(a.t, a.FS)
	testbed.WantSound(a.t, &f)
}

// fill makes the disk full from a call on; hit is closed then.
func (a *ailing) fill(c diskCall, nth int) (hit chan struct{}) {
	hit = make(chan struct{})
	a.script.Add(faultfs.Rule{Op: c.op, Name: c.file, From: nth, Count: 1, Err: syscall.ENOSPC, Then: func(string) {
		a.script.SetFree(0)
		a.script.Add(faultfs.Rule{Op: faultfs.Space, Err: syscall.ENOSPC, Short: 5})
		close(hit)
	}})
	return hit
}
