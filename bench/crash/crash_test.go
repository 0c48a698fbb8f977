package crash

import (
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"orbweaver/bench/scenario/testbed"
	"orbweaver/engine/state/layout"
	"orbweaver/internal/simweb/origin"
)

var (
	firstSeed = flag.Uint64("seed", 1, "first seed of the worlds")
	seedCount = flag.Uint64("seeds", 1, "how many seeds")
	perClass  = flag.Int("per-class", 1, "calls of each class at which to crash")
	floor     = flag.Int("floor", 1, "images of each class of calls from which the crawl must go on; 0: all images")
	classMax  = flag.Int("classes", testbed.Reduce(0, 5), "crash at calls of so many classes, by the seed; 0: of all")
	onlyClass = flag.String("class", "", "crash only at calls whose class contains this")
	onlyPoint = flag.String("point", "", "crash at this call only, as a failure names it")
	variant   = flag.String("variant", "", "crash in this way only")
	imageFile = flag.String("image", "", "go on from this saved image")
	imageDir  = flag.String("images", filepath.Join("..", "..", "build", "crash"), "where images of failures are saved")
)

// rehearse runs the crawl of a seed unkilled: what every killed one must come to, and how many calls of each class it
// makes.
func rehearse(t *testing.T, seed uint64) (*origin.Web, *result) {
	t.Helper()
	w, err := world(seed)
	if err != nil {
		t.Fatal(err)
	}
	r := crawl(t, w, nil, newRecorder(seed, inFlight, nil, nothing))
	if len(r.faults) > 0 {
		t.Fatalf("seed %d, not killed: %s", seed, strings.Join(r.faults, "\n"))
	}
	if crowded(seed) && !slices.ContainsFunc(slices.Collect(maps.Keys(r.counts)), func(class string) bool {
		return strings.Contains(class, " "+layout.ColdDir+"/")
	}) {
		t.Fatalf("seed %d: no host went to disk", seed)
	}
	return w, r
}

// nothing picks no call.
func nothing(string, int) bool { return false }

// trial is what was tried with one seed.
type trial struct {
	seed   uint64
	world  *origin.Web
	base   *result
	chosen map[string]map[int]bool // calls of each class
	set    *imageSet
	crawl  func(t *testing.T, im *Image) *result // goes on from an image to the end
	rng    *rand.Rand
	begun  time.Time
	mu     sync.Mutex
	done   map[string]int // images tried, by class; guarded by mu
	tried  atomic.Int64
	failed atomic.Int64
}

func newRng(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 3)) }

func begin(t *testing.T, seed uint64) *trial {
	t.Helper()
	tr := &trial{seed: seed, set: newImageSet(), rng: newRng(seed), begun: time.Now()}
	tr.world, tr.base = rehearse(t, seed)
	tr.crawl = func(t *testing.T, im *Image) *result { return crawl(t, tr.world, im, nil) }
	return tr
}

func (tr *trial) try(t *testing.T, im *Image) {
	t.Helper()
	r := tr.crawl(t, im)
	r.compare(tr.base)
	tr.tried.Add(1)
	tr.count(im)
	if len(r.faults) == 0 {
		return
	}
	tr.failed.Add(1)
	file, err := im.save(*imageDir)
	if err != nil {
		t.Error(err)
	}
	t.Errorf("seed %d, %s:\n  %s\n%s\nexactly: go test ./bench/crash -run TestImage -image %s",
		im.Seed, im.Story(), strings.Join(r.faults, "\n  "), im.command(), file)
}

// count notes that an image was tried.
func (tr *trial) count(im *Image) {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	if tr.done == nil {
		tr.done = map[string]int{}
	}
	for _, class := range im.classes {
		tr.done[class]++
	}
}

