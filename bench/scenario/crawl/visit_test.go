package crawl

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/bench/scenario/testbed"
	"orbweaver/derive/quality"
	"orbweaver/engine"
	"orbweaver/engine/frontier/order"
	"orbweaver/engine/page/hook"
	"orbweaver/internal/simweb"
	"orbweaver/internal/vfs"
)

// orderedConfig returns the settings of a crawl with more sites than its workers can serve, so that the order counts.
func orderedConfig(t *testing.T, rig *testbed.Rig, visit string) engine.Config {
	t.Helper()
	cfg := rig.Config()
	if err := cfg.Order.Visit.UnmarshalText([]byte(visit)); err != nil {
		t.Fatal(err)
	}
	cfg.Workers.Fetchers = 8
	cfg.Politeness.HostDelay, cfg.Politeness.IPDelay = time.Second, 100*time.Millisecond
	return cfg
}

// skewedCrawl is a crawl of a skewed web: what the first fifth of the pages has, the order of requests, and the disk.
type skewedCrawl struct {
	*testbed.FirstFifth

	order *quality.Report
	disk  *vfs.Mem
}

// crawlSkewed crawls a skewed web.
func crawlSkewed(t *testing.T, visit string, budgets order.Budgets) (c skewedCrawl) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		world := testbed.SkewedWorld(*testbed.FirstSeed)
		rig := testbed.MustRig(t, world, true)
		cfg := orderedConfig(t, rig, visit)
		cfg.Order.Budgets = budgets
		if visit == "focused" {
			cfg.Filters.Score = "via_domain == domain ? 0 : 1"
		}
		rig.MustCrawl(t, cfg, rig.FS)
		var visits []string
		for a := range rig.Log.All() {
			if a.Path != "/robots.txt" {
				visits = append(visits, a.URL)
			}
		}
		m, err := simweb.NewModel(world)
		if err != nil {
			t.Fatal(err)
		}
		of := testbed.MeasureFifth(t, m, rig.Seeds, visits)
		c = skewedCrawl{&of, testbed.OrderOfAll(t, rig), rig.FS}
	})
	t.Logf("%+v, gain %.3f", *c.FirstFifth, c.Gain())
	return c
}

// The ranks of a crawl, which derive and graph rank make, guide the next one: the first fifth of its pages has more of
// the rank than that of a crawl that learns from links alone, and little of spam farms.
func TestVisit_ranksOfACrawlGuideTheNext(t *testing.T) {
	if testbed.Reduced {
		t.Skip("1,700 pages have no order worth measuring")
	}
	before := crawlSkewed(t, "ranked", nil)
	dir := t.TempDir()
	names, err := before.disk.List("crawl/warc")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		text, err := vfs.ReadFile(before.disk, "crawl/warc/"+name)
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), text, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	program, out := filepath.Join(dir, "orbweaver"), filepath.Join(dir, "out")
	for _, args := range [][]string{
		{"go", "build", "-C", "../../..", "-o", program, "./cmd/orbweaver"},
		{program, "derive", "--graph", "--crawl", "c", "--out", out, dir},
		{program, "graph", "rank", "--which", "c-domain", out},
	} {
		if said, err := exec.CommandContext(t.Context(), args[0], args[1:]...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", args, err, said)
		}
	}
	name := filepath.Join(out, "graph", "c-domain-budgets.tsv")
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	budgets, err := order.ReadBudgets(name, bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	after := crawlSkewed(t, "ranked", budgets)
	if after.Gain() < before.Gain()+0.05 || after.VisitedOfFarms*20 > after.BreadthFirstOfFarms {
		t.Errorf("with %d budgets the gain is %.3f and farms have %d pages, without %.3f and %d", len(budgets), after.Gain(),
			after.VisitedOfFarms, before.Gain(), before.VisitedOfFarms)
	}
}

