//go:build scenario

package cluster

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/bench/scenario/testbed"
	"orbweaver/engine"
	"orbweaver/engine/net/fetch/addrguard"
	"orbweaver/engine/peering"
	"orbweaver/engine/state/cluster"
	"orbweaver/internal/simweb"
	"orbweaver/internal/simweb/judge"
)

// flooder is a member that does no work and sends the others any messages. It writes the items of the engine: length,
// kind, flags, tries, depth and URL.
type flooder struct {
	endpoint *endpoint
	names    []string // of the web's hosts
	rng      *rand.Rand
	next     int
	granterStub

	mu                      sync.Mutex
	offered                 int // URLs
	accepted                int
	waits, banned, rejected int // messages
}

func (f *flooder) HandleMessage(context.Context, string, []byte) error { return nil }

func (f *flooder) HandleQuestion(_ context.Context, from string, question []byte) ([]byte, error) {
	return f.answer(from, question)
}

// appendLink appends an item with a URL. between are the bytes before the URL.
func appendLink(message []byte, flags byte, between, url string) []byte {
	item := append(append([]byte{'L', flags, 0, 1}, between...), url...)
	return append(binary.AppendUvarint(message, uint64(len(item))), item...)
}

// message has n URLs that no other message has.
func (f *flooder) message(n int) (message []byte) {
	for range n {
		f.next++
		host := f.names[f.rng.IntN(len(f.names))]
		switch f.rng.IntN(8) {
		case 0: // out of scope
			message = appendLink(message, 0, "", fmt.Sprintf("http://outside.example/%d", f.next))
		case 1: // private addresses
			url := []string{
				"http://10.0.0.1/%d", "http://127.0.0.1/%d", "http://169.254.169.254/latest/%d", "http://[::1]/%d",
			}[f.rng.IntN(4)]
			message = appendLink(message, 0, "", fmt.Sprintf(url, f.next))
		case 2: // unknown names
			message = appendLink(message, 0, "", fmt.Sprintf("http://h%d.flood.invalid/", f.next))
		default: // missing pages of hosts of all agents
			message = appendLink(message, 0, "", fmt.Sprintf("http://%s/flood-%d", host, f.next))
		}
	}
	return message
}

// garbage is a malformed message.
func (f *flooder) garbage() []byte {
	via := "http://a.example/\r\nforged: yes"
	return [][]byte{
		[]byte("\xff\xff\xff"),
		append(f.message(2), 9),
		appendLink(nil, 0, "", "http://A.example/../x"),
		appendLink(nil, 0, "", "gopher://a.example/"),
		appendLink(nil, 2, "\x0dhttp://a.test", "/robots.txt"),
		appendLink(nil, 4, "\x00"+string(binary.AppendUvarint(nil, uint64(len(via))))+via, "http://a.example/"),
	}[f.rng.IntN(6)]
}

// send sends a message of n URLs and counts the results.
func (f *flooder) send(ctx context.Context, to string, message []byte, n int) {
	err := f.endpoint.Send(ctx, to, 0, message)
	var wait *peering.WaitError
	f.mu.Lock()
	defer f.mu.Unlock()
	f.offered += n
	switch {
	case err == nil:
		f.accepted += n
	case errors.As(err, &wait):
		f.waits++
	case errors.Is(err, peering.ErrBanned):
		f.banned++
	case errors.Is(err, peering.ErrMalformed):
		f.rejected++
	}
}

// floodMessages is how many large messages are sent to each agent.
const floodMessages = 12_500

// flood sends large messages of so many URLs to each of some agents, after small ones and some garbage, within a
// quarter of an hour.
func (f *flooder) flood(ctx context.Context, to []string, urls int) {
	large := f.message(urls)
	var work sync.WaitGroup
	for _, name := range to {
		var messages [][]byte
		for i := range 400 {
			if i%8 == 7 {
				messages = append(messages, f.garbage())
				continue
			}
			messages = append(messages, f.message(10))
		}
		for i := range 8 {
			work.Go(func() {
				pause := 15 * time.Minute / (floodMessages / 8)
				for k := i; k < 400+floodMessages; k += 8 {
					if k < 400 {
						f.send(ctx, name, messages[k], 10)
					} else {
						f.send(ctx, name, large, urls)
						time.Sleep(pause)
					}
				}
			})
		}
	}
	work.Wait()
}

// floodedCrawl is a crawl of two honest agents with a third one, which floods them with messages of so many URLs, or
// does nothing. Some time later the third agent stops.
type floodedCrawl struct {
	flooder     *flooder
	testCluster *testCluster
	pages       []time.Duration // when pages of the web were fetched, before the third agent stopped
	unknownURLs map[string]int  // requests for URLs that are not in the web, by host
	heap        uint64          // the largest of some measurements
	state       []cluster.AgentReport
	verdict     judge.Verdict
}

