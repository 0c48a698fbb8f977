package crash

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/bench/scenario/testbed"
	"orbweaver/engine"
	"orbweaver/engine/operate/report"
	"orbweaver/engine/state/layout"
	"orbweaver/engine/state/lifecycle"
	"orbweaver/internal/simweb/arrivals"
	"orbweaver/internal/simweb/judge"
	"orbweaver/internal/simweb/origin"
	"orbweaver/internal/trial/captures"
	"orbweaver/internal/vfs"
)

// agentDirs are the crawl directories of two agents on one machine: a crash takes both.
func agentDirs() []string { return []string{"one", "two"} }

// couple is what went before the images of two agents.
func couple() *Image { return &Image{Point: "two agents", Variant: "on one machine"} }

// sharedWorld is a web for two agents: many small hosts, so that much goes between them. There is
// no robots.txt that redirects to another host: each agent that needs such rules would fetch it.
func sharedWorld(seed uint64) (*origin.Web, error) {
	w, err := world(seed)
	if err != nil {
		return nil, err
	}
	c := w.Config()
	c.Robots.AllowAll, c.Robots.Redirect = c.Robots.AllowAll+c.Robots.Redirect, 0
	c.Hosts, c.IPs, c.PagesPerHostMean, c.PagesPerHostMax = 80, 80, 2, 5
	c.PageFanout, c.HostFanout, c.LinksMean = 1, 2, 3 // what is lost is not found elsewhere
	c.Faults.NoHost = 0
	return origin.New(c)
}

// share has two agents crawl a world in virtual time to its end, from an image or from nothing, and judges what they
// have together. Those that begin with nothing are stopped in order once, and go on. rec may be nil.
func share(t *testing.T, w *origin.Web, from *Image, rec *recorder) *result {
	t.Helper()
	r := &result{}
	synctest.Test(t, func(t *testing.T) {
		log, disk := startFrom(t, w, from)
		if from != nil {
			r.fsckAll(t, "the image", disk)
		}
		w := w.Again(log)
		var fsys vfs.FS = disk
		if rec != nil {
			fsys = rec.watch(disk, log, agentDirs()...)
		}
		if from == nil {
			short, cancel := context.WithTimeout(t.Context(), stopAfter)
			r.together(short, w, log, fsys)
			cancel()
		}
		ctx, cancel := context.WithTimeout(t.Context(), endless)
		reports := r.together(ctx, w, log, fsys)
		for len(r.faults) == 0 && slices.ContainsFunc(reports, isStalled) { // as run does
			reports = r.together(ctx, w, log, fsys)
		}
		cancel()
		r.takeImages(t, rec)
		r.judgeAll(t, w, log, disk, from, reports)
	})
	return r
}

func isStalled(r report.Report) bool { return r.State == lifecycle.Stalled }

// together runs both agents until they end.
func (r *result) together(
	ctx context.Context,
	w *origin.Web,
	log *arrivals.Log,
	fsys vfs.FS,
) (reports []report.Report) {
	var wg sync.WaitGroup
	var mu sync.Mutex
	meet := newMeeting()
	for _, dir := range agentDirs() {
		wg.Go(func() {
			rig := &testbed.Rig{World: w, Log: log, Seeds: w.Seeds(3), Proxy: true}
			rig.Connect()
			report, err := r.agent(ctx, rig, fsys, meet.chair(dir), dir)
			err = errors.Join(err, rig.Net.Close())
			mu.Lock()
			defer mu.Unlock()
			reports = append(reports, report)
			if err != nil {
				r.fault("%s ends with: %v", dir, err)
			}
		})
	}
	wg.Wait()
	return reports
}

func (r *result) agent(
	ctx context.Context,
	rig *testbed.Rig,
	fsys vfs.FS,
	seat *chair,
	dir string,
) (report report.Report, err error) {
	cfg := agentConfig(rig)
	cfg.Dir = dir
	seams := rig.Seams(fsys)
	seams.Peering = seat
	e, err := engine.Open(cfg, seams)
	if err != nil {
		return report, err
	}
	err = e.Run(ctx)
	return e.Report(), errors.Join(err, e.Close())
}