// The deeper a visit of a host, the less is the order that of true breadth-first. Visits of depth 0 are nearer to it
// than the default, with which all URLs are with their sites at once. Bottom-up is the farthest.
func TestVisit_deeperVisitsAreLessBreadthFirst(t *testing.T) {
	if testbed.Reduced {
		t.Skip("three minutes of eleven crawls: package order tests the orders")
	}
	row := func(of string, q *quality.Report, name string) { // tools/plot reads it
		t.Logf("order %s: tau %.3f, area %.3f, at 20 %% %.3f, gain %.2f; by in-degree %.3f, %.3f, %.2f; curve %.4f", of,
			q.Tau[name], q.Area[name], q.AtFifth[name], q.Gain[name], q.InDegree.Area[name], q.InDegree.AtFifth[name],
			q.InDegree.Gain[name], q.Curves[name])
	}
	var tau []float64
	for _, visit := range []string{
		"focused", "per-host:2", "per-host:3", "per-host:4", "per-host:6",
		"ranked", "breadth-first", "per-host:0", "per-host:1", "per-host:8", "bottom-up",
	} {
		q := crawlSkewed(t, visit, nil).order
		tau = append(tau, q.Tau[quality.Visited])
		if visit == "focused" {
			row("true "+quality.BreadthFirst, q, quality.BreadthFirst)
			for _, name := range []string{quality.DepthFirst, quality.Random, quality.Omniscient} {
				row(name, q, name)
			}
			t.Logf("%d pages, skew %+v", q.Documents, q.Skew)
		}
		row(visit, q, quality.Visited)
	}
	tau = tau[5:]
	if tau[1] > tau[2]-0.05 {
		t.Errorf("per-host:0 is as far from breadth-first as the default: %.3f", tau)
	}
	for _, pair := range [][2]int{{2, 3}, {3, 4}, {3, 5}} { // which of the deepest is the farthest differs by seed
		if tau[pair[1]] > tau[pair[0]]-0.03 {
			t.Errorf("the order does not lead away from breadth-first: %.3f", tau)
		}
	}
}

// The order changes every ten seconds in a running crawl, also to a new one before the last is in force. No URL is
// lost, and none is fetched twice. What was queued under another order comes first, so all queues are empty at the end.
func TestVisit_changesInARunningCrawl(t *testing.T) {
	if testbed.Reduced {
		t.Skip("ten seconds: package schedule tests one change")
	}
	synctest.Test(t, func(t *testing.T) {
		to := []string{"ranked", "bottom-up", "per-host:2", "breadth-first"}
		changed := 0
		world := testbed.SkewedWorld(*testbed.FirstSeed)
		rig, cfg, r := testbed.CrawlWebDuring(t, world, true, func(cfg *engine.Config) {
			cfg.Workers.Fetchers, cfg.Politeness.HostDelay, cfg.Politeness.IPDelay = 4, time.Second, 100*time.Millisecond
		}, func(_ *testbed.Rig, e *engine.Engine) {
			for ; changed < 20; changed++ {
				testbed.Wait(10 * time.Second)
				for _, visit := range []string{to[(changed+1)%len(to)], to[changed%len(to)]} {
					if err := testbed.Set(t, e, "visit", visit); err != nil {
						t.Error(err)
					}
				}
			}
			if err := testbed.Set(t, e, "visit", "focused"); err == nil || !strings.Contains(err.Error(), "needs a score") {
				t.Errorf("focused without scores: %v", err)
			}
		})
		if v := testbed.JudgeSound(t, rig, cfg, testbed.Promise(cfg)); v.Coverage < 1 || v.Repeated > 0 {
			t.Errorf("coverage %.3f, %d URLs fetched again", v.Coverage, v.Repeated)
		}
		t.Logf("outcomes %v, %d of 20 changes", r.Outcomes, changed)
	})
}

// topicRig is a crawl of a web with ten topics.
func topicRig(t *testing.T, seed uint64, visit, score string) (*testbed.Rig, engine.Config, *simweb.Model) {
	t.Helper()
	world := testbed.SkewedWorld(seed)
	world.Topics, world.Homophily = 10, 0.7
	rig := testbed.MustRig(t, world, true)
	cfg := orderedConfig(t, rig, visit)
	if cfg.Filters.Score = score; score == byProgram {
		rig.Hook, cfg.Filters.Score, cfg.Hook.Hooks = topicScorer{}, "", []string{"link=scorer"}
	}
	m, err := simweb.NewModel(world)
	if err != nil {
		t.Fatal(err)
	}
	return rig, cfg, m
}