func crawlWithFlooder(t *testing.T, world simweb.Config, urls int) *floodedCrawl {
	t.Helper()
	r := &floodedCrawl{unknownURLs: map[string]int{}}
	b := newTestCluster(t, world, 2)
	b.least, r.testCluster = 3, b
	guard := addrguard.New(nil, nil, nil)
	b.change = func(_ string, c *engine.Config, s *engine.Seams) {
		c.Filters.Scope, c.Cluster.PeerQuota, c.Cluster.AgentAway = `host != "outside.example"`, 40, time.Second
		s.Allowed = guard.Through
	}
	f := &flooder{endpoint: b.hub.newEndpoint("flooder", 1), rng: rand.New(rand.NewPCG(*testbed.FirstSeed, 5))}
	for i := range b.rig.World.Hosts() {
		f.names = append(f.names, b.rig.World.Host(i))
	}
	r.flooder = f
	if err := f.endpoint.Join(t.Context(), 99, f); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	var running []*agent
	for _, name := range b.names {
		running = append(running, b.start(t.Context(), name))
	}
	states := map[string]cluster.AgentReport{} // of the flooder, by the agent that reports it
	ctx, stop := context.WithCancel(t.Context())
	var watch sync.WaitGroup
	watch.Go(func() {
		tick := time.NewTicker(10 * time.Second)
		defer tick.Stop()
		for {
			r.heap = max(r.heap, liveHeap())
			for _, a := range running {
				for _, peer := range a.report().Cluster.Agents {
					if peer.ID == "flooder" && peer.BannedUntil != "" {
						states[a.name] = peer
					}
				}
			}
			select {
			case <-tick.C:
			case <-ctx.Done():
				return
			}
		}
	})
	time.Sleep(10 * time.Second)
	if urls > 0 {
		f.flood(t.Context(), b.names, urls)
	}
	time.Sleep(20*time.Minute - time.Since(began))
	stopped := time.Now()
	if err := f.endpoint.Leave(t.Context()); err != nil {
		t.Fatal(err)
	}
	b.wait()
	stop()
	watch.Wait()
	for a := range b.rig.Log.All() {
		switch {
		case strings.Contains(a.Path, "flood-") || !a.Addr.IsValid():
			r.unknownURLs[a.Host]++
		case a.Time.Before(stopped) && a.Path != "/robots.txt":
			r.pages = append(r.pages, a.Time.Sub(began))
		}
	}
	for _, name := range b.names {
		for _, a := range b.final(name).Cluster.Agents {
			if a.ID != "flooder" && a.BannedUntil != "" {
				t.Errorf("an honest agent is banned: %+v", a)
			}
		}
		if state, ok := states[name]; ok {
			r.state = append(r.state, state)
		}
	}
	r.verdict = b.judge()
	return r
}

// liveHeap is how many bytes of memory are in use.
func liveHeap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// A peer agent floods the others. They tell it to wait, it does not, and they ban it. What it sent before passes
// admission like the links of a page. The crawl is as fast as beside an idle agent, and in the end all pages are
// fetched.
func TestG05_aFloodOfURLs(t *testing.T) {
	urls := 4000 // in each message: 10^8 in all
	if testbed.Reduced {
		urls /= 10
	}
	world := testbed.SmallWorld(*testbed.FirstSeed+780, simweb.Plain())
	world.Hosts, world.PagesPerHostMean, world.PagesPerHostMax = 40, 20, 60
	var quiet, flooded *floodedCrawl
	synctest.Test(t, func(t *testing.T) { quiet = crawlWithFlooder(t, world, 0) })
	synctest.Test(t, func(t *testing.T) { flooded = crawlWithFlooder(t, world, urls) })

	f := flooded.flooder
	t.Logf("%d URLs sent, %d accepted; %d messages told to wait, %d refused as malformed, %d refused for the ban",
		f.offered, f.accepted, f.waits, f.rejected, f.banned)
	t.Logf("%d pages without the flood and %d with it; heap %d and %d MiB; missing pages of %d hosts were requested",
		len(quiet.pages), len(flooded.pages), quiet.heap>>20, flooded.heap>>20, len(flooded.unknownURLs))
	overQuota := int64(0)
	for i, a := range flooded.state {
		t.Logf("%s: %+v", flooded.testCluster.names[i], a)
		overQuota += a.MessagesOverQuota // an agent may have banned it for malformed messages before
		if a.BannedUntil == "" || a.BanReason == "" || a.MessagesRefused == 0 {
			t.Errorf("%s does not report that the flooder is banned", flooded.testCluster.names[i])
		}
	}
	if overQuota == 0 {
		t.Error("no agent reports messages over the quota")
	}
	if len(flooded.state) != 2 || f.offered < 2*floodMessages*urls || f.accepted > f.offered/100 {
		t.Error("the flood was not stopped")
	}
	if f.banned == 0 || f.rejected == 0 || f.waits == 0 {
		t.Errorf("%d messages banned, %d rejected, %d told to wait", f.banned, f.rejected, f.waits)
	}
	if len(quiet.pages) < 300 || len(flooded.pages) < len(quiet.pages)*9/10 {
		t.Errorf("%d pages with the flood and %d without it", len(flooded.pages), len(quiet.pages))
	}
	for _, part := range []int{50, 75, 90, 100} {
		k := len(quiet.pages)*part/100 - 1
		without, with := quiet.pages[k], flooded.pages[k]
		t.Logf("%d %% of the pages after %v, and with the flood after %v", part, without, with)
		if float64(without) < 0.85*float64(with) {
			t.Errorf("the flood delays %d %% of the pages", part)
		}
	}
	for host, n := range flooded.unknownURLs {
		private := []string{"10.0.0.1", "127.0.0.1", "169.254.169.254", "[::1]", "::1"}
		if strings.Contains(host, "outside") || slices.Contains(private, host) {
			t.Errorf("%s was contacted %d times", host, n)
		}
	}
	if flooded.heap > quiet.heap+48<<20 {
		t.Errorf("%d MiB of heap, and %d without the flood", flooded.heap>>20, quiet.heap>>20)
	}
	for _, r := range []*floodedCrawl{quiet, flooded} {
		if v := r.verdict; v.Coverage != 1 || v.Missing > 0 || impolite(v) {
			testbed.FailVerdict(t, v)
		}
	}
}
