package summary

import (
	"strings"
	"testing"
	"time"

	"orbweaver/engine/operate/report"
	"orbweaver/engine/state/cluster"
	"orbweaver/internal/cli/console"
)

// reported is a crawl with one report.
type reported report.Report

func (r reported) Report() report.Report { return report.Report(r) }

// The line of progress says how many agents there are, when there are several.
func TestProgressBesideOthers(t *testing.T) {
	r := report.Report{Waiting: "nothing"}
	r.PagesStored = 10
	for _, c := range []struct {
		peers *cluster.StatusReport
		words string
	}{
		{nil, "0 fetching | nothing\n"},
		{
			&cluster.StatusReport{Agents: []cluster.AgentReport{{ID: "a1", State: cluster.AgentAlive}}},
			"0 fetching | nothing\n",
		},
		{&cluster.StatusReport{Overhead: 0.44, URLsWaiting: 7, Agents: []cluster.AgentReport{
			{ID: "a1", State: cluster.AgentAlive}, {ID: "a2", State: cluster.AgentSuspected},
			{ID: "a3", State: cluster.AgentAlive}, {ID: "a4", State: cluster.AgentDead}}},
			"0 fetching  3 agents, 0.4 links/page sent, 7 waiting | nothing\n"},
	} {
		r.Cluster = c.peers
		var out strings.Builder
		p := &Progress{out: console.New(&out), crawl: reported(r), lastAt: time.Now().Add(-time.Second)}
		if p.print(); !strings.HasSuffix(out.String(), c.words) {
			t.Errorf("%q, want %q", out.String(), c.words)
		}
	}
}

// The rate is that of the bytes that have come, also while no response is complete.
func TestProgressCountsBytesAsTheyCome(t *testing.T) {
	r, now := report.Report{ActiveFetches: 1, BytesArrived: 30 << 20, BytesUnderWay: 30 << 20}, time.Now()
	p := &Progress{last: report.Report{BytesArrived: 10 << 20}, lastAt: now.Add(-10 * time.Second)}
	if line := p.status(&r, now).Fit(200); !strings.Contains(line, "0 pages/s  2 MiB/s") {
		t.Error(line)
	}
	var out strings.Builder
	const under = "0 B received and 30 MiB of responses under way,"
	if WriteReport(&out, "crawl", r); !strings.Contains(out.String(), under) {
		t.Error(out.String())
	}
}

type still struct{ pages int64 }

func (s still) Report() report.Report {
	r := report.Report{HostsKnown: 3, URLsQueued: 7, WallSeconds: 61, Waiting: "politeness"}
	r.PagesStored = s.pages
	return r
}

func TestProgressLines(t *testing.T) {
	out := new(strings.Builder)
	p := StartProgress(t.Context(), console.New(out), "auto", still{})
	p.crawl, p.lastAt = still{pages: 20}, time.Now().Add(-10*time.Second)
	p.print()
	p.Close()
	if want := "1m1s  20 pages  2 pages/s  0 B/s  3 hosts  7 queued  0 fetching | politeness\n"; out.String() != want {
		t.Errorf("got %q, want %q", out.String(), want)
	}
	p = StartProgress(t.Context(), console.New(out), "none", still{})
	p.Close()
}
