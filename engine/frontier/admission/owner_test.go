package admission

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"orbweaver/engine/peering/ownership"
)

// viewOf is the ownership view of n agents. The first is this one.
func viewOf(t testing.TB, n int) *ownership.View {
	t.Helper()
	var all []ownership.Agent
	for i := range n {
		all = append(all, ownership.Agent{ID: fmt.Sprintf("a%02d", i), Capacity: 1 + i%3})
	}
	v, err := ownership.NewView(ownership.Consistent, all, nil, 0, "a00")
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// Each link gets its own owner, whatever the link before was, also when the agents have changed since the last page.
func TestFrontier_ownerOfEachLink(t *testing.T) {
	f, d := &Frontier{Views: new(ownership.Current)}, new(Scratch)
	rng := rand.New(rand.NewPCG(2, 2))
	for _, n := range []int{1, 3, 8} {
		c := viewOf(t, n)
		f.Views.Store(c)
		f.begin(d)
		owners := map[int]bool{}
		for range 1000 {
			host := rng.IntN(30)
			url := fmt.Appendf(nil, "http://h%d.example:8080/%d", host, rng.IntN(1000))
			want := c.OwnerOf(url)
			if got := d.ownerOf(url); got != want {
				t.Fatalf("%d agents: owner of %s is %d, and not %d", n, url, want, got)
			}
			owners[want] = true
		}
		if len(owners) != n {
			t.Errorf("%d agents: the hosts have %d owners", n, len(owners))
		}
	}
}

// The owner of a link with eight agents: as pages have them, sixteen of twenty to one host, and each to another host
// than the link before.
func BenchmarkOwnerOf(b *testing.B) {
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
			d := &Scratch{view: viewOf(b, 8), isShared: true}
			for i := 0; b.Loop(); i++ {
				d.ownerOf(links[i%len(links)])
			}
		})
	}
}
