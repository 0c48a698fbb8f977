package main

import (
	"cmp"
	"fmt"
	"io/fs"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot/plotter"
)

// picture is a plot and where it comes from.
type picture struct {
	name  string // of its file, without .svg
	chart func(results fs.FS) (*chart, error)
}

// plots are all pictures.
func plots() []picture {
	return []picture{
		{"fetchers", throughputOfFetchers},
		{"fetchers-cpu", costOfFetchers},
		{"ip-delay", throughputOfDelay},
		{"front", frontOverTime},
		{"front-delay", frontOfDelay},
		{"hours", throughputOverTime},
		{"size", costOfSize},
		{"ring", deviationOfAgents},
		{"agents-cpu", costOfAgents},
		{"cores", throughputOfCores},
		{"order", rankOfOrders},
		{"order-depth", ordersOfDepth},
	}
}

const (
	sweepFiles = "*-fetchers.json"
	delayFiles = "*-delays.json"
	thinks     = "an answer takes 200 ms on average; crawler and simulated web on loopback, on two cores"
)

func throughputOfFetchers(results fs.FS) (*chart, error) {
	return ofFetchers(
		results, "Throughput against fetchers", "pages a second", func(r *rung) float64 { return r.PagesPerSecond },
	)
}

func costOfFetchers(results fs.FS) (*chart, error) {
	return ofFetchers(
		results, "CPU of a page against fetchers", "CPU microseconds a page, crawler alone",
		func(r *rung) float64 { return r.CPUPerPage },
	)
}

// ofFetchers draws one figure of every crawl of the newest sweep over its number of fetchers.
func ofFetchers(results fs.FS, title, label string, figure func(*rung) float64) (*chart, error) {
	s, err := readSweep(results, sweepFiles)
	if err != nil {
		return nil, err
	}
	c := &chart{title: title, note: thinks, x: axis{label: "fetchers", log: true}, y: axis{label: label}}
	line := series{dots: true}
	for i := range s.Rungs {
		r := &s.Rungs[i]
		line.points = append(line.points, plotter.XY{X: r.Fetchers, Y: figure(r)})
		c.marks = append(c.marks, r.Fetchers)
	}
	c.series = []series{line}
	return c, nil
}

// throughputOfDelay has one line more: what the delay allows, if each address is asked again as soon as it may be.
func throughputOfDelay(results fs.FS) (*chart, error) {
	c, err := ofDelay(
		results, "Throughput against IP delay", "pages a second", func(r *rung) float64 { return r.PagesPerSecond },
	)
	if err != nil {
		return nil, err
	}
	s, err := readSweep(results, delayFiles)
	if err != nil {
		return nil, err
	}
	most := series{name: "politeness allows"}
	for _, r := range s.Rungs {
		used := r.IPs * (1 - math.Exp(-r.Hosts/r.IPs)) // hosts fall on addresses by a hash: some have none
		if p := (plotter.XY{X: 1000 * r.IPDelay, Y: used / (r.IPDelay + s.Think)}); r.Fetchers == s.Rungs[0].Fetchers {
			most.points = append(most.points, p)
		}
	}
	c.series = append(c.series, most)
	return c, nil
}

func frontOfDelay(results fs.FS) (*chart, error) {
	return ofDelay(results, "Front against IP delay", "addresses due within a second, at the end", func(r *rung) float64 {
		late := r.Samples[max(len(r.Samples)-5, 0):]
		sum := 0.0
		for _, p := range late {
			sum += p.Front
		}
		return sum / float64(max(len(late), 1))
	})
}

// ofDelay draws one figure of every crawl of the newest sweep over IP delays, a line for each number of fetchers.
func ofDelay(results fs.FS, title, label string, figure func(*rung) float64) (*chart, error) {
	s, err := readSweep(results, delayFiles)
	if err != nil {
		return nil, err
	}
	c := &chart{
		title: title, note: fmt.Sprintf("%s addresses; ", text(s.Rungs[0].IPs)) + thinks,
		x: axis{label: "milliseconds between two requests to an address"}, y: axis{label: label},
	}
	lines := map[float64]int{}
	for i := range s.Rungs {
		r := &s.Rungs[i]
		at, ok := lines[r.Fetchers]
		if !ok {
			at = len(c.series)
			lines[r.Fetchers] = at
			c.series = append(c.series, series{name: text(r.Fetchers) + " fetchers", dots: true})
		}
		c.series[at].points = append(c.series[at].points, plotter.XY{X: 1000 * r.IPDelay, Y: figure(r)})
	}
	return c, nil
}

