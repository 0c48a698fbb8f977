//go:build scenario

package cluster

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/bench/scenario/testbed"
	"orbweaver/bench/simweb"
	"orbweaver/bench/simweb/judge"
	"orbweaver/engine"
	"orbweaver/engine/cluster"
	"orbweaver/engine/fetch/addrguard"
	"orbweaver/internal/vfs"
)

// flooder is an agent with a place among the others that does no work and sends them what it likes. It speaks the
// letters of the engine, which it has learnt: each item behind its length, a kind, flags, tries, depth, and the URL.
type flooder struct {
	desk  *desk
	names []string // of the web's hosts
	rng   *rand.Rand
	next  int
	bookkeeper

	mu                      sync.Mutex
	offered                 int // URLs
	taken                   int
	waits, banned, rejected int // letters
}

func (f *flooder) HandleMessage(context.Context, string, []byte) error { return nil }

func (f *flooder) HandleQuestion(_ context.Context, from string, question []byte) ([]byte, error) {
	return f.answer(from, question)
}

// item appends one.
func item(letter []byte, flags byte, between, url string) []byte {
	one := append(append([]byte{'L', flags, 0, 1}, between...), url...)
	return append(binary.AppendUvarint(letter, uint64(len(one))), one...)
}

// letter is n URLs, no two of all letters alike.
func (f *flooder) letter(n int) (letter []byte) {
	for range n {
		f.next++
		host := f.names[f.rng.IntN(len(f.names))]
		switch f.rng.IntN(8) {
		case 0: // out of scope
			letter = item(letter, 0, "", fmt.Sprintf("http://outside.example/%d", f.next))
		case 1: // private addresses
			letter = item(letter, 0, "", fmt.Sprintf([]string{"http://10.0.0.1/%d", "http://127.0.0.1/%d", "http://169.254.169.254/latest/%d", "http://[::1]/%d"}[f.rng.IntN(4)], f.next))
		case 2: // names that nobody has
			letter = item(letter, 0, "", fmt.Sprintf("http://h%d.nobody.invalid/", f.next))
		default: // pages that are not there, of everybody's hosts
			letter = item(letter, 0, "", fmt.Sprintf("http://%s/flood-%d", host, f.next))
		}
	}
	return letter
}

// garbage is a letter that cannot be read.
func (f *flooder) garbage() []byte {
	via := "http://a.example/\r\nforged: yes"
	return [][]byte{
		[]byte("\xff\xff\xff"),
		append(f.letter(2), 9),
		item(nil, 0, "", "http://A.example/../x"),
		item(nil, 0, "", "gopher://a.example/"),
		item(nil, 2, "\x0dhttp://a.test", "/robots.txt"),
		item(nil, 4, "\x00"+string(binary.AppendUvarint(nil, uint64(len(via))))+via, "http://a.example/"),
	}[f.rng.IntN(6)]
}

// send sends a letter of n URLs and counts what becomes of it.
func (f *flooder) send(ctx context.Context, to string, letter []byte, n int) {
	err := f.desk.Send(ctx, to, 0, letter)
	var wait *cluster.WaitError
	f.mu.Lock()
	defer f.mu.Unlock()
	f.offered += n
	switch {
	case err == nil:
		f.taken += n
	case errors.As(err, &wait):
		f.waits++
	case errors.Is(err, cluster.ErrBanned):
		f.banned++
	case errors.Is(err, cluster.ErrMalformed):
		f.rejected++
	}
}

// floodLetters is how many large letters each agent is offered.
const floodLetters = 12_500