// tell prints what was tried, for runs of this package alone.
func (tr *trial) tell(what string, images []*Image) {
	points, variants, least := map[string]bool{}, map[Variant]int{}, -1
	for _, im := range images {
		points[im.Point] = true
		variants[im.Variant]++
	}
	for class := range tr.chosen {
		if n := tr.done[class]; least < 0 || n < least {
			least = n
		}
	}
	var b strings.Builder
	for _, v := range Variants() {
		fmt.Fprintf(&b, " %s %d", v, variants[v])
	}
	fmt.Fprintf(
		os.Stdout,
		"%s, seed %d: %d calls of %d classes, %d different disks (%s): "+
			"%d tried, at least %d of each class, %d survived, %v\n",
		what,
		tr.seed,
		len(points),
		len(tr.chosen),
		len(images),
		strings.TrimSpace(b.String()),
		tr.tried.Load(),
		least,
		tr.tried.Load()-tr.failed.Load(),
		time.Since(tr.begun).Round(time.Second),
	)
}

func eachSeed(t *testing.T, f func(t *testing.T, seed uint64)) {
	t.Helper()
	for seed := *firstSeed; seed < *firstSeed+*seedCount; seed++ {
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) { f(t, seed) })
	}
}

// Crashes at calls of each class, or of a few classes; make crash has more of each.
func TestHostile_S06_S07_aCrashAtAnyCallThatChangesTheDiskIsSurvived(t *testing.T) {
	eachSeed(t, func(t *testing.T, seed uint64) {
		tr := begin(t, seed)
		images := tr.record(t)
		if len(images) == 0 {
			t.Fatal("no such point in this run of the crawl; take the saved image")
		}
		tr.survive(t, images)
		tr.tell("crash", images)
	})
}

// TestCrashInTheRecovery crashes resumed crawls while they open: going on must not hurt what there is to go on from.
func TestCrashInTheRecovery(t *testing.T) {
	eachSeed(t, func(t *testing.T, seed uint64) {
		tr := begin(t, seed)
		first := tr.record(t)
		tr.rng.Shuffle(len(first), func(i, k int) { first[i], first[k] = first[k], first[i] })
		var second []*Image
		for _, im := range first[:min(len(first), *perClass)] {
			rec := newRecorder(seed, inFlight, tr.set, whileOpening())
			rec.follow(im)
			second = append(second, crawl(t, tr.world, im, rec).images...)
		}
		tr.chosen = classesOf(second)
		if *onlyPoint == "" && *onlyClass == "" && len(tr.chosen) < 10 {
			t.Errorf("seed %d: a resume changes the disk in %d ways only: %v", seed, len(tr.chosen),
				slices.Sorted(maps.Keys(tr.chosen)))
		}
		tr.survive(t, second)
		tr.tell("crash in the recovery", second)
	})
}

// whileOpening picks every call until the first checkpoint has been made and what it replaces has been removed.
func whileOpening() func(class string, n int) bool {
	left := -1
	return func(class string, _ int) bool {
		if left < 0 && strings.HasPrefix(class, "rename frontier/MANIFEST.tmp") {
			left = 12
		}
		left = max(left-1, min(left, 0))
		return left != 0
	}
}

// TestImage goes on from one saved image.
func TestImage(t *testing.T) {
	if *imageFile == "" {
		t.Skip("no -image") // a tool to examine a failed crash
	}
	im, w, err := loadImage(*imageFile, func(im *Image) (*origin.Web, error) {
		if strings.HasPrefix(im.Past, couple().Story()) {
			return sharedWorld(im.Seed)
		}
		return world(im.Seed)
	})
	if err != nil {
		t.Fatal(err)
	}
	tr := &trial{world: w, rng: rand.New(rand.NewPCG(1, 1))}
	tr.crawl = func(t *testing.T, im *Image) *result { return crawl(t, w, im, nil) }
	switch {
	case strings.HasPrefix(im.Past, couple().Story()):
		tr.crawl = func(t *testing.T, im *Image) *result { return share(t, w, im, nil) }
		tr.base = share(t, w, nil, newRecorder(im.Seed, inFlight, nil, nothing))
	case strings.HasPrefix(im.Past, past().Story()):
		f := finish(t, im.Seed)
		tr.base = f.refresh(t, nil, nil)
		tr.crawl = func(t *testing.T, im *Image) *result { return f.refresh(t, im, nil) }
	default:
		_, tr.base = rehearse(t, im.Seed)
	}
	tr.try(t, im)
}
