package traps

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/bench/scenario/testbed"
	"orbweaver/engine"
	"orbweaver/engine/check/fsck"
	"orbweaver/engine/durable/inspect"
	"orbweaver/engine/operate/report"
	"orbweaver/engine/state/lifecycle"
	"orbweaver/engine/traps"
	"orbweaver/internal/vfs"
)

// A crawl with smallFloor leaves a part of a tree of so many similar pages out.
const (
	smallFloor   = 96
	leftOutPages = 4000
)

// run runs a crawl on a disk to its end.
func (w *web) run(t *testing.T, disk vfs.FS, change func(*engine.Config)) report.Report {
	t.Helper()
	cfg := config(w.c.Seeds)
	cfg.Traps.TrapFloor = smallFloor
	change(&cfg)
	e := w.open(t, cfg, disk)
	err := e.Run(t.Context())
	r := e.Report()
	if err = errors.Join(err, e.Close()); err != nil {
		t.Fatal(err)
	}
	return r
}

// listed reads the list of URLs left out, and fails if one is there twice.
func listed(t *testing.T, disk vfs.FS) map[string]traps.SkippedURL {
	t.Helper()
	list := map[string]traps.SkippedURL{}
	err := inspect.EachSkipped(disk, "crawl", func(s traps.SkippedURL) error {
		if _, twice := list[s.URL]; twice {
			t.Errorf("%s is listed twice", s.URL)
		}
		list[s.URL] = s
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// balanced says that every admitted URL has one outcome, and that the list is as long as its count.
func balanced(t *testing.T, r *report.Report, list int) {
	t.Helper()
	sum, skipped := int64(0), int64(0)
	for _, n := range r.Outcomes {
		sum += n
	}
	for _, n := range r.Skipped {
		skipped += n
	}
	if sum+r.URLsQueued+r.URLsInFlight != r.URLsAdmitted {
		t.Errorf("%d admitted, %d with an outcome, %d queued, %d in flight", r.URLsAdmitted, sum, r.URLsQueued,
			r.URLsInFlight)
	}
	if skipped != r.Outcomes["novelty"] || int(skipped) != list {
		t.Errorf("%v by rule, %d with the outcome, %d listed", r.Skipped, r.Outcomes["novelty"], list)
	}
}

// sound says that fsck finds nothing wrong.
func sound(t *testing.T, disk vfs.FS) {
	t.Helper()
	r, err := fsck.Check(t.Context(), disk, "crawl", fsck.Options{Temp: vfs.NewMem(2), TempDir: "temp"})
	if err != nil {
		t.Fatal(err)
	}
	if !r.Sound() {
		r.Print(t.Output())
		t.Error("fsck finds faults")
	}
}

// What is left out is listed with its reason, stays so if the crawl is started again, and is fetched once under another
// setting.
func TestWhatIsLeftOutIsListedAndFetchedLater(t *testing.T) {
	for name, later := range map[string]func(*engine.Config){
		"off":          func(c *engine.Config) { c.Traps.Novelty = traps.NoveltyOff },
		"higher floor": func(c *engine.Config) { c.Traps.TrapFloor = 10_000 },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWeb(t, Similar(Tree, leftOutPages, false, true))
				disk := vfs.NewMem(1)
				r := w.run(t, disk, func(*engine.Config) {})
				list := listed(t, disk)
				balanced(t, &r, len(list))
				sound(t, disk)
				if len(list) == 0 || w.Score().Honest+len(list) > leftOutPages {
					t.Fatalf("%d fetched, %d listed", w.Score().Honest, len(list))
				}
				for url, s := range list {
					if s.Rule.String() != "endless-part" || s.Evidence.Fetched < smallFloor ||
						s.Evidence.Streak < smallFloor/2 {
						t.Fatalf("%s: %+v", url, s)
					}
				}
				before := w.Score().Honest
				r = w.run(t, disk, func(*engine.Config) {})
				if again := listed(t, disk); len(again) != len(list) || w.Score().Honest != before ||
					r.State != lifecycle.Finished {
					t.Errorf("after another start: %d listed, %d fetched, %s", len(again), w.Score().Honest, r.State)
				}
				r = w.run(t, disk, later)
				rest := listed(t, disk)
				balanced(t, &r, len(rest))
				sound(t, disk)
				if s := w.Score(); s.Honest != leftOutPages || s.Trap != 0 || len(rest) != 0 {
					t.Errorf("%d of %d fetched, %d twice, %d listed yet", s.Honest, leftOutPages, s.Trap, len(rest))
				}
			})
		})
	}
}

