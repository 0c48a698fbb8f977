package explain

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/zeebo/xxh3"

	"orbweaver/engine/durable/inspect"
	"orbweaver/engine/frontier/order"
	"orbweaver/engine/frontier/sites"
	"orbweaver/engine/net/politeness"
	"orbweaver/engine/net/underway"
	"orbweaver/engine/operate/hosts"
	"orbweaver/engine/peering/ownership"
	"orbweaver/engine/state/layout"
	"orbweaver/engine/state/queued"
	"orbweaver/engine/state/settings"
	"orbweaver/engine/state/site"
	"orbweaver/engine/state/visit"
	"orbweaver/engine/traps"
	"orbweaver/internal/closers"
	"orbweaver/internal/urlx"
	"orbweaver/internal/vfs"
	"orbweaver/sieve"
	"orbweaver/virtualize"
	"orbweaver/virtualize/diskq"
	"orbweaver/warc/lookup"
	"orbweaver/workbench/cold"
)

// eachSkipped reads the list of skipped URLs of the last checkpoint.
func eachSkipped(fsys vfs.FS, dir string, f func(traps.SkippedURL) error) error {
	if err := inspect.EachSkipped(fsys, dir, f); err != nil {
		return fmt.Errorf("explain: skipped URLs: %w", err)
	}
	return nil
}

// Stopped is the Source of a crawl that does not run, for some URLs.
type Stopped struct {
	source Source
	urls   [][]byte // that were named to OpenStopped, in normal form
	opened closers.List
}

// Collect returns what the crawl knows about one of the URLs that were named to OpenStopped: see Source.Collect.
func (s *Stopped) Collect(ctx context.Context, raw string, limits Limits) (*Evidence, error) {
	url, err := normalize(raw)
	if err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(s.urls, func(u []byte) bool { return bytes.Equal(u, url) }) {
		return nil, fmt.Errorf("explain: the crawl was not opened for %.200q", url)
	}
	return s.source.Collect(ctx, raw, limits)
}

// Close closes what OpenStopped opened.
func (s *Stopped) Close() error { return s.opened.Close() }

// fewURLs is up to how many URLs only what they need is loaded.
const fewURLs = 16

// loadSites loads the sites of the URLs from a checkpoint, and returns the keys of the queues on disk that may have the
// URLs.
func (s *Stopped) loadSites(
	c *inspect.Checkpoint, rules *site.RulesPool, policy order.Policy,
) (*visit.Workbench, []uint64, error) {
	var keys [][]byte
	for _, url := range s.urls {
		key, _ := urlx.Split(url)
		keys = append(keys, key)
	}
	bench, err := c.LoadSites(keys, rules)
	if err != nil || len(s.urls) > fewURLs {
		return bench, nil, err
	}
	queues := []uint64{}
	for _, url := range s.urls {
		for _, queue := range queuesFor(policy, url) {
			queues = append(queues, sites.OrderKey(queue))
		}
	}
	for _, key := range keys {
		if vs := bench.Get(key); vs != nil {
			of := sites.QueueKeys(vs.ID())
			queues = append(queues, of[:]...)
		}
	}
	return bench, queues, nil
}

// fingerprints are those of the URLs.
func (s *Stopped) fingerprints(seed uint64) []xxh3.Uint128 {
	if len(s.urls) > fewURLs {
		return nil
	}
	all := []xxh3.Uint128{}
	for _, url := range s.urls {
		all = append(all, urlx.Fingerprint(seed, url))
	}
	return all
}

// Settings are those of a crawl that is opened.
type Settings struct {
	Politeness politeness.Policy
	Traps      traps.Options
	HostRules  *settings.HostRules
	Order      order.Options
}

