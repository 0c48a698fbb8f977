package testbed

import (
	"cmp"
	"slices"
	"testing"
	"time"

	"orbweaver/internal/simweb"
)

// drawnWorlds is how many webs DrawWorld looks at.
const drawnWorlds = 100

// DrawWorld returns the first web that contains what a test needs. All that it looks at follow from the seed of c.
func DrawWorld(t testing.TB, c simweb.Config, contains func(*simweb.Model) bool) simweb.Config {
	t.Helper()
	seed := c.Seed
	for i := range uint64(drawnWorlds) {
		c.Seed = seed + i<<32
		m, err := simweb.NewModel(c)
		if err != nil {
			t.Fatal(err)
		}
		if contains(m) {
			return c
		}
	}
	t.Fatalf("none of %d webs that follow from seed %d contains what the test needs", drawnWorlds, seed)
	return c
}

// HostsBySize are the hosts of a web, those with the most pages first.
func HostsBySize(m *simweb.Model) (hosts []simweb.Host) {
	for i := range m.Hosts() {
		hosts = append(hosts, m.HostAt(i))
	}
	slices.SortStableFunc(hosts, func(a, b simweb.Host) int { return cmp.Compare(b.Pages, a.Pages) })
	return hosts
}

// ManyHosts is a web with more hosts than the smallest workbench holds. Each host has few pages, all with links to
// other hosts, so that hosts get links again after they were idle.
func ManyHosts(seed uint64, c simweb.Config) simweb.Config {
	c = SmallWorld(seed, c)
	c.Hosts, c.IPs, c.PagesPerHostMean, c.PagesPerHostMax, c.PageBytesMean = 150, 50, Reduce(8, 4), Reduce(24, 12), 800
	c.PageFanout, c.HostFanout, c.LinksMean = 1, 3, 4
	c.Robots.CrawlDelay, c.Timing.CrawlDelay = 0.2, time.Second
	return c
}

// SmallWorld makes a web small.
func SmallWorld(seed uint64, c simweb.Config) simweb.Config {
	c.Seed, c.Hosts, c.IPs, c.PagesPerHostMean, c.PagesPerHostMax, c.PageBytesMean = seed, 24, 7, 8, 30, 2000
	return c
}

// CopiesWorld is a small web with many equal pages.
func CopiesWorld(seed uint64) simweb.Config {
	c := SmallWorld(seed, simweb.Faulty())
	c.PagesPerHostMean, c.PagesPerHostMax, c.CopyShare = Reduce(20, 10), Reduce(60, 30), 0.6
	return c
}

// SkewedWorld is a web of unequal ranks with spam farms: some 30,000 pages, or 1,700.
func SkewedWorld(seed uint64) simweb.Config {
	hosts := Reduce(2000, 500)
	c := simweb.Skewed(hosts)
	c.Farm.Hosts, c.Farm.Pages = Reduce(c.Farm.Hosts, 20), Reduce(c.Farm.Pages, 25)
	c.Hosts = hosts + c.Farm.Farms*c.Farm.Hosts
	c.Seed, c.PageBytesMean, c.Latency = seed, 1000, 200*time.Millisecond
	return c
}
