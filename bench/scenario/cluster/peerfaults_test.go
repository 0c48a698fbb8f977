//go:build scenario

package cluster

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/bench/scenario/testbed"
	"orbweaver/bench/simweb"
	"orbweaver/engine"
	"orbweaver/engine/cluster/ring"
	"orbweaver/internal/invariants"
	"orbweaver/internal/vfs"
)

// idler is a peer that takes letters, says nothing and does nothing.
type idler struct {
	bookkeeper
	mu    sync.Mutex
	bytes int
}

func (i *idler) HandleMessage(_ context.Context, _ string, letter []byte) error {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.bytes += len(letter)
	return nil
}

func (i *idler) HandleQuestion(_ context.Context, from string, question []byte) ([]byte, error) {
	return i.answer(from, question)
}

// waiting is how many bytes of an agent's outbox lie on disk.
func waiting(t *testing.T, disk *vfs.Mem) (size int64) {
	t.Helper()
	const dir = "crawl/frontier/outbox"
	lines, err := disk.List(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range lines {
		if !strings.HasSuffix(line, "-out") {
			continue
		}
		files, err := disk.List(dir + "/" + line)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			n, err := disk.Size(dir + "/" + line + "/" + file)
			if err != nil {
				t.Fatal(err)
			}
			size += n
		}
	}
	return size
}

// belongingTo are n long URLs of a host that one of some agents of the same size is responsible for.
func belongingTo(t *testing.T, owner string, agents []string, n int) (urls []string) {
	t.Helper()
	members := make([]ring.Member, len(agents))
	for i, id := range agents {
		members[i] = ring.Member{ID: id, Capacity: 1}
	}
	who, err := ring.NewConsistent(members, ring.DefaultReplicas)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; ; i++ {
		host := fmt.Sprintf("long-%d.example", i)
		if who.Members()[who.Owner(ring.Key([]byte(host)))].ID != owner {
			continue
		}
		for k := range n {
			urls = append(urls, fmt.Sprintf("http://%s/%s/%d", host, strings.Repeat("path-", 60), k))
		}
		return urls
	}
}