func frontOverTime(results fs.FS) (*chart, error) {
	s, err := readSweep(results, sweepFiles)
	if err != nil {
		return nil, err
	}
	c := &chart{
		title: "Front over time", note: thinks,
		x: axis{label: "seconds"}, y: axis{label: "addresses due within a second", log: true},
	}
	for i := range s.Rungs {
		line := series{name: text(s.Rungs[i].Fetchers) + " fetchers"}
		for _, p := range s.Rungs[i].Samples {
			line.points = append(line.points, plotter.XY{X: p.Seconds, Y: max(p.Front, 1)})
		}
		c.series = append(c.series, line)
	}
	return c, nil
}

func throughputOverTime(results fs.FS) (*chart, error) {
	name, err := latest(results, "*-soak.txt")
	if err != nil {
		return nil, err
	}
	rate, err := readSoak(results, name)
	if err != nil {
		return nil, err
	}
	return &chart{
		title: "Throughput over the hours",
		note:  "orbweaver-bench soak, mean of each minute; two cores, simulated web and verification included",
		x:     axis{label: "minutes"}, y: axis{label: "pages a second"},
		series: []series{{points: rate}},
	}, nil
}

// growths are the curves of cost against size: of the newest file of each pattern, the table below head.
func growths() []struct{ name, pattern, head string } {
	return []struct{ name, pattern, head string }{
		{"frontier, a page", "*-frontier-quiet.txt", "orbweaver bench frontier --urls 300_000_000"},
		{"seen, a digest", "*-seen.txt", "seen: a page"},
		{"queues, in", "*-virtualize-billion.txt", "virtualize: enqueue"},
		{"sieve, a URL", "*-sieve-billion.txt", "sieve: add and flush"},
	}
}

func costOfSize(results fs.FS) (*chart, error) {
	c := &chart{
		title: "Cost against size", note: "CPU of one item while the room grows, background work included",
		x: axis{label: "items held: URLs, digests", log: true}, y: axis{label: "CPU nanoseconds an item", log: true},
	}
	for _, g := range growths() {
		name, err := latest(results, g.pattern)
		if err != nil {
			return nil, err
		}
		cost, err := readGrowth(results, name, g.head)
		if err != nil {
			return nil, err
		}
		c.series = append(c.series, series{name: g.name, points: cost, dots: true})
	}
	return c, nil
}

// deviationOfAgents is Figure 1 of the paper on UbiCrawler, and the worst agent, of which the paper does not speak.
func deviationOfAgents(results fs.FS) (*chart, error) {
	c := &chart{
		title: "How far agents' shares of the hosts are from even",
		note:  "orbweaver ring balance: 10 million hosts, 5 sets of identifiers, agents of one capacity",
		x:     axis{label: "agents", log: true}, y: axis{label: "per cent of an even share", log: true},
	}
	for _, replicas := range []string{"100", "200", "8000"} {
		var s shares
		if _, err := readJSON(results, "*-ring-"+replicas+".json", &s); err != nil {
			return nil, err
		}
		mean, worst := series{name: replicas + ", mean", dots: true}, series{name: replicas + ", worst", dots: true}
		c.marks = c.marks[:0]
		for _, r := range s.Runs {
			mean.points = append(mean.points, plotter.XY{X: r.Agents, Y: 100 * r.Mean})
			worst.points = append(worst.points, plotter.XY{X: r.Agents, Y: 100 * r.Worst})
			c.marks = append(c.marks, r.Agents)
		}
		c.series = append(c.series, mean, worst)
	}
	return c, nil
}

