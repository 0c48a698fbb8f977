package agent

import (
	"fmt"
	"testing"

	"orbweaver/engine/frontier/admission"
	"orbweaver/engine/page/filter"
	"orbweaver/engine/peering/outbox"
	"orbweaver/engine/peering/ownership"
	"orbweaver/engine/state/counters"
	"orbweaver/engine/state/queued"
	"orbweaver/engine/state/settings"
	"orbweaver/internal/urlx"
	"orbweaver/internal/vfs"
	"orbweaver/sieve"
	"orbweaver/sieve/fpcache"
)

// A fetch worker finds that another agent owns a host. Before it hands the URLs over that agent may be lost, and this
// agent own the host again. Then the URLs pass admission here, also if they had passed it before.
func TestRouter_URLsOfALostOwnerPassAdmission(t *testing.T) {
	fsys := vfs.NewMem(1)
	s, err := sieve.Open(fsys, sieve.Options{Dir: "sieve", BucketBytes: 1 << 16}, nil)
	if err != nil {
		t.Fatal(err)
	}
	box, err := outbox.Open(fsys, outbox.Options{Dir: "outbox"}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	scope, err := filter.CompileScope("all", new(filter.Seeds))
	if err != nil {
		t.Fatal(err)
	}
	f := &admission.Frontier{
		Rules: admission.Rules{Scope: scope, MaxDepth: -1, MaxURL: urlx.LengthMax}, Cache: fpcache.New(1<<16, 1), Sieve: s,
		Counters: new(counters.Live), HostRules: new(settings.HostRules),
	}
	p := &agent{views: ownership.NewTimeline(0)}
	p.router = router{views: p.views, outbox: box, frontier: f}
	f.Router, f.Views = p, &p.views.Current
	here, there := ownership.Agent{ID: "a1", Capacity: 1, Store: 1}, ownership.Agent{ID: "a2", Capacity: 1, Store: 2}
	both, err := ownership.NewView([]ownership.Agent{here, there}, []ownership.Agent{here, there}, 1, "a1")
	if err != nil {
		t.Fatal(err)
	}
	alone, err := ownership.NewView([]ownership.Agent{here}, []ownership.Agent{here, there}, 2, "a1")
	if err != nil {
		t.Fatal(err)
	}
	theirs := []byte(nil)
	for i := 0; theirs == nil; i++ {
		if url := fmt.Appendf(nil, "http://h%d.test/", i); !both.Owns(url) {
			theirs = url
		}
	}
	f.Cache.Put(urlx.Fingerprint(f.HashSeed, theirs)) // it was here once
	p.views.Store(alone)
	p.router.route(nil, &queued.URL{Rest: theirs})
	if s.Pending() != 1 || f.Counters.Sieved.Load() != 1 || f.Counters.Sent.Load() != 0 {
		t.Errorf("%d pending, %d went to the sieve, %d to others",
			s.Pending(), f.Counters.Sieved.Load(), f.Counters.Sent.Load())
	}
}
