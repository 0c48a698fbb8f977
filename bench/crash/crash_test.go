package crash

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"github.com/zeebo/xxh3"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/bench/invitro"
	"orbweaver/bench/simweb"
	"orbweaver/engine"
	"orbweaver/engine/fsck"
	"orbweaver/internal/vfs"
)

var (
	firstSeed = flag.Uint64("seed", 1, "first seed of the worlds")
	seedCount = flag.Uint64("seeds", 1, "how many seeds")
	perClass  = flag.Int("per-class", 1, "calls of each class at which to crash")
	onlyClass = flag.String("class", "", "crash only at calls whose class contains this")
	onlyPoint = flag.String("point", "", "crash at this point only, as a failure names it")
	onlyKind  = flag.String("variant", "", "crash in this way only")
	budget    = flag.Duration("budget", time.Minute, "no further crash is tried after this time")
	imageFile = flag.String("image", "", "go on from this saved image")
	imageDir  = flag.String("images", filepath.Join("..", "..", "build", "crash"), "where images of failures are saved")
)

func world(seed uint64) (*simweb.World, error) {
	c := simweb.Faulty()
	c.Seed, c.Hosts, c.IPs, c.PagesPerHostMean, c.PagesPerHostMax, c.PageBytesMean = seed, 16, 12, 12, 60, 1200
	c.LinksMean = 12
	if behindProxy(seed) {
		c.Faults.NoHost = 0 // a proxy finds every name
	}
	c.Timing.HugeBytes = 60 << 10
	c.Timing.Stall = 30 * time.Second
	c.Timing.CrawlDelay = 3 * time.Second
	c.Timing.RetryAfter = 2 * time.Second
	return simweb.New(c)
}

// behindProxy says that a world's crawler asks a proxy, and no name server.
func behindProxy(seed uint64) bool { return seed%2 == 0 }

func config(rig *invitro.Rig) engine.Config {
	c := rig.Config()
	c.Fetchers, c.Parsers, c.Resolves = fetchers, 1, 2
	c.Politeness.HostDelay, c.Politeness.IPDelay = 400*time.Millisecond, 100*time.Millisecond
	c.Politeness.RetryDelays = []time.Duration{time.Second}
	c.Politeness.BackoffMin, c.Politeness.BackoffMax = time.Second, 4*time.Second
	c.Politeness.HostBackoff = []time.Duration{time.Second, 2 * time.Second}
	c.Checkpoint, c.SyncEvery, c.ReportEvery = 3*time.Second, 370*time.Millisecond, 2*time.Second
	if rig.World.Config().Seed%3 == 0 { // one fetcher that is always busy: URLs wait everywhere
		c.Fetchers, c.Politeness.HostDelay, c.Politeness.IPDelay = 1, 30*time.Millisecond, 5*time.Millisecond
		c.Checkpoint, c.SyncEvery = time.Second, 170*time.Millisecond
	}
	c.SieveMemory, c.CacheMemory = 1<<16, 1<<16
	c.WARC.SizeMax = 1 << 16
	c.RetryWait = 40 * time.Second
	c.Fetch.BodyMax = 50 << 10
	c.Rooms = engine.RoomSizes{
		ReadySegment: 1 << 10, QueuesSegment: 1 << 12, QueuesBuffer: 1 << 12, SeenBuffer: 256, SieveRuns: 2, SiteItems: 4,
	}
	return c
}

const (
	fetchers = 3
	inFlight = fetchers + 4 + 1 // Pages: one in the hands of each fetcher, four on their way, one at the parser
)

// base is what an unkilled crawl of a world comes to.
type base struct {
	world  *simweb.World
	pages  map[string]bool
	report engine.Report
	counts map[string]int
	truth  *simweb.Truth
	log    *simweb.Log
}

// result is what a crawl came to.
type result struct {
	report  engine.Report
	faults  []string
	pages   map[string]bool
	counts  map[string]int
	images  []*Image
	took    time.Duration
	again   int
	verdict simweb.Verdict
	note    string
}

func (r *result) fault(format string, args ...any) {
	r.faults = append(r.faults, fmt.Sprintf(format, args...))
}

