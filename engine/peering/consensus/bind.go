package consensus

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"

	"github.com/hashicorp/raft"
)

// binder binds this node to one log: it begins it, or joins it.
type binder struct {
	id    string
	calls *calls
	store *store
	log   *slog.Logger
	raft  *raft.Raft    // from Start on
	wake  func()        // the loop that asks for leases
	lock  chan struct{} // capacity 1: held while something is promised; the disk may be full meanwhile, so it is no mutex

	mu       sync.Mutex
	founding string // guarded by mu: the log that this node would begin; empty if it would not
}

// seek looks for the log of the crawl, and asks to join it; or begins it. pledge is the log that this node has promised
// to join.
func (b *binder) seek(ctx context.Context, wish Wish, pledge string) {
	answers := b.calls.callAll(ctx, wish.Present)
	for _, a := range answers {
		if a.Cluster != "" && (pledge == "" || pledge == a.Cluster) && a.Leader != "" {
			// Whatever comes of it is seen later: the leader calls, or it is asked again.
			_, _ = b.calls.call(ctx, lineOf(a.Leader), &question{Kind: kindLease, To: a.Leader}, askTime)
			return
		}
	}
	if pledge != "" {
		b.release(answers, pledge)
		return
	}
	for _, line := range wish.Found {
		if a := answers[line]; line != b.calls.self && (a == nil || a.Cluster != "") {
			return
		}
	}
	if len(wish.Found) > 0 && slices.Min(wish.Found) == b.calls.self {
		b.found(ctx, wish.Found)
	}
}

// release takes back a pledge whose founder has withdrawn. The founder was asked after the pledge was given.
func (b *binder) release(answers map[string]*answer, pledge string) {
	founder, _, _ := strings.Cut(pledge, "@")
	a := answers[lineOf(founder)]
	if a == nil || a.ID == founder && (a.Cluster == pledge || a.Founding == pledge) {
		return
	}
	b.store.change(func(st *state) {
		if st.Pledge == pledge {
			st.Pledge = ""
		}
	})
}

// found begins the log, if all of some agents pledge to join it.
func (b *binder) found(ctx context.Context, lines []string) {
	name := fmt.Sprintf("%s@%016x", b.id, rand.Uint64())
	if !b.beginFounding(name) {
		return
	}
	defer b.setFounding("")
	for _, line := range lines {
		if line == b.calls.self {
			continue
		}
		a, err := b.calls.call(ctx, line, &question{Kind: kindPledge, Found: name}, rpcTime)
		if err != nil || !a.Granted {
			return
		}
	}
	b.store.change(func(st *state) { st.Pledge = name })
	self := raft.Server{ID: raft.ServerID(b.id), Address: raft.ServerAddress(b.id)}
	err := b.raft.BootstrapCluster(raft.Configuration{Servers: []raft.Server{self}}).Error()
	if err != nil {
		b.log.Warn("the log of the agents could not be begun", "error", err)
		return
	}
	b.store.change(func(st *state) { st.Cluster, st.Pledge = name, "" })
}

// resume ends what was interrupted by the end of the process.
func (b *binder) resume() {
	if _, cluster, pledge := b.store.names(); cluster != "" || !strings.HasPrefix(pledge, b.id+"@") {
		return
	}
	b.store.change(func(st *state) {
		if len(st.Logs) > 0 {
			st.Cluster = st.Pledge
		}
		st.Pledge = ""
	})
}

// beginFounding says that this node may begin a log, and binds it to that.
func (b *binder) beginFounding(name string) bool {
	b.lock <- struct{}{}
	defer func() { <-b.lock }()
	if _, cluster, pledge := b.store.names(); cluster != "" || pledge != "" {
		return false
	}
	b.setFounding(name)
	return true
}

func (b *binder) setFounding(name string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.founding = name
}

// foundingNow is the log that this node would begin.
func (b *binder) foundingNow() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.founding
}

// pledge promises to join a log, and no other. A later log of the same founder takes the place of an earlier one.
func (b *binder) pledge(name string) bool {
	founder, _, ok := strings.Cut(name, "@")
	b.lock <- struct{}{}
	defer func() { <-b.lock }()
	_, cluster, pledge := b.store.names()
	if !ok || cluster != "" || b.foundingNow() != "" || pledge != "" && !strings.HasPrefix(pledge, founder+"@") {
		return false
	}
	b.store.change(func(st *state) { st.Pledge = name })
	return !b.store.silent()
}

// bind says whether calls for a log concern this node. The first such call binds a node that has none.
func (b *binder) bind(name string) bool {
	b.lock <- struct{}{}
	defer func() { <-b.lock }()
	_, cluster, pledge := b.store.names()
	if cluster != "" || name == "" {
		return name != "" && cluster == name
	}
	if b.foundingNow() != "" || pledge != "" && pledge != name {
		return false
	}
	b.store.change(func(st *state) { st.Cluster, st.Pledge = name, "" })
	b.wake()
	return !b.store.silent()
}
