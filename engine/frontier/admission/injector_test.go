package admission

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/engine/page/filter"
	"orbweaver/engine/state/cluster"
	"orbweaver/engine/state/counters"
	"orbweaver/engine/state/queued"
	"orbweaver/engine/state/settings"
	"orbweaver/engine/store/journal"
	"orbweaver/internal/urlx"
	"orbweaver/internal/vfs"
	"orbweaver/internal/vfs/vfstest"
	"orbweaver/sieve"
	"orbweaver/sieve/fpcache"
)

// injectorRig is an Injector for a crawl that has no URLs yet.
type injectorRig struct {
	*Injector
	disk     vfs.FS
	stopping bool
	wakes    int // of the distributor
}

func newInjectorRig(t *testing.T) *injectorRig {
	t.Helper()
	seeds := new(filter.Seeds)
	scope, err := filter.CompileScope(filter.All, seeds)
	if err != nil {
		t.Fatal(err)
	}
	pending, err := sieve.Open(vfs.NewMem(1), sieve.Options{Dir: "sieve", BucketBytes: 1 << 20}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := pending.Close(); err != nil {
			t.Error(err)
		}
	})
	r := &injectorRig{disk: vfstest.WithDir(t, "frontier")}
	r.Injector = &Injector{
		Frontier: &Frontier{
			Router: cluster.Alone{}, Views: cluster.Alone{}.Views(), HostRules: new(settings.HostRules),
			Rules: Rules{Scope: scope, MaxDepth: -1, MaxURL: urlx.LengthMax}, Cache: fpcache.New(1<<16, 1), Sieve: pending,
			Counters: new(counters.Live),
		},
		Seeds: seeds, Steps: new(journal.Steps), Added: NewAddedSeeds(r.disk, "frontier"),
		IsStopping: func() bool { return r.stopping }, Wake: func() { r.wakes++ },
	}
	return r
}