// crawl runs a crawl in virtual time from an image, or from nothing, to its end, and judges.
func crawl(t *testing.T, w *simweb.World, from *Image, cam *camera) *result {
	r := &result{}
	synctest.Test(t, func(t *testing.T) {
		log, disk := w.NewLog(), vfs.NewMem(1)
		if from != nil {
			<-time.After(time.Until(from.When))
			log = from.log.At(from.log.Len(), from.When, 0)
			var err error
			if disk, err = from.disk(1); err != nil {
				t.Fatal(err)
			}
		}
		w := w.Again(log)
		rig := &invitro.Rig{World: w, Log: log, FS: disk, Seeds: w.Seeds(3), Proxy: behindProxy(w.Config().Seed)}
		rig.Connect()
		cfg := config(rig)
		if from != nil {
			r.fsck(t, "the image", disk)
		}
		start := time.Now()
		var fsys vfs.FS = disk
		if cam != nil {
			cam.log, cam.dir = log, cfg.Dir
			fsys = newCamera(disk, cam).tap
		}
		var err error
		if from == nil { // stopped in order once, and gone on with
			ctx, cancel := context.WithTimeout(t.Context(), 2500*time.Millisecond)
			_, err = rig.Crawl(ctx, cfg, fsys)
			cancel()
		}
		if err == nil {
			r.report, err = rig.Crawl(t.Context(), cfg, fsys)
		}
		if err != nil {
			r.fault("the crawl ends with: %v", err)
		}
		r.took = time.Since(start)
		if err := rig.Net.Close(); err != nil {
			r.fault("network: %v", err)
		}
		if cam != nil {
			r.counts, r.images = cam.counts, cam.develop()
			if cam.err != nil {
				t.Fatal(cam.err)
			}
		}
		r.judge(t, rig, cfg, disk, from)
	})
	return r
}

func (r *result) fsck(t *testing.T, what string, disk *vfs.Mem) {
	report, err := fsck.Check(t.Context(), disk, "crawl", fsck.Options{})
	if errors.Is(err, fsck.ErrNoCrawl) {
		return
	}
	if err != nil {
		r.fault("fsck of %s: %v", what, err)
	}
	if !report.Sound() {
		var b strings.Builder
		report.Print(&b)
		r.fault("fsck of %s: %s", what, b.String())
	}
}

func (r *result) judge(t *testing.T, rig *invitro.Rig, cfg engine.Config, disk *vfs.Mem, from *Image) {
	rep := &r.report
	if rep.State != engine.StateFinished {
		r.fault("the crawl ends %s: %s", rep.State, rep.Reason)
	}
	r.fsck(t, "the end", disk)
	var outcomes int64
	for _, n := range rep.Outcomes {
		outcomes += n
	}
	if rep.URLsAdmitted != outcomes || rep.URLsQueued != 0 || rep.URLsInFlight != 0 {
		r.fault("E1: admitted %d, outcomes %d, queued %d, in flight %d", rep.URLsAdmitted, outcomes, rep.URLsQueued, rep.URLsInFlight)
	}
	r.pages = map[string]bool{}
	crawled, err := invitro.Crawled(disk, "crawl/warc")
	if err != nil {
		r.fault("archive: %v", err)
		return
	}
	for c := range crawled {
		if c.Status == 200 && !c.Truncated {
			r.pages[c.URL] = true
		}
	}
	v := rig.World.Judge(rig.Log, simweb.Promise{
		HostDelay: cfg.Politeness.HostDelay, IPDelay: cfg.Politeness.IPDelay, Contact: "https://example.org/bot",
		Expect: simweb.ExpectOptions{Seeds: rig.Seeds},
	}, crawled)
	r.verdict = v
	r.again = v.Repeated
	allowed := 0
	if from != nil {
		allowed = from.Bound
	}
	if v.Repeated > allowed {
		r.fault("%d pages fetched again, at most %d were in flight or not synced", v.Repeated, allowed)
	}
	v.Repeated, v.Overlap = 0, 0
	if !v.Sound() {
		var b strings.Builder
		v.Print(&b)
		r.fault("the oracle: %s", b.String())
	}
	for _, dir := range []string{"crawl", "crawl/frontier", "crawl/frontier/sieve", "crawl/frontier/ready", "crawl/frontier/queues", "crawl/warc", "crawl/logs"} {
		names, err := disk.List(dir)
		if err != nil {
			r.fault("%v", err)
		}
		for _, name := range names {
			if strings.HasSuffix(name, ".tmp") || strings.HasSuffix(name, ".open") {
				r.fault("left behind: %s/%s", dir, name)
			}
		}
	}
}

// rehearse runs the crawl of a seed unkilled: what every killed one must come to, and how many calls of each class it makes.
func rehearse(t *testing.T, seed uint64) (*simweb.World, *result) {
	t.Helper()
	w, err := world(seed)
	if err != nil {
		t.Fatal(err)
	}
	r := crawl(t, w, nil, &camera{pages: newPages(), pick: func(string, int) bool { return false }})
	for _, f := range r.faults {
		t.Errorf("seed %d, not killed: %s", seed, f)
	}
	if t.Failed() {
		t.FailNow()
	}
	return w, r
}

