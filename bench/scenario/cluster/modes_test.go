//go:build scenario

package cluster

import (
	"cmp"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/bench/scenario/testbed"
	"orbweaver/engine/peering/ring"
	"orbweaver/internal/simweb"
)

// mode is how the agents of a crawl share the web (Cho and Garcia-Molina, Parallel Crawlers, WWW 2002).
type mode string

const (
	firewall  mode = "firewall"   // an agent drops links to hosts of others
	crossOver mode = "cross-over" // an agent that has nothing else to do follows such links itself
	exchange  mode = "exchange"   // an agent sends such links to their owner: what Orbweaver does
)

// modeFigures are those of the paper.
type modeFigures struct {
	coverage float64 // pages that an agent has, of all that the seeds reach
	overlap  float64 // downloads of pages that an agent had already, for each page
	quality  float64 // of the fifth of the pages with the most links, how many are in the first fifth of the downloads
	overhead float64 // URLs sent for each page
}

// sharedWeb is a web whose hosts are shared among agents.
type sharedWeb struct {
	*testbed.Graph

	owners []int // of each URL
	seeds  int   // the first URLs
}

// newSharedWeb shares a web as the agents of the names do.
func newSharedWeb(t *testing.T, m *simweb.Model, seeds, names []string) *sharedWeb {
	t.Helper()
	var members []ring.Member
	for _, name := range names {
		members = append(members, ring.Member{ID: name, Capacity: 1})
	}
	who, err := ring.NewConsistent(members, ring.DefaultReplicas)
	if err != nil {
		t.Fatal(err)
	}
	w := &sharedWeb{Graph: testbed.GraphOf(t, m, seeds), seeds: len(seeds)}
	for _, host := range w.Hosts {
		w.owners = append(w.owners, who.Owner(ring.Key([]byte(m.Host(host)))))
	}
	return w
}

// first is the part of the pages with the most links that the first downloads have. Both are a fifth of all pages.
func (w *sharedWeb) first(downloads []int) float64 {
	links, order := make([]int, len(w.URLs)), make([]int, len(w.URLs))
	for n, to := range w.Successors {
		order[n] = n
		for _, s := range to {
			links[s]++
		}
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Or(cmp.Compare(links[b], links[a]), cmp.Compare(a, b)) })
	isFirst := make([]bool, len(w.URLs))
	fifth := len(w.URLs) / 5
	for _, n := range downloads[:min(fifth, len(downloads))] {
		isFirst[n] = true
	}
	had := 0
	for _, n := range order[:fifth] {
		if isFirst[n] {
			had++
		}
	}
	return float64(had) / float64(fifth)
}

// modeAgent is an agent of a computed crawl.
type modeAgent struct {
	own, foreign []int // URLs that wait
	isKnown      map[int]bool
}

// compute lets agents download a page each in turn, breadth-first, until none has one or all pages are there.
func (w *sharedWeb) compute(m mode, agents int) (f modeFigures) {
	all := make([]modeAgent, agents)
	sent, total := 0, 0
	add := func(agent, url int) {
		a := &all[agent]
		if a.isKnown[url] {
			return
		}
		a.isKnown[url] = true
		switch owner := w.owners[url]; {
		case owner == agent:
			a.own = append(a.own, url)
		case m == crossOver:
			a.foreign = append(a.foreign, url)
		case m == exchange:
			if sent++; !all[owner].isKnown[url] {
				all[owner].isKnown[url] = true
				all[owner].own = append(all[owner].own, url)
			}
		}
	}
	for i := range all {
		all[i].isKnown = map[int]bool{}
	}
	for seed := range w.seeds {
		add(w.owners[seed], seed)
	}
	var downloads []int // the first of each page
	has := make([]bool, len(w.URLs))
	for before := -1; before < total && len(downloads) < len(w.URLs); {
		before = total
		for i := range all {
			a := &all[i]
			queue := &a.own
			if len(a.own) == 0 {
				queue = &a.foreign
			}
			if len(*queue) == 0 {
				continue
			}
			url := (*queue)[0]
			*queue = (*queue)[1:]
			if total++; !has[url] {
				has[url] = true
				downloads = append(downloads, url)
			}
			for _, to := range w.Successors[url] {
				add(i, int(to))
			}
		}
	}
	n := float64(len(downloads))
	return modeFigures{
		coverage: n / float64(len(w.URLs)), overlap: (float64(total) - n) / n, quality: w.first(downloads),
		overhead: float64(sent) / n,
	}
}

// The modes of parallel crawlers on one web with four agents: exchange is measured, and computed as the others are.
func TestModes(t *testing.T) {
	t.Log("seed  mode                 coverage  overlap  quality  overhead")
	for i := range 3 {
		seed := *testbed.FirstSeed + uint64(i)
		synctest.Test(t, func(t *testing.T) {
			world := simweb.Plain()
			world.Seed, world.Hosts, world.PageBytesMean, world.Latency = seed, 300, 1000, 100*time.Millisecond
			world.OtherShare, world.CopyShare = 0, 0
			b := newTestCluster(t, world, 4)
			b.rig.Seeds = b.rig.World.Seeds(30)
			m, err := simweb.NewModel(world)
			if err != nil {
				t.Fatal(err)
			}
			w := newSharedWeb(t, m, b.rig.Seeds, b.names)
			measured := b.measureExchange(w)
			print := func(what string, f modeFigures) {
				t.Logf("%4d  %-20s %8.3f %8.3f %8.3f %9.2f", seed, what, f.coverage, f.overlap, f.quality, f.overhead)
			}
			print("exchange, measured", measured)
			computed := map[mode]modeFigures{}
			for _, m := range []mode{exchange, firewall, crossOver} {
				computed[m] = w.compute(m, 4)
				print(fmt.Sprintf("%s, computed", m), computed[m])
			}
			alone := *w
			alone.owners = make([]int, len(w.URLs))
			print("one agent, computed", alone.compute(firewall, 1))
			wall, over := computed[firewall], computed[crossOver]
			if measured.coverage != 1 || measured.overlap != 0 || measured.overhead > 1.1*computed[exchange].overhead {
				t.Errorf("exchange: %+v, computed %+v", measured, computed[exchange])
			}
			if wall.coverage == 1 || wall.overlap+wall.overhead > 0 || over.coverage != 1 || over.overlap == 0 ||
				over.overhead > 0 {
				t.Errorf("firewall %+v, cross-over %+v", wall, over)
			}
		})
	}
}

// measureExchange crawls the web.
func (b *testCluster) measureExchange(w *sharedWeb) (f modeFigures) {
	b.t.Helper()
	b.startAll(b.names)
	b.wait()
	v := b.judge()
	wantWhole(b.t, v, 0)
	var downloads []int
	for a := range b.rig.Log.All() {
		if n, ok := w.Numbers[a.URL]; ok {
			downloads = append(downloads, n)
		}
	}
	sent := int64(0)
	for _, name := range b.names {
		r := b.final(name)
		sent += r.Cluster.LinksSent
	}
	return modeFigures{v.Coverage, v.Overlap, w.first(downloads), float64(sent) / float64(v.Fetched)}
}
