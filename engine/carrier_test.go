package engine

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/engine/cluster/ownership"
)

// circleOfSome is the circle of n agents, of which the first is this one.
func circleOfSome(t testing.TB, n int) *ownership.View {
	t.Helper()
	var all []ownership.Agent
	for i := range n {
		all = append(all, ownership.Agent{ID: fmt.Sprintf("a%02d", i), Capacity: 1 + i%3})
	}
	c, err := ownership.NewView(all, nil, 0, "a00")
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// Whenever a letter begins to wait for company, it leaves when the others of its agent do: a whole number of periods
// after the beginning. The period grows with the number of agents, up to two seconds.
func TestLettersLeaveAtTheSameMoments(t *testing.T) {
	for n, period := range map[int]time.Duration{
		1: 250 * time.Millisecond, 2: 250 * time.Millisecond, 4: 750 * time.Millisecond, 8: 1750 * time.Millisecond, 9: 2 * time.Second, 40: 2 * time.Second,
	} {
		synctest.Test(t, func(t *testing.T) {
			p, rng := &peers{epoch: time.Now()}, rand.New(rand.NewPCG(1, uint64(n)))
			p.circle.Store(circleOfSome(t, n))
			for range 100 {
				wait := p.linger()
				if wait <= 0 || wait > period {
					t.Fatalf("%d agents: a letter waits for %v", n, wait)
				}
				time.Sleep(wait)
				if past := time.Since(p.epoch) % period; past != 0 {
					t.Fatalf("%d agents: a letter leaves %v after the moment", n, past)
				}
				time.Sleep(time.Duration(rng.Int64N(int64(2 * period))))
			}
		})
	}
}

// The door says of each link whose it is, whatever the one before was, also when the agents have changed since the last
// page.
func TestTheDoorKnowsWhoseLinksAre(t *testing.T) {
	f, d := &Frontier{views: new(ownership.Current)}, new(door)
	rng := rand.New(rand.NewPCG(2, 2))
	for _, n := range []int{1, 3, 8} {
		c := circleOfSome(t, n)
		f.views.Store(c)
		f.begin(d)
		owners := map[int]bool{}
		for range 1000 {
			host := rng.IntN(30)
			url := fmt.Appendf(nil, "http://h%d.example:8080/%d", host, rng.IntN(1000))
			want := c.OwnerOf(url)
			if got := d.ownerOf(url); got != want {
				t.Fatalf("%d agents: %s is %d's, the door says %d's", n, url, want, got)
			}
			owners[want] = true
		}
		if len(owners) != n {
			t.Errorf("%d agents: the hosts are those of %d", n, len(owners))
		}
	}
}

// What it takes to say whose a link is, with eight agents: as pages have them, sixteen of twenty to one host, and none
// to the host of the one before.
func BenchmarkWhoseLinks(b *testing.B) {
	for _, same := range []int{5, 1} {
		b.Run(fmt.Sprintf("%d to a host", same), func(b *testing.B) {
			var links [][]byte
			for i := range 200_000 {
				host := i / same * 7919 % 50_000
				if i%same == same-1 {
					host = i * 104729 % 50_000
				}
				links = append(links, fmt.Appendf(nil, "https://www.site%d.example/archive/2004/section-%d/page.html",
					host, i))
			}
			d := &door{view: circleOfSome(b, 8), isShared: true}
			for i := 0; b.Loop(); i++ {
				d.ownerOf(links[i%len(links)])
			}
		})
	}
}