// lastView is the ownership view of a checkpoint; empty for a crawl of one agent.
func lastView(c *inspect.Checkpoint) (*ownership.Current, error) {
	current := new(ownership.Current)
	saved, err := c.Cluster()
	if err != nil || saved == nil {
		return current, err
	}
	self := saved.Self.ID
	if !slices.ContainsFunc(saved.Peers, func(a ownership.Agent) bool { return a.ID == self }) {
		self = "" // it leaves
	}
	view, err := ownership.NewView(saved.Assign, saved.Peers, nil, 0, self)
	current.Store(view)
	return current, err
}

// OpenStopped opens the crawl in a directory at its last checkpoint, to be asked about some URLs. It loads
// what is needed for them: of the workbench only their sites. Nothing is changed in the directory. The caller holds its
// lock, and closes what is returned. The error wraps fs.ErrNotExist if there is no crawl.
func OpenStopped(
	ctx context.Context, fsys vfs.FS, dir string, urls []string, o Settings,
) (_ *Stopped, err error) {
	c, err := inspect.Open(fsys, dir)
	if err != nil {
		return nil, err
	}
	s := new(Stopped)
	for _, raw := range urls {
		if url, err := normalize(raw); err == nil { // Collect returns the error
			s.urls = append(s.urls, url)
		}
	}
	defer func() {
		if err != nil {
			_ = s.Close() // err is more important
		}
	}()
	rules := site.NewRulesPool(0)
	policy := order.New(o.Order, c.HashSeed, c.Order)
	bench, wanted, err := s.loadSites(c, rules, policy)
	if err != nil {
		return nil, err
	}
	view := vfs.NewOverlay(ctx, fsys)
	known, err := sieve.Open(view, sieve.Options{
		Dir: dir + "/" + layout.SieveDir, Only: s.fingerprints(c.HashSeed),
	}.WithDefaults(), &c.Sieve)
	if err != nil {
		return nil, err
	}
	s.opened.Add(known.Close)
	queues, err := virtualize.Open(view, virtualize.Options{Dir: dir + "/" + layout.QueuesDir, Only: wanted}, &c.Virt)
	if err != nil {
		return nil, err
	}
	s.opened.Add(queues.Close)
	ready, err := queued.OpenReady(view, diskq.Options{}, dir, c.ReadyQueue())
	if err != nil {
		return nil, err
	}
	s.opened.Add(ready.Close)
	idle, err := cold.Open(view, cold.Options{Dir: dir + "/" + layout.ColdDir, Seed: c.HashSeed}, &c.Cold)
	if err != nil {
		return nil, err
	}
	s.opened.Add(idle.Close)
	views, err := lastView(c)
	if err != nil {
		return nil, err
	}
	closed, open, err := closedFiles(fsys, dir+"/"+layout.ArchiveDir)
	if err != nil {
		return nil, err
	}
	captures := lookup.NewFiles(lookup.Options{FS: fsys, Files: closed})
	s.opened.Add(captures.Close)
	live := settings.NewLive(o.Politeness, o.HostRules)
	look := traps.New(&o.Traps, c.HashSeed, c.Novelty)
	onDisk := sites.NewDiskQueues(queues)
	for queue, n := range onDisk.EachOrdered {
		if policy.Owns(queue) {
			policy.Add(queue, n)
		}
	}
	s.source = Source{
		FS: fsys, Dir: dir, HashSeed: c.HashSeed, AsOf: c.Clocks().Written.UTC().Format(time.RFC3339), Sieve: known,
		Hosts: &hosts.Lister{
			Workbench: bench, OnDisk: onDisk, Live: live,
			Sites:  &sites.Table{Workbench: bench, Cold: idle, Rules: rules, Live: live},
			Paused: func() string { return "" },
		},
		Ready:     func() uint64 { return ready.Len() + onDisk.AllOrdered() },
		Exchanges: underway.NewTable(0), Views: views, FlushLog: func() {},
		AskOwner: AskNoOwner, Traps: look,
		Captures: captures, UnreadFile: open, Order: func() order.Policy { return policy },
	}
	return s, nil
}
