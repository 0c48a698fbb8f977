package rooms

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"time"

	"orbweaver/bench/growth"
	"orbweaver/engine"
	"orbweaver/engine/robots"
	"orbweaver/workbench"
)

// How the hosts of the workbench's benchmark are.
const (
	hostsPerIP  = 4
	siteDelay   = 4 * time.Second
	ipDelay     = 500 * time.Millisecond
	slowOneOf   = 10 // hosts with a long crawl-delay
	slowDelay   = time.Hour
	rulesKinds  = 1000 // different robots.txt
	visitBatch  = 256
	visitsASec  = 250_000 // of virtual time
	robotsToken = "orbweaver"
)

// Workbench measures the workbench with the engine's own Sites at each size up to o.Hosts: what a host costs that was
// visited once and is idle now, robots rules and clocks included; what a Visit costs when all hosts wait, alone and with
// the queues and thousands of workers; at the last size, what cuts and loading cost.
func Workbench(ctx context.Context, o Options) (_ *growth.Result, err error) {
	away, err := o.in()
	if err != nil {
		return nil, err
	}
	defer func() { err = errFirst(err, away()) }()
	known := &growth.Run{Name: "hosts found, visited once and idle since", Items: "hosts"}
	alone := &growth.Run{Name: "Visits out and back, all hosts waiting (memory: with their items)", Items: "hosts"}
	queued := &growth.Run{Name: "the same through the queues, 4,000 workers between them", Items: "hosts"}
	cuts := &growth.Run{Name: "cuts beside running Visits", Items: "hosts"}
	for _, size := range growth.Sizes(o.Hosts) {
		c := newCrowd(o.Seed)
		m := growth.NewMeter(known.Name, known.Items, nil)
		m.Resume()
		if err := c.grow(ctx, m, size); err != nil {
			return nil, err
		}
		p := m.Mark(size)
		known.Points = append(known.Points, p)
		fmt.Fprintf(o.Say, "workbench: %d hosts known, %.1f bytes each\n", size, p.MemoryPerItem)
		if size == o.Hosts {
			weigh(known)
		}
		visits := []func(context.Context, *growth.Meter) error{c.visit, c.visitThroughQueues}
		for i, run := range []*growth.Run{alone, queued} {
			if i == 0 {
				c.fill()
			}
			m.Run = run
			m.Resume()
			if err := visits[i](ctx, m); err != nil {
				return nil, err
			}
			p := m.Mark(size)
			fmt.Fprintf(o.Say, "workbench: %s: %.0f ns of CPU each\n", run.Name, p.CPUPerItem)
		}
		alone.Add(fmt.Sprintf("Acquire, of %d hosts", size), c.acquiring.each(), "ns of CPU")
		alone.Add(fmt.Sprintf("Release, of %d hosts", size), c.releasing.each(), "ns of CPU")
		if size < o.Hosts {
			continue
		}
		if err := c.cuts(ctx, &o, cuts); err != nil {
			return nil, err
		}
	}
	return &growth.Result{Name: "workbench", Runs: []*growth.Run{known, alone, queued, cuts}}, nil
}

func errFirst(a, b error) error {
	if a != nil {
		return a
	}
	return b
}

// weigh notes what the process has now.
func weigh(run *growth.Run) {
	var s runtime.MemStats
	cpu := growth.CPU()
	runtime.GC()
	run.Add("CPU of one garbage collection", float64(growth.CPU()-cpu)/1e6, "ms")
	debug.FreeOSMemory()
	runtime.ReadMemStats(&s)
	run.Add("heap in use (HeapAlloc after a collection)", float64(s.HeapAlloc)/(1<<20), "MiB")
	run.Add("of the process, as the kernel sees it (RSS)", float64(rss())/(1<<20), "MiB")
}

// rss is the memory that the process has, 0 where that cannot be read.
func rss() int64 {
	b, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	var size, resident int64
	if _, err := fmt.Sscan(string(b), &size, &resident); err != nil {
		return 0
	}
	return resident * int64(os.Getpagesize())
}

// crowd is a bench with hosts like those of a crawl, in virtual time.
type crowd struct {
	bench  *workbench.Workbench[engine.Site]
	rng    *rand.Rand
	rules  []*robots.Rules
	now    time.Time
	hosts  int64
	key    []byte
	visits []workbench.Visit[engine.Site]

	acquiring, releasing span
}

// span adds up the CPU time of something done many times.
type span struct {
	cpu time.Duration
	n   int64
}

func (s *span) each() float64 { return float64(s.cpu.Nanoseconds()) / float64(max(s.n, 1)) }

func (s *span) add(since time.Duration, n int) {
	s.cpu += growth.CPU() - since
	s.n += int64(n)
}

func newCrowd(seed uint64) *crowd {
	c := &crowd{
		bench: workbench.New[engine.Site](workbench.Options{}), rng: rand.New(rand.NewPCG(seed, 1)), now: time.Now(),
		rules: []*robots.Rules{robots.AllowAll()},
	}
	for i := range rulesKinds {
		text := fmt.Appendf(nil, "User-agent: *\nDisallow: /private/%d\nDisallow: /tmp/\nCrawl-delay: %d\n", i, i%20)
		c.rules = append(c.rules, robots.Parse(text, robotsToken))
	}
	return c
}

// slow says whether a host has a long crawl-delay.
func slow(id uint64) bool { return id%slowOneOf == 0 }

func addrOf(host int64) netip.Addr {
	var b [4]byte
	binary.BigEndian.PutUint32(b[:], uint32(host/hostsPerIP)+10<<24)
	return netip.AddrFrom4(b)
}

// grow adds hosts up to size, each of which is found, placed, visited once, and idle then.
func (c *crowd) grow(ctx context.Context, m *growth.Meter, size int64) error {
	for c.hosts < size {
		began := time.Now()
		n := min(4096, size-c.hosts)
		for range n {
			c.add()
		}
		c.now = c.now.Add(time.Second)
		for {
			c.visits = c.bench.Acquire(c.now, c.visits[:0], visitBatch)
			if len(c.visits) == 0 && c.bench.Counts().Waiting == 0 {
				break
			}
			for i := range c.visits {
				v := &c.visits[i]
				c.bench.Release(v, workbench.Release{SiteDue: c.now.Add(siteDelay), IPDue: c.now.Add(ipDelay)}, c.now)
			}
			c.now = c.now.Add(ipDelay)
		}
		m.Done(n, time.Since(began))
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return nil
}

// add finds one more host.
func (c *crowd) add() {
	c.key = append(c.key[:0], "https://h"...)
	c.key = strconv.AppendInt(c.key, 10_000_000+c.hosts, 10)
	c.key = append(c.key, ".test.org"...)
	rules := c.rules[0]
	if n := c.rng.IntN(4 * rulesKinds); n < rulesKinds { // three of four have no robots.txt
		rules = c.rules[1+n]
	}
	vs, _ := c.bench.GetOrAdd(c.key)
	site := engine.NewSite(rules, c.now.Add(24*time.Hour), c.now.Add(time.Hour))
	c.bench.WithSite(vs, func(s *engine.Site) { *s = site })
	c.bench.Push(vs, []byte("/"))
	c.bench.Place(vs, addrOf(c.hosts), c.now)
	c.hosts++
}