// choose picks at most most calls of each class: the first, the last, and some between.
func choose(counts map[string]int, most int, rng *rand.Rand) map[string]map[int]bool {
	chosen := map[string]map[int]bool{}
	for _, class := range slices.Sorted(maps.Keys(counts)) {
		if !strings.Contains(class, *onlyClass) {
			continue
		}
		n := counts[class]
		picks := map[int]bool{1 + rng.IntN(n): true}
		if most > 1 {
			picks[1], picks[n] = true, true
		}
		for len(picks) < min(most, n) {
			picks[1+rng.IntN(n)] = true
		}
		chosen[class] = picks
	}
	return chosen
}

// tally counts what was tried.
type tally struct {
	mu                      sync.Mutex
	points, tried, survived int
	classes                 map[string]bool
	variants                map[Variant]int
}

func (r *result) compare(base *result) {
	missing, surplus := 0, 0
	for url := range base.pages {
		if !r.pages[url] {
			missing++
			r.fault("page not in the archive: %s", url)
		}
	}
	for url := range r.pages {
		if !base.pages[url] {
			surplus++
			r.fault("page that the unkilled crawl does not have: %s", url)
		}
	}
	if r.report.URLsAdmitted != base.report.URLsAdmitted {
		r.fault("admitted %d URLs, unkilled %d", r.report.URLsAdmitted, base.report.URLsAdmitted)
	}
	if !maps.Equal(r.report.Outcomes, base.report.Outcomes) {
		r.note = fmt.Sprintf("outcomes %v, unkilled %v", r.report.Outcomes, base.report.Outcomes)
	}
}

// survive resumes images until none is left.
func survive(t *testing.T, w *simweb.World, base *result, images []*Image) {
	rand.New(rand.NewPCG(1, 1)).Shuffle(len(images), func(i, k int) { images[i], images[k] = images[k], images[i] })
	deadline := time.Now().Add(*budget)
	next := make(chan *Image, len(images))
	for _, im := range images {
		next <- im
	}
	close(next)
	for range 2 {
		t.Run("worker", func(t *testing.T) {
			t.Parallel()
			for im := range next {
				if time.Now().After(deadline) {
					break
				}
				r := crawl(t, w, im, nil)
				r.compare(base)
				if len(r.faults) == 0 {
					if r.note != "" && testing.Verbose() {
						t.Logf("%s: %s", im.Story, r.note)
					}
					continue
				}
				file, err := im.save(*imageDir)
				if err != nil {
					t.Error(err)
				}
				t.Errorf("seed %d, %s:\n  %s\n  again: go test ./bench/crash -run TestCrash -seed %d -point '%s'\n  exactly: go test ./bench/crash -run TestImage -image %s",
					im.Seed, im.Story, strings.Join(r.faults, "\n  "), im.Seed, im.Story, file)
			}
		})
	}
}

func TestCrash(t *testing.T) {
	for seed := *firstSeed; seed < *firstSeed+*seedCount; seed++ {
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			w, base := rehearse(t, seed)
			rng := rand.New(rand.NewPCG(seed, 3))
			chosen := choose(base.counts, *perClass, rng)
			cam := &camera{
				pages: newPages(), rng: rng, seed: seed, seen: map[xxh3.Uint128]bool{}, bound: inFlight,
				pick: func(class string, n int) bool { return chosen[class][n] },
			}
			cam.variant = *onlyKind
			if *onlyPoint != "" {
				point := *onlyPoint
				cam.pick = func(class string, n int) bool { return fmt.Sprintf("%s #%d", class, n) == point }
			}
			now := time.Now()
			r := crawl(t, w, nil, cam)
			points := map[string]bool{}
			variants := map[string]int{}
			for _, im := range r.images {
				p, v, _ := strings.Cut(im.Story, ", ")
				points[p] = true
				variants[v]++
			}
			t.Logf("seed %d: %d classes, %d points, %d images %v, %v, %d pages", seed, len(r.counts), len(points), len(r.images), variants, time.Since(now), len(cam.pages.byID))
			survive(t, w, base, r.images)
		})
	}
}

// TestImage goes on from one saved image.
func TestImage(t *testing.T) {
	if *imageFile == "" {
		t.Skip("no -image")
	}
	im, w, err := loadImage(*imageFile, world)
	if err != nil {
		t.Fatal(err)
	}
	_, base := rehearse(t, im.Seed)
	survive(t, w, base, []*Image{im})
}
