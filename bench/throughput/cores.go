package throughput

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"orbweaver/engine"
	"orbweaver/internal/cputime"
	"orbweaver/internal/trial"
)

// CoresResult is how the speed of a crawl grows with the number of threads that run Go code, and what bounds it.
type CoresResult struct {
	Name    string       `json:"name"`
	Cores   int          `json:"cores"`   // of the machine
	Memory  []CoresRun   `json:"memory"`  // crawls of the fabricated web
	Sockets []CoresRun   `json:"sockets"` // crawls of the simulated web, which takes the same cores
	Owned   []Serial     `json:"owned_loops"`
	Locked  []Serial     `json:"locks"`
	Model   Scaling      `json:"model"`
	Expect  []Prediction `json:"predictions"`
}

// CoresRun is one crawl.
type CoresRun struct {
	Threads        int     `json:"threads"`
	PagesPerSecond float64 `json:"pages_per_second"`
	CPUPerPage     float64 `json:"cpu_us_per_page"`
	Locks          float64 `json:"locks_cpu_share"` // of the CPU time, in contended locks
	Loops          []Loop  `json:"loops"`
	Held           []Loop  `json:"held"`  // CPU time under each lock of the crawl, whichever loop holds it
	Waits          []Loop  `json:"waits"` // time that goroutines waited for locks; threads wait, too, if cores are busy
}

// Serial is work that a single goroutine does at a time: a loop of the engine with one goroutine, or the work under a
// lock that the crawl has once. However many cores there are, it can serve no more pages than one core has time for.
type Serial struct {
	Name    string  `json:"name"`
	Memory  float64 `json:"memory_us_per_page"`  // CPU time, with the fabricated web
	Sockets float64 `json:"sockets_us_per_page"` // and with the simulated one
	Cores   float64 `json:"cores"`               // that keep it busy, at pagesOfCore
}

// pagesOfCore is how many pages a second a core fetches, parses and stores: what serial work is held against.
const pagesOfCore = 2500

// Scaling is the universal scalability law (Gunther, Guerrilla Capacity Planning, 2007): n threads are
// n / (1 + Contention (n-1) + Coherence n (n-1)) times as fast as one.
type Scaling struct {
	Contention float64 `json:"contention"`
	Coherence  float64 `json:"coherence"`
	Page       float64 `json:"cpu_us_per_page"` // of one thread, over sockets
	Crawls     int     `json:"crawls"`          // that it was found with; of none there is no contention
}

// Prediction is the speed that the model has for a number of cores.
type Prediction struct {
	Cores          int     `json:"cores"`
	PagesPerSecond float64 `json:"pages_per_second"`
	Bound          string  `json:"bound,omitempty"` // the serial work that takes a core then; "" if none does
}

// Cores crawls both webs once for each number of threads. It measures for a length of time, after half as much in which
// the front grows and the first robots.txt are fetched. The first number is 1. Progress has a line for each crawl.
func Cores(
	ctx context.Context, o trial.Options, memory *Fabricated, sockets *trial.Simulated, threads []int,
	length time.Duration,
) (*CoresResult, error) {
	r := &CoresResult{Name: "cores", Cores: runtime.NumCPU()}
	for _, n := range threads {
		for _, web := range []struct {
			trial.Web
			name string
			runs *[]CoresRun
		}{{memory, "from memory", &r.Memory}, {sockets, "over sockets", &r.Sockets}} {
			one, err := coresRun(ctx, o, web, n, length)
			if err != nil {
				return nil, err
			}
			*web.runs = append(*web.runs, one)
			fmt.Fprintf(o.Progress, "%d threads, %s: %.0f pages/s, %.1f CPU us a page\n", n, web.name,
				one.PagesPerSecond, one.CPUPerPage)
		}
	}
	r.Owned = ownedLoops(r.Memory[0].Loops, r.Sockets[0].Loops)
	r.Locked = serialWork(r.Memory[0].Held, r.Sockets[0].Held)
	r.Model = fit(r.Memory, r.Cores)
	r.Model.Page = r.Sockets[0].CPUPerPage
	for _, n := range []int{2, 4, 8, 16, 32, 64} {
		r.Expect = append(r.Expect, r.Model.predict(n, slices.Concat(r.Owned, r.Locked)))
	}
	return r, nil
}

// waitsSampled: of so many waits for a lock one is counted, for all of them.
const waitsSampled = 10