// agentConfig is that of each agent.
func agentConfig(rig *testbed.Rig) engine.Config {
	cfg := config(rig)
	cfg.Cluster.Agents = len(agentDirs())
	cfg.Workbench.MemoryMax = 1 << 20
	cfg.Intervals.Checkpoint = time.Second // one may forget what the other has not yet written down
	cfg.Intervals.Sync = 1700 * time.Millisecond
	return cfg
}

func (r *result) fsckAll(t *testing.T, what string, disk *vfs.Mem) {
	t.Helper()
	for _, dir := range agentDirs() {
		r.fsckOf(t, what+", "+dir, disk, dir)
	}
}

// judgeAll is judge for both agents. Delays of an address are kept by each of them for itself.
func (r *result) judgeAll(
	t *testing.T,
	w *origin.Web,
	log *arrivals.Log,
	disk *vfs.Mem,
	from *Image,
	reports []report.Report,
) {
	t.Helper()
	for _, rep := range reports {
		if r.report = rep; rep.State != lifecycle.Finished || rep.URLsQueued != 0 || rep.URLsInFlight != 0 {
			r.fault("an agent ends %s: %s; %d queued, %d in flight", rep.State, rep.Reason, rep.URLsQueued,
				rep.URLsInFlight)
		}
	}
	r.fsckAll(t, "the end", disk)
	r.leftovers(disk)
	var archives []string
	for _, dir := range agentDirs() {
		archives = append(archives, dir+"/"+layout.ArchiveDir)
	}
	crawled, err := captures.OfAgents(disk, archives...)
	if err != nil {
		r.fault("archive: %v", err)
		return
	}
	r.pages = map[string]bool{}
	for c := range crawled {
		if c.Status == 200 && !c.Truncated {
			r.pages[c.URL] = true
		}
	}
	cfg := agentConfig(&testbed.Rig{World: w, Log: log, Seeds: w.Seeds(3), Proxy: true})
	v := w.Judge(
		log,
		judge.Promise{
			HostDelay: cfg.Politeness.HostDelay,
			IPDelay:   cfg.Politeness.IPDelay,
			Contact:   "https://example.org/bot",
			Expect:    judge.ExpectOptions{Seeds: w.Seeds(3)},
		},
		crawled,
	)
	allowed := 0
	if from != nil {
		allowed = from.Bound
	}
	if r.again = v.Repeated; r.again > allowed {
		r.fault("%d pages fetched again, at most %d were in flight or not synced", r.again, allowed)
	}
	v.Repeated, v.Overlap, v.IPGapViolations, v.IPConcurrency = 0, 0, 0, 0
	if !v.Sound() {
		var b strings.Builder
		v.Print(&b)
		r.fault("the oracle: %s", b.String())
	}
}

// Two agents on one machine crash together, at any call by which either changes the disk: neither agent
// misses what the other has acknowledged or declared as stored, and both finish the crawl.
func TestCrashOfAgents(t *testing.T) {
	eachSeed(t, func(t *testing.T, seed uint64) {
		w, err := sharedWorld(seed)
		if err != nil {
			t.Fatal(err)
		}
		bound := 2 * inFlight
		tr := &trial{seed: seed, world: w, set: newImageSet(), rng: newRng(seed), begun: time.Now()}
		tr.crawl = func(t *testing.T, im *Image) *result { return share(t, w, im, nil) }
		if tr.base = share(t, w, nil, newRecorder(seed, bound, nil, nothing)); len(tr.base.faults) > 0 {
			t.Fatalf("seed %d, not killed: %s", seed, strings.Join(tr.base.faults, "\n"))
		}
		if p := tr.base.report.Cluster; p == nil || p.LinksSent == 0 || p.LinksReceived == 0 {
			t.Fatalf("seed %d: nothing went between the agents: %+v", seed, p)
		}
		tr.chosen = choose(tr.base.counts, *perClass, tr.rng)
		images := tr.takeImages(func(pick func(class string, n int) bool) []*Image {
			rec := newRecorder(seed, bound, tr.set, pick)
			rec.follow(couple())
			rec.variant = Variant(*variant)
			return share(t, w, nil, rec).images
		})
		if !slices.ContainsFunc(images, func(im *Image) bool { return strings.Contains(im.Point, layout.OutboxDir) }) &&
			*onlyClass == "" &&
			*classMax == 0 {
			t.Error("no crash at the outbox")
		}
		tr.survive(t, images)
		tr.tell("crash of agents", images)
	})
}
