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
	"orbweaver/engine"
	"orbweaver/engine/peering/ring"
	"orbweaver/internal/invariants"
	"orbweaver/internal/simweb"
	"orbweaver/internal/vfs"
)

// idleAgent is a peer agent that takes messages, sends none and does no work.
type idleAgent struct {
	granterStub
	mu    sync.Mutex
	bytes int
}

func (i *idleAgent) HandleMessage(_ context.Context, _ string, message []byte) error {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.bytes += len(message)
	return nil
}

func (i *idleAgent) HandleQuestion(_ context.Context, from string, question []byte) ([]byte, error) {
	return i.answer(from, question)
}

// outboxBytes is how many bytes of an agent's outbox are on disk.
func outboxBytes(t *testing.T, disk *vfs.Mem) (size int64) {
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

// urlsOwnedBy are n long URLs of a host of one agent, among some agents of equal capacity.
func urlsOwnedBy(t *testing.T, owner string, agents []string, n int) (urls []string) {
	t.Helper()
	members := make([]ring.Member, len(agents))
	for i, id := range agents {
		members[i] = ring.Member{ID: id, Capacity: 1}
	}
	owners, err := ring.NewConsistent(members, ring.DefaultReplicas)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; ; i++ {
		host := fmt.Sprintf("long-%d.example", i)
		if owners.Members()[owners.Owner(ring.Key([]byte(host)))].ID != owner {
			continue
		}
		for k := range n {
			urls = append(urls, fmt.Sprintf("http://%s/%s/%d", host, strings.Repeat("path-", 60), k))
		}
		return urls
	}
}

// A peer agent receives one kilobyte a second. The others are as fast as without it, and its backlog waits on disk.
func TestG02_aSlowPeer(t *testing.T) {
	if invariants.Race {
		t.Skip("rates with the race detector mean nothing; TestG03 and TestG10 have the same steps")
	}
	world := testbed.SmallWorld(*testbed.FirstSeed+790, simweb.Plain())
	world.Hosts, world.IPs, world.PagesPerHostMean, world.PagesPerHostMax, world.ExternalShare = 600, 600, 20, 60, 0.5
	type run struct {
		pages int
		disk  int64 // bytes in outboxes
		sent  int   // bytes that the peer agent received
	}
	crawl := func(t *testing.T, rate int) (r run) {
		b := newTestCluster(t, world, 2)
		b.least = 3
		seeds := slices.Concat(b.rig.Seeds, urlsOwnedBy(t, "peer", append(b.names, "peer"), 20_000))
		b.change = func(_ string, c *engine.Config, _ *engine.Seams) {
			c.Politeness.HostDelay, c.Politeness.IPDelay, c.Seeds = 500*time.Millisecond, 0, testbed.Seeds(seeds)
		}
		peer := &idleAgent{}
		d := b.hub.newEndpoint("peer", 1)
		if err := d.Join(t.Context(), 99, peer); err != nil {
			t.Fatal(err)
		}
		wire := make(chan struct{}, 1)
		b.hub.onSend = func(ctx context.Context, _, to string, message []byte) error {
			if to != "peer" || rate == 0 {
				return nil
			}
			wire <- struct{}{}
			defer func() { <-wire }()
			timer := time.NewTimer(time.Duration(len(message)) * time.Second / time.Duration(rate))
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
			r.disk += outboxBytes(t, b.disks[name])
		}
		peer.mu.Lock()
		r.sent = peer.bytes
		peer.mu.Unlock()
		stop()
		b.wait()
		return r
	}
	var fast, slow run
	synctest.Test(t, func(t *testing.T) { fast = crawl(t, 0) })
	synctest.Test(t, func(t *testing.T) { slow = crawl(t, 1024) })
	t.Logf("a fast peer: %d pages, %d bytes sent; a slow one: %d pages, %d bytes sent, outboxes of %d and %d bytes",
		fast.pages, fast.sent, slow.pages, slow.sent, fast.disk, slow.disk)
	if fast.pages < 3000 || float64(slow.pages) < 0.98*float64(fast.pages) {
		t.Error("the slow agent delays the others")
	}
	if fast.sent < 8<<20 || slow.sent > 150<<10 {
		t.Errorf("%d and %d bytes were sent", fast.sent, slow.sent)
	}
	if int64(fast.sent)-int64(slow.sent)-slow.disk > 2<<20 { // of each agent four messages are in memory
		t.Error("the backlog of the slow agent is not on disk")
	}
}

// An agent loses its power at the moment at which it has acknowledged a message, several times. What it acknowledged is
// on its disk afterwards, and the rest is sent again.
func TestG08_aPeerFailsWhenItHasAcknowledged(t *testing.T) {
	eachSeed(t, 810, func(t *testing.T, _ int, seed uint64) {
		rng := rand.New(rand.NewPCG(seed, 4))
		world := testbed.SmallWorld(seed, simweb.Plain())
		world.Hosts, world.PagesPerHostMean, world.PagesPerHostMax = 150, 2, 4
		world.LinksMean, world.HostFanout = 1, 3 // each host is linked to once
		b := newTestCluster(t, world, 3)
		var disk *vfs.Mem
		var mu sync.Mutex
		cut := make(chan struct{}, 1)
		armed := false
		b.hub.onAcknowledged = func(_, to string) {
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
		t.Logf("%d power cuts, %d pages, %d fetched again, %d messages", kills, v.Fetched, v.Repeated, b.hub.messages)
		if kills < 3 || v.Coverage != 1 || v.Missing+v.AttemptsMissing > 0 ||
			v.Repeated > kills*b.config("").Workers.Fetchers || impolite(v) {
			testbed.FailVerdict(t, v)
		}
	})
}

// Messages do not depend on the date and the time of day: a crawl a month and an hour later sends the same URLs to the
// same agents, in items of the same kinds. The depth of a URL is that of the page that is fetched first.
func TestG09_messagesDependOnNoClock(t *testing.T) {
	var days [2]map[string]bool
	for i, later := range []time.Duration{0, 31*24*time.Hour + time.Hour} {
		days[i] = map[string]bool{}
		synctest.Test(t, func(t *testing.T) {
			time.Sleep(later)
			b := newTestCluster(t, testbed.SmallWorld(*testbed.FirstSeed+820, simweb.Plain()), 2)
			var mu sync.Mutex
			b.hub.onSend = func(_ context.Context, _, to string, message []byte) error {
				mu.Lock()
				defer mu.Unlock()
				for item := range items(message) {
					// A requisite has its page in front. If it is a link of another page, too, the first one is sent.
					kind, at := item[:1], strings.LastIndex(item, "http")
					days[i][to+" "+kind+" "+item[max(at, 0):]] = true
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
	for item := range days[0] {
		if !days[1][item] {
			t.Errorf("%q is not sent on the other day", item)
		}
	}
}

// Each second an agent stops, is killed, or returns. When that is over the whole web is fetched, and no host was
// contacted too early.
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
				b := newTestCluster(t, testbed.SmallWorld(seed, simweb.Plain()), 6)
				b.change = func(_ string, c *engine.Config, _ *engine.Seams) { c.Cluster.AgentAway = 5 * time.Second }
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
						continue // it has ended
					default:
					}
					if rng.IntN(2) == 0 {
						one.stop() // in order
						<-one.done
					} else {
						one.kill(func(disk *vfs.Mem) *vfs.Mem { return disk.CrashClone(rng) })
						b.hub.remove(one.endpoint)
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
				t.Logf("%d changes, %d of them kills; %d pages, %d fetched again, %d messages, %d questions",
					changes, kills, v.Fetched, v.Repeated, b.hub.messages, b.hub.questions)
				if changes < 60 || v.Coverage != 1 || v.Missing+v.AttemptsMissing > 0 || impolite(v) {
					testbed.FailVerdict(t, v)
				}
			})
		})
	}
}