// flood offers large letters of so many URLs to each of some agents, after small ones and garbage now and then, within
// a quarter of an hour or so.
func (f *flooder) flood(ctx context.Context, to []string, urls int) {
	large := f.letter(urls)
	var work sync.WaitGroup
	for _, name := range to {
		var letters [][]byte
		for i := range 400 {
			if i%8 == 7 {
				letters = append(letters, f.garbage())
				continue
			}
			letters = append(letters, f.letter(10))
		}
		for i := range 8 {
			work.Go(func() {
				pause := 15 * time.Minute / (floodLetters / 8)
				for k := i; k < 400+floodLetters; k += 8 {
					if k < 400 {
						f.send(ctx, name, letters[k], 10)
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

// beside is a crawl of two honest agents beside a third, which floods them with letters of so many URLs, or does
// nothing at all. Some time later it goes.
type beside struct {
	flooder   *flooder
	band      *band
	pages     []time.Duration // when pages of the web came, before the third agent went
	strangers map[string]int  // requests for what is not in the web, by what they are
	heap      uint64          // at most, looked at now and then
	state     []cluster.AgentReport
	verdict   judge.Verdict
}

func besideAFlooder(t *testing.T, world simweb.Config, urls int) *beside {
	t.Helper()
	r := &beside{strangers: map[string]int{}}
	b := newBand(t, world, 2)
	b.least, r.band = 3, b
	guard := addrguard.New(nil, nil, nil)
	b.alter = func(_ string, c *engine.Config, s *engine.Seams) {
		c.Filters.Scope, c.Cluster.PeerQuota, c.Cluster.AgentAway = `host != "outside.example"`, 40, time.Second
		s.Allowed = guard.Through
	}
	f := &flooder{desk: b.hub.desk("flooder", 1), rng: rand.New(rand.NewPCG(*testbed.FirstSeed, 5))}
	for i := range b.rig.World.Hosts() {
		f.names = append(f.names, b.rig.World.Host(i))
	}
	r.flooder = f
	if err := f.desk.Join(t.Context(), 99, f); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	var running []*agent
	for _, name := range b.names {
		running = append(running, b.start(t.Context(), name))
	}
	states := map[string]cluster.AgentReport{} // of the flooder, by who says so: its hosts are done by the others before it goes
	ctx, stop := context.WithCancel(t.Context())
	var watch sync.WaitGroup
	watch.Go(func() {
		tick := time.NewTicker(10 * time.Second)
		defer tick.Stop()
		for {
			r.heap = max(r.heap, liveHeap())
			for _, a := range running {
				for _, one := range a.report().Peers.Agents {
					if one.ID == "flooder" && one.Banned != "" {
						states[a.name] = one
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
	gone := time.Now()
	if err := f.desk.Leave(t.Context()); err != nil {
		t.Fatal(err)
	}
	b.wait()
	stop()
	watch.Wait()
	for a := range b.rig.Log.All() {
		switch in := strings.Contains(a.Path, "flood-") || !a.Addr.IsValid(); {
		case in:
			r.strangers[a.Host]++
		case a.Time.Before(gone) && a.Path != "/robots.txt":
			r.pages = append(r.pages, a.Time.Sub(began))
		}
	}
	for _, name := range b.names {
		for _, a := range b.reports[name].Peers.Agents {
			if a.ID != "flooder" && a.Banned != "" {
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

// A peer that floods is told to wait, does not, and is banned; what it sent before passed the same door as a link in a
// page. The crawl goes on as beside one that says nothing, and when it is taken away all is fetched.
func TestG05_aFloodOfURLs(t *testing.T) {
	urls := 4000 // in each letter: 10^8 together
	if testbed.Reduced {
		urls /= 10
	}
	world := testbed.SmallWorld(*testbed.FirstSeed+780, simweb.Plain())
	world.Hosts, world.PagesPerHostMean, world.PagesPerHostMax = 40, 20, 60
	var quiet, flooded *beside
	synctest.Test(t, func(t *testing.T) { quiet = besideAFlooder(t, world, 0) })
	synctest.Test(t, func(t *testing.T) { flooded = besideAFlooder(t, world, urls) })

	f := flooded.flooder
	t.Logf("%d URLs offered, %d taken; %d letters told to wait, %d refused as unreadable, %d refused for the ban", f.offered, f.taken, f.waits, f.rejected, f.banned)
	t.Logf("%d pages came in quiet and %d beside the flood; heap %d and %d MiB; %d hosts were asked for what is not there", len(quiet.pages), len(flooded.pages), quiet.heap>>20, flooded.heap>>20, len(flooded.strangers))
	for i, a := range flooded.state {
		t.Logf("%s: %+v", flooded.band.names[i], a)
		if a.Banned == "" || a.BannedFor == "" || a.Refused == 0 || a.ToldToWait == 0 {
			t.Errorf("%s does not say that the flooder is banned", flooded.band.names[i])
		}
	}
	if len(flooded.state) != 2 || f.offered < 2*floodLetters*urls || f.taken > f.offered/100 || f.banned == 0 || f.rejected == 0 || f.waits == 0 {
		t.Error("the flood was not stopped")
	}
	if len(quiet.pages) < 300 || len(flooded.pages) < len(quiet.pages)*9/10 {
		t.Errorf("%d pages beside the flood and %d without it", len(flooded.pages), len(quiet.pages))
	}
	for _, part := range []int{50, 75, 90, 100} {
		k := len(quiet.pages)*part/100 - 1
		if was, is := quiet.pages[k], flooded.pages[k]; float64(was) < 0.85*float64(is) {
			t.Errorf("%d %% of the pages had come after %v, and beside the flood after %v", part, was, is)
		} else {
			t.Logf("%d %% of the pages after %v, and beside the flood after %v", part, was, is)
		}
	}
	for host, n := range flooded.strangers {
		if strings.Contains(host, "outside") || host == "10.0.0.1" || host == "127.0.0.1" || host == "169.254.169.254" || host == "[::1]" || host == "::1" {
			t.Errorf("%s was asked %d times", host, n)
		}
	}
	if flooded.heap > quiet.heap+48<<20 {
		t.Errorf("%d MiB of heap, and %d without the flood", flooded.heap>>20, quiet.heap>>20)
	}
	for _, r := range []*beside{quiet, flooded} {
		if v := r.verdict; v.Coverage != 1 || v.Missing > 0 || impolite(v) {
			testbed.FailVerdict(t, v)
		}
	}
}

// Agents that keep the rules notice nothing of a quota that is one URL, when a third of the web is handed over and when
// an agent that lost its disk is told everything: some letters wait, and nothing is lost.
func TestG05_theQuotaHoldsUpNobodyHonest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBand(t, testbed.SmallWorld(*testbed.FirstSeed+785, simweb.Faulty()), 3)
		b.least = 2
		b.alter = func(_ string, c *engine.Config, _ *engine.Seams) { c.Cluster.PeerQuota = 1 }
		running := b.startAll(b.names[:2])
		time.Sleep(15 * time.Second)
		running["agent-2"] = b.start(t.Context(), "agent-2")
		time.Sleep(25 * time.Second)
		had := b.bury(running["agent-1"])
		b.disks["agent-1"] = vfs.NewMem(9)
		time.Sleep(5 * time.Second)
		b.start(t.Context(), "agent-1")
		b.wait()
		waits := int64(0)
		for _, name := range b.names {
			r := b.reports[name]
			waits += r.Peers.MessagesHeld
			for _, a := range r.Peers.Agents {
				if a.Banned != "" {
					t.Errorf("%s has banned %+v", name, a)
				}
			}
		}
		v := b.judge()
		t.Logf("%d pages, %d asked for again, of %d that were lost; letters were held back %d times", v.Fetched, v.Repeated, had, waits)
		if v.Coverage != 1 || v.Missing+v.AttemptsMissing > 0 || waits == 0 {
			v.Print(t.Output())
			t.Error("the oracle complains, or the quota was not met")
		}
	})
}
