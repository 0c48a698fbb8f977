package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/plot/plotter"
)

// sweep is what `orbweaver-bench fetchers --out FILE` writes, as far as it is drawn.
type sweep struct {
	Think float64 `json:"think_seconds"`
	Rungs []rung  `json:"rungs"`
}

type rung struct {
	Fetchers       float64 `json:"fetchers"`
	IPDelay        float64 `json:"ip_delay_seconds"`
	Hosts          float64 `json:"hosts"`
	IPs            float64 `json:"ips"`
	PagesPerSecond float64 `json:"pages_per_second"`
	CPUPerPage     float64 `json:"cpu_us_per_page"`
	Samples        []struct {
		Seconds     float64 `json:"seconds"`
		Front       float64 `json:"front"`
		FrontWanted float64 `json:"front_wanted"`
	} `json:"samples"`
}

// latest is the name of the newest file of results: names begin with a date.
func latest(results fs.FS, pattern string) (string, error) {
	names, err := fs.Glob(results, pattern)
	if err != nil {
		return "", err
	}
	if len(names) == 0 {
		return "", fmt.Errorf("%s: %w", pattern, fs.ErrNotExist)
	}
	return slices.Max(names), nil
}

// readSweep reads the newest sweep of that name.
func readSweep(results fs.FS, pattern string) (*sweep, error) {
	var s sweep
	name, err := readJSON(results, pattern, &s)
	if err == nil && len(s.Rungs) == 0 {
		err = fmt.Errorf("%s: no crawl in it", name)
	}
	return &s, err
}

// readJSON reads the newest file of that name.
func readJSON(results fs.FS, pattern string, into any) (name string, err error) {
	if name, err = latest(results, pattern); err != nil {
		return "", err
	}
	b, err := fs.ReadFile(results, name)
	if err != nil {
		return "", err
	}
	if err := json.Unmarshal(b, into); err != nil {
		return "", fmt.Errorf("%s: %w", name, err)
	}
	return name, nil
}

// shares is what `orbweaver ring balance --json` prints, as far as it is drawn.
type shares struct {
	Runs []struct {
		Agents float64 `json:"agents"`
		Mean   float64 `json:"mean_deviation"`
		Worst  float64 `json:"worst_deviation"`
	} `json:"runs"`
}

// fleets is what `orbweaver-bench agents --out` writes, as far as it is drawn.
type fleets struct {
	Runs []struct {
		Agents   float64 `json:"agents"`
		Fetchers float64 `json:"fetchers"`
		CPU      float64 `json:"cpu_us_per_page"`
	} `json:"runs"`
}

// threads is what `orbweaver-bench cores --out` writes, as far as it is drawn.
type threads struct {
	Cores       float64 `json:"cores"`
	Memory      []crawl `json:"memory"`
	Sockets     []crawl `json:"sockets"`
	Predictions []struct {
		Cores          float64 `json:"cores"`
		PagesPerSecond float64 `json:"pages_per_second"`
	} `json:"predictions"`
}

type crawl struct {
	Threads        float64 `json:"threads"`
	PagesPerSecond float64 `json:"pages_per_second"`
}

// lines gives every line of a file.
func lines(results fs.FS, name string, each func(line string)) error {
	f, err := results.Open(name)
	if err != nil {
		return err
	}
	in := bufio.NewScanner(f)
	for in.Scan() {
		each(in.Text())
	}
	if err := in.Err(); err != nil {
		_ = f.Close() // it was only read
		return fmt.Errorf("%s: %w", name, err)
	}
	return f.Close()
}

// soakLine is what a soak says now and then: "  60 s  252226 pages  759 MiB ...".
func soakLine() *regexp.Regexp {
	return regexp.MustCompile(`^ *([0-9]+) s  ([0-9]+) pages  ([0-9]+) MiB `)
}

// readSoak gives the pages a second of each stretch of the first soak in a file, at the minutes at which it ended.
func readSoak(results fs.FS, name string) (rate plotter.XYs, err error) {
	before, said := plotter.XY{}, soakLine()
	err = lines(results, name, func(line string) {
		m := said.FindStringSubmatch(line)
		if m == nil {
			return
		}
		at, pages := number(m[1]), number(m[2])
		if at <= before.X {
			before.X = 1e18 // a second soak: not this one
			return
		}
		rate = append(rate, plotter.XY{X: at / 60, Y: (pages - before.Y) / (at - before.X)})
		before = plotter.XY{X: at, Y: pages}
	})
	return rate, err
}

// readGrowth gives the cost of an item at each size, in ns of CPU, from the first table below a line that begins with
// head: the tables of package bench/components have the size in the first column and the cost in the third.
func readGrowth(results fs.FS, name, head string) (cost plotter.XYs, err error) {
	const before, within, after = 0, 1, 2
	state := before
	err = lines(results, name, func(line string) {
		fields := strings.Fields(line)
		switch {
		case state == before && strings.HasPrefix(line, head):
			state = within
		case state == within && len(fields) == 6 && number(fields[0]) > 0:
			cost = append(cost, plotter.XY{X: number(fields[0]), Y: number(fields[2])})
		case state == within && len(cost) > 0:
			state = after
		}
	})
	if err == nil && len(cost) == 0 {
		err = fmt.Errorf("%s: no table below %q", name, head)
	}
	return cost, err
}

// visitOrder is what TestVisit_deeper of bench/scenario/crawl logs of an order of visits, as far as it is drawn.
type visitOrder struct {
	name         string
	tau, atFifth float64
	curve        plotter.XYs // part of all PageRank against the part of the pages, both in %
}

// readOrders reads the newest log of orders.
func readOrders(results fs.FS) (orders []visitOrder, err error) {
	name, err := latest(results, "*-order.txt")
	if err != nil {
		return nil, err
	}
	said := regexp.MustCompile(`: order (.+): tau ([-0-9.]+), .* at 20 % ([0-9.]+), gain .*; curve \[(.*)\]`)
	err = lines(results, name, func(line string) {
		m := said.FindStringSubmatch(line)
		if m == nil {
			return
		}
		o := visitOrder{name: m[1], tau: number(m[2]), atFifth: number(m[3])}
		for i, part := range strings.Fields(m[4]) {
			o.curve = append(o.curve, plotter.XY{X: float64(i), Y: 100 * number(part)})
		}
		orders = append(orders, o)
	})
	if err == nil && len(orders) == 0 {
		err = fmt.Errorf("%s: no order in it", name)
	}
	return orders, err
}

// number is 0 for what is none.
func number(s string) float64 {
	v, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return 0
	}
	return v
}