// coresRun crawls with so many threads.
func coresRun(
	ctx context.Context, o trial.Options, web trial.Web, threads int, length time.Duration,
) (CoresRun, error) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(threads))
	defer runtime.SetMutexProfileFraction(runtime.SetMutexProfileFraction(waitsSampled))
	debug.FreeOSMemory() // return the memory of the crawl before
	measured := &coresWeb{Web: web, length: length, run: CoresRun{Threads: threads}}
	o.Web = measured
	_, err := trial.Run(ctx, o)
	return measured.run, errors.Join(err, measured.err, os.RemoveAll(o.Dir), ctx.Err())
}

// coresWeb is a web that ends the crawl when it has been measured.
type coresWeb struct {
	trial.Web
	length time.Duration
	run    CoresRun
	err    error
}

// Open implements trial.Web.
func (w *coresWeb) Open(ctx context.Context, o *trial.Options) (trial.OpenWeb, error) {
	opened, err := w.Web.Open(ctx, o)
	return coresOpenWeb{opened, w}, err
}

type coresOpenWeb struct {
	trial.OpenWeb
	of *coresWeb
}

// Watch implements trial.OpenWeb.
func (w coresOpenWeb) Watch(ctx context.Context, e *engine.Engine, end func(), measure func() *trial.Result) {
	var within sync.WaitGroup
	within.Go(func() { w.OpenWeb.Watch(ctx, e, end, measure) })
	defer within.Wait()
	defer end()
	if !wait(ctx, w.of.length/2) {
		return
	}
	waits, failed := lockWaits()
	before, began, cpu := e.Report(), time.Now(), cputime.Process()
	profile, err := profiled("", "", func() error { wait(ctx, w.of.length); return nil })
	after, took := e.Report(), time.Since(began)
	cpu = cputime.Process() - cpu
	now, alsoFailed := lockWaits()
	n := float64(max(trial.Pages(&after)-trial.Pages(&before), 1))
	r := &w.of.run
	r.PagesPerSecond, r.CPUPerPage = n/took.Seconds(), float64(cpu.Microseconds())/n
	r.Waits = perPage(since(waits, now), 1/(1e3*n))
	if w.of.err = errors.Join(err, failed, alsoFailed); profile != nil {
		r.Locks, r.Loops = profile.lockShare(), byLoop(profile, r.CPUPerPage)
		r.Held = perPage(profile.held, r.CPUPerPage/float64(max(profile.total, 1)))
	}
}

// ownedLoops are the loops that are not those of many workers, the busiest first.
func ownedLoops(memory, sockets []Loop) []Serial {
	return serialWork(slices.DeleteFunc(slices.Clone(memory), func(l Loop) bool {
		return slices.Contains([]string{"fetch", "parse", "resolve", unlabelled}, l.Name)
	}), sockets)
}

// serialWork has what is serial in a crawl from memory, the busiest first, and the same over sockets.
func serialWork(memory, sockets []Loop) (all []Serial) {
	for _, l := range memory {
		one := Serial{Name: l.Name, Memory: l.CPU}
		if i := slices.IndexFunc(sockets, func(s Loop) bool { return s.Name == l.Name }); i >= 0 {
			one.Sockets = sockets[i].CPU
		}
		one.Cores = 1e6 / max(one.Memory, one.Sockets) / pagesOfCore
		all = append(all, one)
	}
	slices.SortFunc(all, func(a, b Serial) int { return cmp.Compare(a.Cores, b.Cores) })
	return all
}

// busyLeast is the part of their time that threads must run, or the speed of a crawl says nothing about the program:
// other processes took the cores.
const busyLeast = 0.85

// busy returns how many cores a crawl kept busy.
func (r *CoresRun) busy() float64 { return r.PagesPerSecond * r.CPUPerPage / 1e6 }

// fit finds the law for crawls of up to so many threads, by least squares, without those that other processes slowed
// down. Of two crawls all is contention. Without any the law has none.
func fit(runs []CoresRun, cores int) (s Scaling) {
	var aa, ab, bb, ay, by float64 // sums of products of n-1, n(n-1), and what is missing
	points := 0
	for _, r := range runs {
		if r.Threads == 1 || r.Threads > cores || r.busy() < busyLeast*float64(r.Threads) {
			continue
		}
		n := float64(r.Threads)
		a, b, y := n-1, n*(n-1), n*runs[0].PagesPerSecond/r.PagesPerSecond-1
		aa, ab, bb, ay, by = aa+a*a, ab+a*b, bb+b*b, ay+a*y, by+b*y
		points++
	}
	s.Crawls = points
	if points > 1 {
		det := aa*bb - ab*ab
		s.Contention, s.Coherence = (ay*bb-by*ab)/det, (by*aa-ay*ab)/det
	}
	if points == 1 || s.Coherence < 0 || s.Contention < 0 {
		s.Contention, s.Coherence = max(ay/max(aa, 1), 0), 0
	}
	return s
}

