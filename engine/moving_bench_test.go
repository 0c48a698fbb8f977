package engine

import (
	"fmt"
	"log/slog"
	"testing"
	"time"

	"orbweaver/engine/cluster/outbox"
	"orbweaver/engine/cluster/ownership"
	"orbweaver/engine/outcome"
	"orbweaver/internal/vfs"
	"orbweaver/workbench"
)

// movingRig is a frontier, as purgeRig makes it, of an agent that was alone until another one came just now.
func movingRig(tb testing.TB, hostCount, urls int) *distributor {
	tb.Helper()
	d := purgeRig(tb, hostCount, 0, urls)
	box, err := outbox.Open(vfs.Disk(), outbox.Options{Dir: tb.TempDir()}, nil, nil)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := box.Close(); err != nil {
			tb.Error(err)
		}
	})
	one, two := ownership.Agent{ID: "one", Capacity: 1}, ownership.Agent{ID: "two", Capacity: 1}
	p := &peers{box: box, ledger: d.ledger, hosts: d.hosts, say: slog.New(slog.DiscardHandler)}
	p.moving = &moving{dist: d, peers: p}
	d.cluster = clusterRoles{p}
	for _, all := range [][]ownership.Agent{{one}, {one, two}} {
		c, err := ownership.NewView(all, all, 0, "one")
		if err == nil {
			err = p.turn(c)
		}
		if err != nil {
			tb.Fatal(err)
		}
	}
	return d
}

// runMoving gives away what is the other's, and says how long it takes and how long the longest hold of the cut's lock
// was.
func runMoving(tb testing.TB, d *distributor) (took, longest time.Duration) {
	tb.Helper()
	began := time.Now()
	for more := true; more; {
		step := time.Now()
		var err error
		if more, err = d.cluster.GiveSites(step); err != nil {
			tb.Fatal(err)
		}
		longest = max(longest, time.Since(step))
	}
	return time.Since(began), longest
}

// What the other agent is responsible for goes there whole and in order, those that are visited when they are back, and
// nothing else.
func TestMoving_whatIsAnothersGoesAndNothingElse(t *testing.T) {
	const hosts, urls = 3000, 9
	d := movingRig(t, hosts, urls)
	now := time.Now()
	visits := d.bench.Acquire(now, nil, hosts/2)
	runMoving(t, d)
	for i := range visits {
		d.bench.Release(&visits[i], workbench.Release{Unused: visits[i].Items}, now)
	}
	for again := now.Add(time.Minute); len(d.cluster.(clusterRoles).moving.late) > 0 ||
		d.cluster.(clusterRoles).moving.busy; again = again.Add(movingLate) {
		if _, err := d.cluster.(clusterRoles).moving.step(again); err != nil {
			t.Fatal(err)
		}
	}
	left := int64(d.bench.Counts().Queued) + int64(d.virt.Total())
	gone := d.ledger.Count.Outcomes[outcome.HandedOver].Load()
	if gone+left != hosts*urls || gone < hosts*urls/3 || left < hosts*urls/3 || d.ledger.Count.Finished.Load() != gone {
		t.Errorf("%d URLs have gone, %d are left", gone, left)
	}
	line := ownership.Agent{ID: "two", Capacity: 1}.Instance()
	next := map[string]int{}
	for {
		batch, err := d.cluster.(clusterRoles).box.TakeBatch(line)
		if err != nil {
			t.Fatal(err)
		}
		if batch == nil {
			break
		}
		for _, item := range itemsOf(t, batch.Bytes) {
			m, err := readSiteMove(item)
			if err != nil {
				t.Fatal(err)
			}
			for it, err := range m.urls() {
				if err != nil {
					t.Fatal(err)
				}
				k := next[string(m.key)]
				if want := fmt.Sprintf("%s/archive/section-%d/page-%d.html", m.key, k%7, k); string(it.Rest) != want ||
					d.cluster.Owns(m.key) {
					t.Fatalf("%s, want %s", it.Rest, want)
				}
				next[string(m.key)]++
			}
		}
		d.cluster.(clusterRoles).box.Acknowledge(batch)
	}
	if int64(len(next)*urls) != gone {
		t.Errorf("URLs of %d hosts have arrived, %d were sent", len(next), gone)
	}
	if err := d.bench.Check(); err != nil {
		t.Error(err)
	}
}

// A second agent comes when 10^7 URLs are queued: of one host, and of a million.
func BenchmarkMoving(b *testing.B) {
	for _, c := range []struct{ hosts, urls int }{{4, 2_500_000}, {1_000_000, 10}} {
		b.Run(fmt.Sprintf("hosts=%d/urls=%d", c.hosts, c.hosts*c.urls), func(b *testing.B) {
			var took, longest time.Duration
			var gone int64
			for range b.N {
				b.StopTimer()
				d := movingRig(b, c.hosts, c.urls)
				b.StartTimer()
				t, l := runMoving(b, d)
				took, longest = max(took, t), max(longest, l)
				gone = d.ledger.Count.Outcomes[outcome.HandedOver].Load()
			}
			b.ReportMetric(float64(took.Milliseconds()), "ms/move")
			b.ReportMetric(float64(longest.Microseconds())/1000, "ms/step-max")
			b.ReportMetric(float64(gone), "URLs")
		})
	}
}