// A kill at whatever moment, while URLs are listed or queued again, loses none of them.
func TestAKillLosesNothingOfTheList(t *testing.T) {
	found := 0 // a kill makes a site seem new again, so a small part may be whole before it looks endless
	moments := []time.Duration{31 * time.Second, 3 * time.Second, 47 * time.Second, 11 * time.Second, 70 * time.Second}
	for _, after := range moments[:testbed.Reduce(5, 2)] {
		synctest.Test(t, func(t *testing.T) {
			w := newWeb(t, Similar(Tree, leftOutPages, false, true))
			small := func(c *engine.Config) { c.Intervals.Checkpoint = 7 * time.Second }
			off := func(c *engine.Config) { c.Intervals.Checkpoint, c.Traps.Novelty = 7*time.Second, traps.NoveltyOff }
			disk := w.killedAfter(t, vfs.NewMem(1), after, small)
			r := w.run(t, disk, small)
			list := listed(t, disk)
			balanced(t, &r, len(list))
			found += len(list)
			disk = w.killedAfter(t, disk, after, off)
			sound(t, disk)
			r = w.run(t, disk, off)
			rest := listed(t, disk)
			balanced(t, &r, len(rest))
			if s := w.Score(); s.Honest != leftOutPages || s.Trap > 16 || len(rest) != 0 {
				t.Errorf("killed after %v: %d of %d fetched, %d twice, %d listed yet", after, s.Honest, leftOutPages,
					s.Trap, len(rest))
			}
		})
	}
	if found == 0 {
		t.Error("nothing was ever listed")
	}
}

// killedAfter is runUntilKilled with a low trap floor.
func (w *web) killedAfter(t *testing.T, disk *vfs.Mem, after time.Duration, change func(*engine.Config)) *vfs.Mem {
	t.Helper()
	cfg := config(w.c.Seeds)
	cfg.Traps.TrapFloor = smallFloor
	change(&cfg)
	return w.runUntilKilled(t, cfg, disk, after)
}

// A higher --max-path-repeats fetches what a lower one left out.
func TestPathsLeftOutByOptionAreFetchedLater(t *testing.T) {
	h := newHonest(newLanguage(1, 60), 20, func(int) []string { return []string{"/a/a/a/a/a/a/page"} })
	c := one("T03", "repeated folders", h,
		func(string) Answer { return Answer{Kind: Trap, Body: page("Deep", "a page", "/")} })
	synctest.Test(t, func(t *testing.T) {
		w := newWeb(t, c)
		disk := vfs.NewMem(1)
		w.run(t, disk, func(c *engine.Config) { c.Traps.MaxPathRepeats = 4 })
		if list := listed(t, disk); len(list) != 1 ||
			list["http://t03.test/a/a/a/a/a/a/page"].Rule != traps.RulePathRepeats ||
			w.Score().Trap != 0 {
			t.Fatalf("listed: %v; %+v", list, w.Score())
		}
		r := w.run(t, disk, func(c *engine.Config) { c.Traps.MaxPathRepeats = 6 })
		balanced(t, &r, 0)
		if s := w.Score(); s.Trap != 1 || len(listed(t, disk)) != 0 {
			t.Errorf("%+v, %d listed yet", s, len(listed(t, disk)))
		}
	})
}

// A parameter that a site ignores on many pages and needs on others costs none of these.
func TestASilentParameterThatMattersElsewhereLosesNothing(t *testing.T) {
	const articles = 300
	l := newLanguage(3, 60)
	c := Case{
		ID:     "SILENT",
		Name:   "a parameter that sometimes matters",
		Seeds:  []string{"http://silent.test/"},
		Honest: 3 * (articles - 2),
		Addr:   spread(2),
	}
	c.Answer = func(_, target string) Answer { return silentPage(l, articles, target) }
	synctest.Test(t, func(t *testing.T) {
		w := newWeb(t, c)
		r := w.run(t, vfs.NewMem(1), func(*engine.Config) {})
		s := w.Score()
		t.Logf("%+v; delayed %d; %v", s, r.NoveltyDelayed, r.Outcomes)
		if s.Honest != c.Honest || len(r.Skipped) > 0 {
			t.Errorf("%d of %d honest pages; skipped %v", s.Honest, c.Honest, r.Skipped)
		}
		if r.NoveltyDelayed == 0 {
			t.Error("the parameter was never taken for silent")
		}
	})
}
