package schedule

import (
	"net/netip"
	"testing"
	"time"

	"orbweaver/engine/state/queued"
	"orbweaver/engine/state/site"
	"orbweaver/internal/outcome"
	"orbweaver/internal/urlx"
	"orbweaver/internal/vfs"
	"orbweaver/workbench"
)

// All URLs of a site that is given up get its outcome, in memory and on disk, except those that an earlier run
// finished. A URL that comes later gets it, too.
func TestDeadSites_eachURLGetsItsOutcome(t *testing.T) {
	r := newRig(t, vfs.NewMem(1), "crawl", 1<<20, -1)
	d := r.distributor()
	vs, _ := r.Workbench.GetOrAdd([]byte("http://a.test"))
	r.Workbench.Place(vs, netip.AddrFrom4([4]byte{240, 0, 0, 1}), time.Now())
	r.Workbench.Push(vs, path("/memory"))
	r.Workbench.Push(vs, path("/done"))
	for i := range 1000 {
		if err := r.OnDisk.Append(vs, path("/%d", i)); err != nil {
			t.Fatal(err)
		}
	}
	r.Workbench.Site(vs).SetOnDisk(1000, 0)
	for _, done := range []string{"http://a.test/7", "http://a.test/done", "http://a.test/later-done"} {
		r.finished.Add(urlx.Fingerprint(0, []byte(done)), outcome.OK)
	}
	r.Dead.GiveUp(vs, outcome.NameNotFound)
	n := r.Progress.Counters
	if got := n.Outcomes[outcome.NameNotFound].Load(); got != 1 {
		t.Fatalf("%d URLs have their outcome at once, want that in memory", got)
	}
	for more := true; more; {
		var err error
		if more, err = d.emptier.step(); err != nil {
			t.Fatal(err)
		}
	}
	for _, later := range []string{"later", "later-done"} {
		if _, err := d.placer.place(url("http://a.test/%s", later), false); err != nil {
			t.Fatal(err)
		}
	}
	if got := n.Outcomes[outcome.NameNotFound].Load(); got != 1001 || n.Outcomes[outcome.OK].Load() != 3 {
		t.Errorf("%d URLs with the outcome of the site, %d with their own", got, n.Outcomes[outcome.OK].Load())
	}
	if !d.emptier.isDone() || lenOnDisk(r.OnDisk, vs) != 0 || !r.finished.IsEmpty() {
		t.Errorf("%d URLs are left on disk", lenOnDisk(r.OnDisk, vs))
	}
}

// A site that waits for a robots.txt whose redirect leads to a dead site does not wait any longer, and the feeder is
// woken for it.
func TestDeadSites_endTheWaitForRobots(t *testing.T) {
	r := newRig(t, vfs.NewMem(1), "crawl", 1<<20, -1)
	d, now := r.distributor(), time.Now()
	waits, _ := r.Workbench.GetOrAdd([]byte("http://waits.test"))
	r.Workbench.Place(waits, netip.AddrFrom4([4]byte{240, 0, 0, 1}), now)
	r.Workbench.Push(waits, path("/"))
	v := r.Workbench.Acquire(now, nil, 1)[0]
	r.Workbench.Release(&v, workbench.Release{Unused: v.Items, Park: true}, now)
	dead, _ := r.Workbench.GetOrAdd([]byte("http://dead.test"))
	redirect := queued.URL{RobotsOf: []byte("http://waits.test"), Rest: []byte("/robots.txt")}
	r.Workbench.Push(dead, queued.Append(nil, &redirect))
	if len(r.Workbench.Acquire(now, nil, 1)) > 0 {
		t.Fatal("the site does not wait: the test shows nothing")
	}
	r.Dead.GiveUp(dead, outcome.NameNotFound)
	if _, err := d.emptier.step(); err != nil {
		t.Fatal(err)
	}
	failures := int8(0)
	r.Workbench.Site(waits).Read(func(s *site.State) { failures = s.RobotsTries })
	finished := r.Progress.Counters.Finished.Load()
	if len(r.Workbench.Acquire(now, nil, 1)) != 1 || failures != 1 || r.fed != 1 || finished != 0 {
		t.Errorf("%d failures of robots.txt, %d signals, %d URLs finished", failures, r.fed, finished)
	}
}