// admitted returns the URLs that the sieve has received, in order of their names. Each must be a seed.
func (r *injectorRig) admitted(t *testing.T) (urls []string) {
	t.Helper()
	_, err := r.Frontier.Sieve.Flush(func(payload []byte) error {
		it := queued.MustDecode(payload)
		if !it.Seed {
			t.Errorf("%s is not a seed", it.Rest)
		}
		urls = append(urls, string(it.Rest))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(urls)
	return urls
}

// URLs of an operator become seeds, in normal form. A repeated one counts as offered, and is admitted once.
func TestInjector_offersSeedsInNormalForm(t *testing.T) {
	r := newInjectorRig(t)
	offered := []string{"HTTP://B.test:80/x/../", "http://a.test", "http://b.test/"}
	added, err := r.Add(t.Context(), slices.Values(offered))
	if added.New != 2 || added.Known != 1 || err != nil || r.Refused {
		t.Errorf("%+v added, refused: %v, %v", added, r.Refused, err)
	}
	if got := fmt.Sprint(added.URLs); got != "[{http://b.test/x/ new } {http://a.test/ new } {http://b.test/ known }]" &&
		got != "[{http://b.test/ new } {http://a.test/ new } {http://b.test/ known }]" {
		t.Errorf("results: %s", got)
	}
	if got := fmt.Sprint(r.admitted(t)); got != "[http://a.test/ http://b.test/]" {
		t.Errorf("admitted: %s", got)
	}
	if n := r.Seeds.Hosts(); n != 2 {
		t.Errorf("the seeds have %d hosts, want 2", n)
	}
	if r.wakes == 0 {
		t.Error("the distributor was not woken")
	}
}

// What is no URL is left out. The error names the first ones and counts the others.
func TestInjector_leavesOutBadURLs(t *testing.T) {
	r := newInjectorRig(t)
	offered := []string{"http://a.test/"}
	for i := range BadSeedsLogged + 3 {
		offered = append(offered, fmt.Sprintf("bad-%d", i))
	}
	added, err := r.Add(t.Context(), slices.Values(append(offered, "http://b.test/")))
	if added.New != 2 || added.Refused != BadSeedsLogged+3 || len(r.admitted(t)) != 2 {
		t.Errorf("%+v added", added)
	}
	if err != nil {
		t.Fatal(err)
	}
	err = added.RefusedError()
	for text, want := range map[string]bool{
		`"bad-0": `: true, fmt.Sprintf(`"bad-%d": `, BadSeedsLogged-1): true, "and 3 more": true,
		fmt.Sprintf(`"bad-%d": `, BadSeedsLogged): false,
	} {
		if strings.Contains(err.Error(), text) != want {
			t.Errorf("the error should contain %q: %v\n%v", text, want, err)
		}
	}
}

// Each URL has its result: what another rule of the crawl refuses is told from what is no URL.
func TestInjector_saysWhatBecameOfEachURL(t *testing.T) {
	r := newInjectorRig(t)
	r.Frontier.Rules.MaxURL = 30
	added, err := r.Add(t.Context(), slices.Values([]string{
		"a.test", "http://a.test/", "ftp://a.test/", "http://a.test/" + strings.Repeat("x", 30),
	}))
	want := "[{http://a.test/ new } {http://a.test/ known } {ftp://a.test/ refused scheme is not http or https} " +
		"{http://a.test/xxxxxxxxxxxxxxxxxxxxxxxxxxxxxx refused longer than --max-url}]"
	if got := fmt.Sprint(added.URLs); got != want || err != nil {
		t.Errorf("results %s, %v", got, err)
	}
}

// URLs that an operator adds are seeds of all later runs: their scope and a new pass know them. What a kill leaves of a
// line is no seed.
func TestInjector_addedURLsAreSeedsOfLaterRuns(t *testing.T) {
	r := newInjectorRig(t)
	add := func(urls ...string) {
		t.Helper()
		i := *r.Injector // each call has an Injector of its own
		i.kept = nil
		if _, err := i.Add(t.Context(), slices.Values(urls)); err != nil {
			t.Fatal(err)
		}
	}
	add("http://a.test/x/", "http://b.test/")
	f, err := r.disk.OpenRW(addedSeedsFile("frontier"))
	if err == nil {
		_, err = f.WriteAt([]byte("http://torn.te"), int64(len("http://a.test/x/\nhttp://b.test/\n")))
	}
	if err = errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
	seeds := new(filter.Seeds)
	if err := LoadScope(r.disk, "frontier", seeds); err != nil || seeds.Hosts() != 2 {
		t.Errorf("while it runs: %d hosts, %v", seeds.Hosts(), err)
	}
	add("http://c.test/", "http://b.test/", "http://a.test/x/y") // b.test is known as a seed
	for run, moved := range []int{4, 0} {
		kept, err := KeepSeeds(r.disk, "frontier", nil, Offered{}, slog.New(slog.DiscardHandler))
		if kept.Offer != moved || err != nil {
			t.Errorf("run %d: %d seeds must be offered, %v", run, kept.Offer, err)
		}
		want := "http://a.test/x/\nhttp://b.test/\nhttp://c.test/\nhttp://a.test/x/y\n"
		if got := string(vfstest.ReadAll(t, r.disk, SeedsFile("frontier"))); got != want {
			t.Errorf("run %d: the seeds are %q", run, got)
		}
	}
}

// After a stop in order, a checkpoint has the seeds that were added, and none must be offered again.
func TestKeepSeeds_offersNoSeedsThatACheckpointHas(t *testing.T) {
	r := newInjectorRig(t)
	if _, err := r.Add(t.Context(), slices.Values([]string{"http://a.test/"})); err != nil {
		t.Fatal(err)
	}
	kept, err := KeepSeeds(r.disk, "frontier", nil, Offered{IsClean: true}, slog.New(slog.DiscardHandler))
	if kept.Offer != 0 || err != nil {
		t.Errorf("%d seeds must be offered, %v", kept.Offer, err)
	}
}

// A run that was killed before its first checkpoint has written seeds that it never offered. The next one does.
func TestKeepSeeds_offersWhatNoCheckpointHas(t *testing.T) {
	disk, log := vfstest.WithDir(t, "d"), slog.New(slog.DiscardHandler)
	first, err := KeepSeeds(disk, "d", seedsOf{"http://a.test/"}, Offered{}, log)
	if err != nil || first.Offer != 1 || first.Bytes != int64(len("http://a.test/\n")) {
		t.Fatalf("%+v, %v", first, err)
	}
	last := Offered{first.Bytes, true}
	if _, err := KeepSeeds(disk, "d", seedsOf{"http://b.test/", "http://a.test/"}, last, log); err != nil {
		t.Fatal(err)
	}
	// This run is killed here.
	kept, err := KeepSeeds(disk, "d", nil, last, log)
	if kept.Offer != 1 || kept.Bytes != 2*first.Bytes || err != nil {
		t.Errorf("after the kill: %+v, %v", kept, err)
	}
	if kept, err = KeepSeeds(disk, "d", nil, Offered{kept.Bytes, true}, log); kept.Offer != 0 || err != nil {
		t.Errorf("after a checkpoint that has them: %+v, %v", kept, err)
	}
}

// slowDisk is a disk whose files are slow to say their size, so that two writers meet.
type slowDisk struct{ vfs.FS }

func (d slowDisk) OpenRW(name string) (vfs.File, error) {
	f, err := d.FS.OpenRW(name)
	return slowFile{f}, err
}

type slowFile struct{ vfs.File }

func (f slowFile) Size() (int64, error) {
	n, err := f.File.Size()
	<-time.After(time.Second)
	return n, err
}

// Seeds that come in several calls at the same time are all kept, and so are more than are held in memory.
func TestAddedSeeds_keepsTheSeedsOfAllCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const calls = 8
		disk := vfstest.WithDir(t, "frontier")
		added := NewAddedSeeds(slowDisk{disk}, "frontier")
		var all sync.WaitGroup
		for n := range calls {
			all.Go(func() {
				if err := added.keepLines(fmt.Appendf(nil, "http://a.test/%d\n", n)); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		got := string(vfstest.ReadAll(t, disk, addedSeedsFile("frontier")))
		for n := range calls {
			if line := fmt.Sprintf("http://a.test/%d\n", n); strings.Count(got, line) != 1 {
				t.Errorf("%q is not kept once in %q", line, got)
			}
		}
	})
}

// A long list of URLs is kept in parts, and not held in memory whole.
func TestInjector_keepsALongListInParts(t *testing.T) {
	r := newInjectorRig(t)
	path, held := strings.Repeat("x", 1000), 0
	added, err := r.Add(t.Context(), func(yield func(string) bool) {
		for n := range 2 * keptMost / len(path) {
			if n%100 == 0 {
				r.admitted(t) // room in the sieve
			}
			if held = max(held, len(r.kept)); !yield(fmt.Sprintf("http://a.test/%d%s", n, path)) {
				return
			}
		}
	})
	lines := bytes.Count(vfstest.ReadAll(t, r.disk, addedSeedsFile("frontier")), []byte("\n"))
	if err != nil || lines != added.New || held > keptMost {
		t.Errorf("%d of %d URLs are kept, %d bytes were held: %v", lines, added.New, held, err)
	}
}

// A host without a scheme gets http. Anything else stays as it is.
func TestCompleteSeed(t *testing.T) {
	for raw, want := range map[string]string{
		"example.org":        "http://example.org",
		" example.org ":      "http://example.org",
		"example.org/a b":    "http://example.org/a b",
		"example.org?q":      "http://example.org?q",
		"example.org:8080":   "http://example.org:8080",
		"localhost":          "http://localhost",
		"localhost:1/x":      "http://localhost:1/x",
		"192.0.2.1":          "http://192.0.2.1",
		"http://example.org": "http://example.org",
		"mailto:a@b.example": "mailto:a@b.example",
		"javascript:x.y":     "javascript:x.y",
		"example":            "example",
		"/path.html":         "/path.html",
		"#x.y":               "#x.y",
		".org":               ".org",
		"org.":               "org.",
		"a..b":               "a..b",
		"example.org:":       "example.org:",
		"a@b.example":        "a@b.example",
		"":                   "",
	} {
		if got := string(CompleteSeed([]byte(raw))); got != want {
			t.Errorf("%q: %q, want %q", raw, got, want)
		}
	}
}

// Many URLs wake the distributor while they are added, so that the first are fetched meanwhile.
func TestInjector_wakesTheDistributorBetweenURLs(t *testing.T) {
	r := newInjectorRig(t)
	_, err := r.Add(t.Context(), func(yield func(string) bool) {
		for i := range 2500 {
			if !yield(fmt.Sprintf("http://a.test/%d", i)) {
				return
			}
		}
	})
	if r.wakes != 3 || err != nil {
		t.Errorf("woken %d times, want after 1024, 2048 and 2500 URLs: %v", r.wakes, err)
	}
}

// A crawl that stops takes no URL any more: the last checkpoint might not have it.
func TestInjector_refusesURLsWhileTheCrawlStops(t *testing.T) {
	r := newInjectorRig(t)
	added, err := r.Add(t.Context(), func(yield func(string) bool) {
		if yield("http://a.test/1") {
			r.stopping = true
			yield("http://a.test/2")
		}
	})
	if added.New != 1 || !errors.Is(err, cluster.ErrEnding) || !r.Refused {
		t.Errorf("%+v added, refused: %v, %v", added, r.Refused, err)
	}
	if got := fmt.Sprint(r.admitted(t)); got != "[http://a.test/1]" {
		t.Errorf("admitted: %s", got)
	}
	added, err = r.Add(t.Context(), slices.Values([]string{"bad"}))
	if added.New != 0 || !errors.Is(err, cluster.ErrEnding) {
		t.Errorf("without a good URL: %+v added, %v", added, err)
	}
}

// While there is no room, Add waits for as long as its context allows. It returns what it has added before.
func TestInjector_waitsForRoom(t *testing.T) {
	r := newInjectorRig(t)
	ctx, cancel := context.WithCancel(t.Context())
	r.Frontier.Router = fullRouter{}
	added, err := r.Add(ctx, func(yield func(string) bool) {
		if yield("http://a.test/1") {
			cancel()
			yield("http://a.test/2")
		}
	})
	if added.New != 1 || !errors.Is(err, context.Canceled) || !r.Refused {
		t.Errorf("%+v added, refused: %v, %v", added, r.Refused, err)
	}
}

// fullRouter has no room once the context has ended.
type fullRouter struct{ cluster.Alone }

func (fullRouter) WaitRoom(ctx context.Context) error { return ctx.Err() }
