package schedule

import (
	"context"
	"net/netip"
	"runtime"
	"testing"
	"time"

	"orbweaver/engine/frontier/sites"
	"orbweaver/engine/page/filter"
	"orbweaver/engine/state/cluster"
	"orbweaver/engine/state/queued"
	"orbweaver/engine/state/site"
	"orbweaver/engine/state/visit"
	"orbweaver/engine/store/journal"
	"orbweaver/workbench"
)

// A Visit that is given back just before a checkpoint is at its site when the checkpoint marks the workbench. If the
// Returner had it then, its URL would be saved with the site a second time.
func TestReturner_hasNoVisitAtACheckpoint(t *testing.T) {
	now := time.Unix(1e9, 0)
	b := workbench.New[site.State](workbench.Options{})
	item := queued.Append(nil, &queued.URL{Rest: []byte("/a")})
	vs, _ := b.GetOrAdd([]byte("http://a.test"))
	b.Place(vs, netip.AddrFrom4([4]byte{240, 0, 0, 1}), now)
	r := &Returner{
		Cluster: cluster.Alone{},
		Steps:   new(journal.Steps), Workbench: b, Results: visit.NewResultQueue(), Unresolved: sites.NewUnresolvedQueue(),
		WakeFeeder: func() {}, WakeDistributor: func() {}, Shares: visit.NewShares(filter.Domain),
	}
	over := make(chan error)
	go func() { over <- r.ReturnVisits(context.Background()) }() //nolint:forbidigo // it ends when the queue closes
	for round := range 50 {
		b.Push(vs, item)
		visits := b.Acquire(now, nil, 1)
		if len(visits) != 1 {
			t.Fatalf("round %d: nothing is due", round)
		}
		for range 100 {
			runtime.Gosched() // the Returner waits for Results
		}
		r.Steps.Begin()
		r.Results.Put(&visit.Result{Visit: visits[0]})
		marked := make(chan int)
		go func() { // asks for the lock before the Returner does
			r.Steps.Stop()
			defer r.Steps.Allow()
			r.Drain(1 << 30)
			marked <- b.Counts().Leased
		}()
		for range 100 {
			runtime.Gosched() // the Returner is awake, and waits for its step
		}
		r.Steps.End()
		if n := <-marked; n != 0 {
			t.Fatalf("round %d: %d Visits are out at the checkpoint", round, n)
		}
	}
	r.Results.Close()
	if err := <-over; err != nil {
		t.Error(err)
	}
}
