package components

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

	"orbweaver/engine/net/robots"
	"orbweaver/engine/state/site"
	"orbweaver/internal/cputime"
	"orbweaver/workbench"
)

// The hosts of the measurement.
const (
	hostsPerIP  = 4
	siteDelay   = 4 * time.Second
	ipDelay     = 500 * time.Millisecond
	slowOneOf   = 10 // one host in so many has a long crawl-delay
	slowDelay   = time.Hour
	rulesKinds  = 1000 // different robots.txt
	visitBatch  = 256
	visitsASec  = 250_000 // of virtual time
	robotsToken = "orbweaver"
)

// workbenchAdapter measures the workbench with the engine's Sites. At each size it measures an idle host that was
// visited once, with robots rules and due times, and a Visit while all hosts wait, alone and with queues and thousands
// of workers. At the last size it measures checkpoints and loading.
type workbenchAdapter struct {
	*driver
	hosts *hostSet // of the last size so far

	known, alone, queued, checkpoints *Run
}

func openWorkbench(d *driver) (adapter, error) {
	return &workbenchAdapter{
		driver: d,
		known:  d.run("hosts found, visited once and idle since", "hosts"),
		alone:  d.run("Visits out and back, all hosts waiting (memory: with their items)", "hosts"),
		queued: d.run("the same through the queues, 4,000 workers between them", "hosts"),

		checkpoints: d.run("checkpoints beside running Visits", "hosts"),
	}, nil
}

func (a *workbenchAdapter) close() error { return nil }

// grow measures a new workbench of this size.
func (a *workbenchAdapter) grow(ctx context.Context, size int64) error {
	a.hosts = nil // its memory does not count
	h := newHostSet(a.Seed)
	m := NewMeter("", "", nil)
	m.Run = a.known
	if err := h.grow(ctx, m, size); err != nil {
		return err
	}
	a.progress("%d hosts known, %.1f bytes each", size, m.Mark(size).MemoryPerItem)
	if size == a.Hosts {
		addMemory(a.known)
	}
	h.fill()
	for _, visits := range []struct {
		run  *Run
		make func(context.Context, *Meter) error
	}{{a.alone, h.visit}, {a.queued, h.visitThroughQueues}} {
		m.Run = visits.run
		m.Resume()
		if err := visits.make(ctx, m); err != nil {
			return err
		}
		a.progress("%s: %.0f ns of CPU each", visits.run.Name, m.Mark(size).CPUPerItem)
	}
	a.alone.Add(fmt.Sprintf("Acquire, of %d hosts", size), h.acquiring.each(), "ns of CPU")
	a.alone.Add(fmt.Sprintf("Release, of %d hosts", size), h.releasing.each(), "ns of CPU")
	a.hosts = h
	if size < a.Hosts {
		return nil
	}
	return a.measureCheckpoints(ctx)
}

func (a *workbenchAdapter) finish() error { return nil }

// addMemory adds the memory of the process.
func addMemory(run *Run) {
	var s runtime.MemStats
	cpu := cputime.Process()
	runtime.GC()
	run.Add("CPU of one garbage collection", float64(cputime.Process()-cpu)/1e6, "ms")
	debug.FreeOSMemory()
	runtime.ReadMemStats(&s)
	run.Add("heap in use (HeapAlloc after a collection)", float64(s.HeapAlloc)/(1<<20), "MiB")
	run.Add("of the process, as the kernel sees it (RSS)", float64(residentMemory())/(1<<20), "MiB")
}

// residentMemory of this process, 0 where the system does not report it.
func residentMemory() int64 {
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

// hostSet is a workbench with hosts like those of a crawl, in virtual time.
type hostSet struct {
	workbench *workbench.Workbench[site.State]
	rng       *rand.Rand
	rules     []*robots.Rules
	now       time.Time
	hosts     int64
	key       []byte
	visits    []workbench.Visit[site.State]

	acquiring, releasing cpuSum
}

// cpuSum adds up the CPU time of an operation.
type cpuSum struct {
	cpu time.Duration
	n   int64
}

func (s *cpuSum) each() float64 { return float64(s.cpu.Nanoseconds()) / float64(max(s.n, 1)) }

func (s *cpuSum) add(since time.Duration, n int) {
	s.cpu += cputime.Process() - since
	s.n += int64(n)
}

func newHostSet(seed uint64) *hostSet {
	h := &hostSet{
		workbench: workbench.New[site.State](workbench.Options{}), rng: rand.New(rand.NewPCG(seed, 1)), now: time.Now(),
		rules: []*robots.Rules{robots.AllowAll()},
	}
	for i := range rulesKinds {
		text := fmt.Appendf(nil, "User-agent: *\nDisallow: /private/%d\nDisallow: /tmp/\nCrawl-delay: %d\n", i, i%20)
		h.rules = append(h.rules, robots.Parse(text, robotsToken))
	}
	return h
}

// slow reports whether a host has a long crawl-delay.
func slow(id uint64) bool { return id%slowOneOf == 0 }

func addrOf(host int64) netip.Addr {
	var b [4]byte
	binary.BigEndian.PutUint32(b[:], uint32(host/hostsPerIP)+10<<24)
	return netip.AddrFrom4(b)
}

// grow adds hosts up to size. Each is found, placed and visited once, and is then idle.
func (h *hostSet) grow(ctx context.Context, m *Meter, size int64) error {
	for h.hosts < size {
		began := time.Now()
		n := min(4096, size-h.hosts)
		for range n {
			h.add()
		}
		h.now = h.now.Add(time.Second)
		for {
			h.visits = h.workbench.Acquire(h.now, h.visits[:0], visitBatch)
			if len(h.visits) == 0 && h.workbench.Counts().Waiting == 0 {
				break
			}
			for i := range h.visits {
				v := &h.visits[i]
				h.workbench.Release(v, workbench.Release{SiteDue: h.now.Add(siteDelay), IPDue: h.now.Add(ipDelay)}, h.now)
			}
			h.now = h.now.Add(ipDelay)
		}
		m.Done(n, time.Since(began))
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return nil
}

// add adds a host.
func (h *hostSet) add() {
	h.key = append(h.key[:0], "https://h"...)
	h.key = strconv.AppendInt(h.key, 10_000_000+h.hosts, 10)
	h.key = append(h.key, ".test.org"...)
	rules := h.rules[0]
	if n := h.rng.IntN(4 * rulesKinds); n < rulesKinds { // three of four have no robots.txt
		rules = h.rules[1+n]
	}
	vs, _ := h.workbench.GetOrAdd(h.key)
	fresh := site.New(rules, h.now.Add(24*time.Hour), h.now.Add(time.Hour))
	h.workbench.Site(vs).Update(func(s *site.State) { *s = fresh })
	h.workbench.Push(vs, []byte("/"))
	h.workbench.Place(vs, addrOf(h.hosts), h.now)
	h.hosts++
}