// predict returns the speed of a number of cores: that of the law, or of the serial work that takes a core before.
func (s Scaling) predict(cores int, serial []Serial) Prediction {
	n := float64(cores)
	p := Prediction{Cores: cores, PagesPerSecond: 1e6 / s.Page * n / (1 + s.Contention*(n-1) + s.Coherence*n*(n-1))}
	for _, l := range serial {
		if most := l.Cores * pagesOfCore; most < p.PagesPerSecond {
			p.PagesPerSecond, p.Bound = most, l.Name
		}
	}
	return p
}

// Print writes the result as tables.
func (r *CoresResult) Print(out io.Writer) {
	const head = " %15s %6s %6s %6s %6s"
	fmt.Fprintf(out, "%d cores\n\n%8s"+head+head+"\n", r.Cores, "threads", "memory pages/s", "of one", "busy", "CPU us",
		"locks", "sockets pages/s", "of one", "busy", "CPU us", "locks")
	for i, m := range r.Memory {
		fmt.Fprintf(out, "%8d", m.Threads)
		m.print(out, &r.Memory[0])
		r.Sockets[i].print(out, &r.Sockets[0])
		if m.Threads > r.Cores {
			fmt.Fprint(out, "  more than cores")
		}
		fmt.Fprintln(out)
	}
	printSerial(out, "loops with one goroutine", r.Owned)
	printSerial(out, "work under locks of the whole crawl", r.Locked)
	printWaits(out, r.Memory, r.Sockets)
	if r.Model.Crawls == 0 {
		fmt.Fprint(out, "\nother processes took the cores, so contention is not known: measure again on an idle machine\n")
	}
	fmt.Fprintf(out, "\nmodel: contention %.4f, coherence %.6f, %.0f CPU us a page\n", r.Model.Contention,
		r.Model.Coherence, r.Model.Page)
	for _, p := range r.Expect {
		fmt.Fprintf(out, "%3d cores %10.0f pages/s", p.Cores, p.PagesPerSecond)
		if p.Bound != "" {
			fmt.Fprintf(out, "  bounded by %s", p.Bound)
		}
		fmt.Fprintln(out)
	}
}

// print writes what the table of a web has of a crawl.
func (r *CoresRun) print(out io.Writer, one *CoresRun) {
	fmt.Fprintf(out, " %15.0f %6.2f %6.2f %6.1f %5.1f%%", r.PagesPerSecond, r.PagesPerSecond/one.PagesPerSecond, r.busy(),
		r.CPUPerPage, 100*r.Locks)
}

// printSerial writes a table of serial work.
func printSerial(out io.Writer, what string, all []Serial) {
	fmt.Fprintf(out, "\n%s: CPU us a page of one thread, from memory and over sockets, and the\n"+
		"cores that keep each busy, at %d pages/s\n", what, pagesOfCore)
	for _, l := range all {
		fmt.Fprintf(out, "%-14s %8.2f %8.2f %8.0f\n", l.Name, l.Memory, l.Sockets, l.Cores)
	}
}

// waitsPrinted is how many locks the table of waits has for each crawl.
const waitsPrinted = 4

// printWaits writes the longest waits for locks of each crawl.
func printWaits(out io.Writer, memory, sockets []CoresRun) {
	fmt.Fprintf(out, "\nwaits for locks, us a page, by threads; of more threads than cores, most are for a core\n")
	for _, web := range []struct {
		name string
		runs []CoresRun
	}{{"memory", memory}, {"sockets", sockets}} {
		for _, r := range web.runs {
			fmt.Fprintf(out, "%8d %-8s", r.Threads, web.name)
			for _, w := range r.Waits[:min(waitsPrinted, len(r.Waits))] {
				fmt.Fprintf(out, " %.2f %s;", w.CPU, w.Name)
			}
			fmt.Fprintln(out)
		}
	}
}