// topicsOf returns for each page that a crawl has asked for whether it is of one topic.
func topicsOf(rig *testbed.Rig, m *simweb.Model) (isOfTopic []bool) {
	for a := range rig.Log.All() {
		if target, ok := m.Find(a.URL); ok && a.Path != "/robots.txt" {
			isOfTopic = append(isOfTopic, m.TopicOf(int(target.Host)) == 3)
		}
	}
	return isOfTopic
}

// shareOf returns which share of a list is true.
func shareOf(list []bool) float64 {
	n := 0
	for _, is := range list {
		if is {
			n++
		}
	}
	return float64(n) / float64(len(list))
}

// focusedScore is for the topic of topicsOf.
const focusedScore = `anchor contains "topic03" ? 2 : via_count("topic03") > 0 ? 1 : 0`

// topicScorer is a program of --hook link=CMD, within this process: it gives the scores of focusedScore. It implements
// hook.Starter.
type topicScorer struct{}

// Start implements hook.Starter.
func (topicScorer) Start(string) (hook.Program, error) {
	return startPipes(func(head, body []byte) string {
		var q hook.LinkQuestion
		if err := json.Unmarshal(head, &q); err != nil || q.Type != "text/html" || q.Title == "" {
			return "it is no question about the links of a page: " + string(head)
		}
		scores := make([]int, len(q.Links))
		for i, link := range q.Links {
			if strings.Contains(link.Text, "topic03") {
				scores[i] = 2
			} else if bytes.Contains(body, []byte("topic03")) {
				scores[i] = 1
			}
		}
		text, _ := json.Marshal(scores)
		return fmt.Sprintf(`{"v":1,"id":%d,"scores":%s}`, q.ID, text)
	}), nil
}

// byProgram in place of an expression lets a topicScorer give the scores.
const byProgram = "program"

// harvest crawls a web with topics and returns which share of the first tenth of its pages is of one topic, and of all.
func harvest(t *testing.T, seed uint64, visit, score string) (tenth, all float64) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		rig, cfg, m := topicRig(t, seed, visit, score)
		rig.MustCrawl(t, cfg, rig.FS)
		pages := topicsOf(rig, m)
		tenth, all = shareOf(pages[:len(pages)/10]), shareOf(pages)
	})
	t.Logf("seed %d, %s: %.1f %% of the first tenth, %.1f %% of all", seed, visit, 100*tenth, 100*all)
	return tenth, all
}

// A crawl that is focused on one of ten topics has at least twice as many of its pages in the first tenth as
// breadth-first, also if a program gives the scores. It fetches the same pages in the end.
func TestVisit_focusedHarvestsItsTopic(t *testing.T) {
	if testbed.Reduced {
		t.Skip("1,700 pages have no order worth measuring")
	}
	for i := range uint64(3) {
		seed := *testbed.FirstSeed + i
		plain, all := harvest(t, seed, "breadth-first", "")
		focused, same := harvest(t, seed, "focused", []string{focusedScore, focusedScore, byProgram}[i])
		if focused < 2*plain || all != same {
			t.Errorf("seed %d: %.3f of the topic, %.3f breadth-first; %f and %f in all", seed, focused, plain, same, all)
		}
	}
}

// After a kill before the first checkpoint, all scores come from the journal and the archive, and the harvest goes on.
func TestVisit_focusedResumesWithItsScores(t *testing.T) {
	if testbed.Reduced {
		t.Skip("1,700 pages have no order worth measuring")
	}
	for _, score := range []string{focusedScore, byProgram} {
		synctest.Test(t, func(t *testing.T) { resumeFocused(t, score) })
	}
}

func resumeFocused(t *testing.T, score string) {
	t.Helper()
	rig, cfg, m := topicRig(t, *testbed.FirstSeed, "focused", score)
	disk, ended := testbed.Kill(t, rig, cfg, rig.FS, 25*time.Second, testbed.Sigkill)
	before := len(topicsOf(rig, m))
	testbed.ResumeToEnd(t, rig, cfg, disk, 8)
	share := shareOf(topicsOf(rig, m)[before:][:2000])
	if t.Logf("%d pages before the kill; %.2f after it", before, share); ended || share < 0.35 {
		t.Errorf("%.2f of the pages after the kill are of the topic; ended %v: %s", share, ended, score)
	}
}