// A peer to which a kilobyte a second gets through costs the others nothing: what it is to be told waits on disk.
func TestG02_aSlowPeer(t *testing.T) {
	if invariants.Race {
		t.Skip("it is about rates; TestG03 and TestG10 have the same steps") // the detector makes the peers ten times as slow; it runs in CI without
	}
	world := testbed.SmallWorld(*testbed.FirstSeed+790, simweb.Plain())
	world.Hosts, world.IPs, world.PagesPerHostMean, world.PagesPerHostMax, world.ExternalShare = 600, 600, 20, 60, 0.5
	type run struct {
		pages int
		disk  int64 // bytes of outboxes
		told  int   // bytes that the peer had
	}
	crawl := func(t *testing.T, rate int) (r run) {
		b := newBand(t, world, 2)
		b.least = 3
		seeds := slices.Concat(b.rig.Seeds, belongingTo(t, "peer", append(b.names, "peer"), 20_000))
		b.alter = func(_ string, c *engine.Config, _ *engine.Seams) {
			c.Politeness.HostDelay, c.Politeness.IPDelay, c.Seeds = 500*time.Millisecond, 0, testbed.Seeds(seeds)
		}
		peer := &idler{}
		d := b.hub.desk("peer", 1)
		if err := d.Join(t.Context(), 99, peer); err != nil {
			t.Fatal(err)
		}
		wire := make(chan struct{}, 1)
		b.hub.way = func(ctx context.Context, _, to string, letter []byte) error {
			if to != "peer" || rate == 0 {
				return nil
			}
			wire <- struct{}{}
			defer func() { <-wire }()
			timer := time.NewTimer(time.Duration(len(letter)) * time.Second / time.Duration(rate))
			defer timer.Stop()
			select {
			case <-timer.C:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		ctx, stop := context.WithCancel(t.Context())
		for _, name := range b.names {
			b.start(ctx, name)
		}
		time.Sleep(30 * time.Second)
		for a := range b.rig.Log.All() {
			if a.Path != "/robots.txt" {
				r.pages++
			}
		}
		for _, name := range b.names {
			r.disk += waiting(t, b.disks[name])
		}
		peer.mu.Lock()
		r.told = peer.bytes
		peer.mu.Unlock()
		stop()
		b.wait()
		return r
	}
	var fast, slow run
	synctest.Test(t, func(t *testing.T) { fast = crawl(t, 0) })
	synctest.Test(t, func(t *testing.T) { slow = crawl(t, 1024) })
	t.Logf("a fast peer: %d pages, %d bytes told; a slow one: %d pages, %d bytes told, outboxes of %d and %d bytes",
		fast.pages, fast.told, slow.pages, slow.told, fast.disk, slow.disk)
	if fast.pages < 3000 || float64(slow.pages) < 0.98*float64(fast.pages) {
		t.Error("who is slow holds up the others")
	}
	if fast.told < 8<<20 || slow.told > 150<<10 || int64(fast.told)-int64(slow.told)-slow.disk > 2<<20 { // of each agent four letters are in memory
		t.Error("what the slow peer is to be told is not on disk")
	}
}

// A peer comes back under its name: with what it had, without it before anybody missed it, and without it after its
// hosts went to others. Nothing is missing, and no more is fetched twice than what was lost or in flight.
func TestG03_aPeerComesBack(t *testing.T) {
	for _, c := range []struct {
		name         string
		lost, missed bool
	}{{"with its data", false, false}, {"with its data, after it was missed", false, true}, {"without its data", true, false}, {"without its data, after it was missed", true, true}} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBand(t, testbed.SmallWorld(*testbed.FirstSeed+800, simweb.Faulty()), 3)
				running := b.startAll(b.names)
				time.Sleep(25 * time.Second)
				one := running["agent-1"]
				one.kill(testbed.Sigkill)
				had := b.pages("agent-1")
				time.Sleep(2 * time.Second)
				twice := 2 * b.config("").Workers.Fetchers
				if c.missed {
					b.hub.leave(one.desk)
					time.Sleep(15 * time.Second)
					twice += had // they were fetched by who had its hosts: nobody could know
				}
				if c.lost {
					b.disks["agent-1"] = vfs.NewMem(77)
					twice += had
				}
				b.start(t.Context(), "agent-1")
				b.wait()
				v := b.judge()
				t.Logf("%d pages, %d asked for again; it had %d", v.Fetched, v.Repeated, had)
				if v.Coverage != 1 || v.Missing+v.AttemptsMissing > 0 || v.Repeated > twice || v.HostConcurrency > 0 {
					testbed.FailVerdict(t, v)
				}
			})
		})
	}
}

// A peer loses its power at the very moment at which it has acknowledged a letter, again and again: what it
// acknowledged is there afterwards, and what it did not is sent again.
func TestG08_aPeerDiesWhenItHasAcknowledged(t *testing.T) {
	eachSeed(t, 810, func(t *testing.T, _ int, seed uint64) {
		rng := rand.New(rand.NewPCG(seed, 4))
		world := testbed.SmallWorld(seed, simweb.Plain())
		world.Hosts, world.PagesPerHostMean, world.PagesPerHostMax, world.LinksMean, world.HostFanout = 150, 2, 4, 1, 3 // each host is linked to once
		b := newBand(t, world, 3)
		var disk *vfs.Mem
		var mu sync.Mutex
		cut := make(chan struct{}, 1)
		armed := false
		b.hub.acked = func(_, to string) {
			mu.Lock()
			defer mu.Unlock()
			if armed && to == "agent-1" {
				armed = false
				disk = b.disks[to].CrashClone(rng) // nothing that it writes from now on is there
				cut <- struct{}{}
			}
		}
		running := b.startAll(b.names)
		kills := 0
		for range 10 {
			mu.Lock()
			armed = true
			mu.Unlock()
			select {
			case <-cut:
			case <-running["agent-1"].done:
				continue
			}
			running["agent-1"].kill(func(*vfs.Mem) *vfs.Mem { return disk })
			time.Sleep(time.Duration(rng.Int64N(int64(3 * time.Second))))
			running["agent-1"] = b.start(t.Context(), "agent-1")
			kills++
		}
		b.wait()
		v := b.judge()
		t.Logf("%d power cuts, %d pages, %d asked for again, %d letters", kills, v.Fetched, v.Repeated, b.hub.letters)
		if kills < 3 || v.Coverage != 1 || v.Missing+v.AttemptsMissing > 0 ||
			v.Repeated > kills*b.config("").Workers.Fetchers || impolite(v) {
			testbed.FailVerdict(t, v)
		}
	})
}