// costOfAgents is Figure 3 of the paper on UbiCrawler, whose agents had a machine each, as CPU time: work that is done
// in less of it is more work in the same time. A line for each number of fetchers.
func costOfAgents(results fs.FS) (*chart, error) {
	c := &chart{
		title: "CPU of a page against agents",
		note:  "orbweaver-bench agents --grow: each has 50 hosts; all agents and the simulated web on two cores",
		x:     axis{label: "agents", log: true},
		y:     axis{label: "CPU microseconds a page, all agents, without the simulated web"},
	}
	var f fleets
	if _, err := readJSON(results, "*-agents-cpu.json", &f); err != nil {
		return nil, err
	}
	lines := map[float64]int{}
	for _, r := range f.Runs {
		at, ok := lines[r.Fetchers]
		if !ok {
			at = len(c.series)
			lines[r.Fetchers] = at
			c.series = append(c.series, series{name: text(r.Fetchers) + " fetchers", dots: true})
		}
		c.series[at].points = append(c.series[at].points, plotter.XY{X: r.Agents, Y: r.CPU})
		c.marks = append(c.marks, r.Agents)
	}
	slices.Sort(c.marks)
	c.marks = slices.Compact(c.marks)
	return c, nil
}

// throughputOfCores has what was measured, also with more threads than cores, and what the model says.
func throughputOfCores(results fs.FS) (*chart, error) {
	var f threads
	if _, err := readJSON(results, "*-cores.json", &f); err != nil {
		return nil, err
	}
	c := &chart{
		title: "Throughput against cores",
		note:  fmt.Sprintf("orbweaver-bench cores, measured on %s cores: more threads share these", text(f.Cores)),
		x:     axis{label: "threads; cores of the model", log: true}, y: axis{label: "pages a second", log: true},
		isLegendLow: true,
	}
	memory, sockets := series{name: "from memory", dots: true}, series{name: "over sockets", dots: true}
	model := series{name: "model, over sockets"}
	for _, r := range f.Memory {
		memory.points = append(memory.points, plotter.XY{X: r.Threads, Y: r.PagesPerSecond})
		c.marks = append(c.marks, r.Threads)
	}
	for _, r := range f.Sockets {
		sockets.points = append(sockets.points, plotter.XY{X: r.Threads, Y: r.PagesPerSecond})
	}
	for _, p := range f.Predictions {
		model.points = append(model.points, plotter.XY{X: p.Cores, Y: p.PagesPerSecond})
		c.marks = append(c.marks, p.Cores)
	}
	slices.Sort(c.marks)
	c.marks = slices.Compact(c.marks)
	c.series = []series{memory, sockets, model}
	return c, nil
}

const skewed = "skewed simulated web of seed 1, in virtual time"

// rankOfOrders is Figure 2 of the papers on UbiCrawler.
func rankOfOrders(results fs.FS) (*chart, error) {
	orders, err := readOrders(results)
	if err != nil {
		return nil, err
	}
	c := &chart{
		title: "PageRank of the first pages", note: skewed, isLegendLow: true,
		x: axis{label: "per cent of the pages"}, y: axis{label: "per cent of all PageRank"},
	}
	for _, o := range orders {
		switch o.name {
		case "breadth-first", "ranked":
			o.name = "--visit " + o.name
		case "true breadth-first", "depth-first", "random", "omniscient":
		default:
			continue
		}
		c.series = append(c.series, series{name: o.name, points: o.curve})
	}
	return c, nil
}

// ordersOfDepth has the sweep of the depth of visits of a host.
func ordersOfDepth(results fs.FS) (*chart, error) {
	orders, err := readOrders(results)
	if err != nil {
		return nil, err
	}
	tau, rank := series{name: "tau with true breadth-first", dots: true}, series{name: "PageRank at 20 %", dots: true}
	for _, o := range orders {
		if depth, ok := strings.CutPrefix(o.name, "per-host:"); ok {
			tau.points = append(tau.points, plotter.XY{X: number(depth), Y: o.tau})
			rank.points = append(rank.points, plotter.XY{X: number(depth), Y: o.atFifth})
		}
	}
	for _, s := range []series{tau, rank} {
		slices.SortFunc(s.points, func(a, b plotter.XY) int { return cmp.Compare(a.X, b.X) })
	}
	return &chart{
		title: "Order of visits against the depth of a visit", note: "--visit per-host:D on the " + skewed,
		x: axis{label: "D"}, y: axis{label: "tau; part of all PageRank"}, series: []series{tau, rank},
	}, nil
}
