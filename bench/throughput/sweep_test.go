package throughput

import (
	"strings"
	"testing"
	"time"
)

// The first third of a crawl, in which the front grows, does not count.
func TestSweepCrawlCountsLastTwoThirds(t *testing.T) {
	var samples []Sample
	for i := range 9 {
		s := Sample{Seconds: float64(i), Goroutines: 100, Stacks: 800, RSS: int64(10 * i), Descriptors: i, Front: 6,
			Fetching: 3, Waiting: "servers"}
		if i > 3 {
			s.Pages, s.Exchanges, s.CPU = int64(100*(i-3)), int64(125*(i-3)), 0.01*float64(i-3)
		}
		samples = append(samples, s)
	}
	r := newSweepCrawl(Setting{Fetchers: 64, Hosts: 0, IPs: 5, IPDelay: time.Second}, samples)
	if r.Pages != 500 || r.PagesPerSecond != 100 || r.CPUPerPage != 100 || r.CPUPerExchange != 80 ||
		r.StacksPerGoroutine != 8 ||
		r.RSSPeak != 80 || r.Descriptors != 8 || r.Front != 6 || r.Fetching != 3 || r.Limit != "servers" || r.IPDelay != 1 {
		t.Errorf("%+v", r)
	}
	if r.RobotsShare < 0.199 || r.RobotsShare > 0.201 {
		t.Errorf("%v of the exchanges brought no page", r.RobotsShare)
	}
	result := &SweepResult{Think: 0.2, Crawls: []*SweepCrawl{r}}
	var out strings.Builder
	result.Print(&out)
	if result.Sound() || !strings.Contains(out.String(), "UNSOUND") {
		t.Errorf("an unsound crawl is not reported:\n%s", out.String())
	}
	all := Setting{Hosts: 125}
	if at := warm(all, samples); at != 7 { // the last fifth: there are more sites than robots.txt
		t.Errorf("sample %d is taken for warm", at)
	}
	if at := warm(Setting{Hosts: 50}, samples); at != 5 {
		t.Errorf("sample %d is taken for warm, 50 robots.txt come with the sixth", at)
	}
	if short := newSweepCrawl(Setting{}, samples[:2]); short.PagesPerSecond != 0 {
		t.Errorf("a crawl of two samples: %+v", short)
	}
}