// What agents say to each other does not depend on the time of day: a crawl of another day, an hour and a month on, has
// the same letters.
func TestG09_lettersKnowNoTimeOfDay(t *testing.T) {
	var days [2]map[string]bool
	for i, later := range []time.Duration{0, 31*24*time.Hour + time.Hour} {
		days[i] = map[string]bool{}
		synctest.Test(t, func(t *testing.T) {
			time.Sleep(later)
			b := newBand(t, testbed.SmallWorld(*testbed.FirstSeed+820, simweb.Plain()), 2)
			var mu sync.Mutex
			b.hub.way = func(_ context.Context, _, to string, letter []byte) error {
				mu.Lock()
				defer mu.Unlock()
				for one := range items(letter) {
					days[i][to+" "+one] = true
				}
				return nil
			}
			for _, name := range b.names {
				b.start(t.Context(), name)
			}
			b.wait()
			if v := b.judge(); v.Coverage != 1 {
				t.Errorf("coverage %v", v.Coverage)
			}
		})
	}
	if len(days[0]) < 20 || len(days[0]) != len(days[1]) {
		t.Errorf("%d different items on one day, %d on the other", len(days[0]), len(days[1]))
	}
	for one := range days[0] {
		if !days[1][one] {
			t.Errorf("nobody says %q on the other day", one)
		}
	}
}

// Agents go, with a word and without, and come back, one each second. When that is over the web is whole, and no host
// was asked too early.
func TestG10_churn(t *testing.T) {
	seeds := min(*testbed.SeedCount, 3)
	if testbed.Reduced {
		seeds = 1
	}
	for i := range seeds {
		seed := *testbed.FirstSeed + 830 + uint64(i)
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 6))
			synctest.Test(t, func(t *testing.T) {
				b := newBand(t, testbed.SmallWorld(seed, simweb.Plain()), 6)
				b.alter = func(_ string, c *engine.Config, _ *engine.Seams) { c.Cluster.AgentAway = 5 * time.Second }
				running := b.startAll(b.names)
				time.Sleep(5 * time.Second)
				changes, kills := 0, 0
				for range 120 {
					time.Sleep(time.Second)
					name := b.names[1+rng.IntN(len(b.names)-1)] // the first stays, so that there is a crawl
					one := running[name]
					if one == nil {
						running[name] = b.start(t.Context(), name)
						changes++
						continue
					}
					select {
					case <-one.done:
						continue // it was over
					default:
					}
					if rng.IntN(2) == 0 {
						one.stop() // in good order
						<-one.done
					} else {
						one.kill(func(disk *vfs.Mem) *vfs.Mem { return disk.CrashClone(rng) })
						b.hub.leave(one.desk)
						kills++
					}
					running[name] = nil
					changes++
				}
				for _, name := range b.names {
					if running[name] == nil {
						b.start(t.Context(), name)
					}
				}
				b.wait()
				v := b.judge()
				t.Logf("%d changes, %d of them kills; %d pages, %d asked for again, %d letters, %d questions", changes, kills, v.Fetched, v.Repeated, b.hub.letters, b.hub.asked)
				if changes < 60 || v.Coverage != 1 || v.Missing+v.AttemptsMissing > 0 || impolite(v) {
					testbed.FailVerdict(t, v)
				}
			})
		})
	}
}
