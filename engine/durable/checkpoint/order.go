package checkpoint

import (
	"orbweaver/engine/records/dedup"
	"orbweaver/engine/state/attempt"
	"orbweaver/engine/state/cluster"
	"orbweaver/engine/state/queued"
	"orbweaver/engine/state/site"
	"orbweaver/engine/store/manifest"
	"orbweaver/engine/traps"
	"orbweaver/internal/vfs"
	"orbweaver/sieve"
	"orbweaver/virtualize"
	"orbweaver/virtualize/diskq"
	"orbweaver/workbench"
	"orbweaver/workbench/cold"
)

// Components are what a checkpoint saves beside the archive and the journal.
type Components struct {
	FS        vfs.FS
	Dir       string // frontier/
	Sieve     *sieve.Sieve
	Ready     *queued.ReadyQueue
	Skipped   *traps.SkippedList
	Traps     func() traps.SkipSettings // that the list of skipped URLs was made with
	Queues    *virtualize.Virtualizer
	Seen      *dedup.Map
	Near      Participant // see NearPages
	Cold      *cold.Store
	Attempts  *attempt.InFlight
	Held      func() []byte // the URL that the distributor holds between two queues; nil if there is none
	Finished  FinishedURLs
	Cluster   cluster.CheckpointPart
	Novelty   func() []byte // the state of engine/traps/novelty
	Order     func() []byte // the state of engine/frontier/order
	Rules     func() error  // writes the host rules that are only in the journal
	Workbench *workbench.Workbench[site.State]
	Log       CrawlLog
}

// entry is one participant in the order of a checkpoint.
type entry struct {
	Participant
	beforeFlush bool // Write runs before the next flush of the sieve
}

// order returns the participants in the order in which MarkState, Write, Sync and Release call them.
func (c *Components) order() []entry {
	return []entry{
		// The next flush of the sieve changes the files that its snapshot is written from.
		{beforeFlush: true, Participant: &snapshotter[sieve.Checkpoint, *sieve.Snapshot]{
			part: func(m *manifest.Manifest) *sieve.Checkpoint { return &m.Sieve },
			mark: c.Sieve.Snapshot, sync: c.Sieve.Sync, release: c.Sieve.Release,
		}},
		{Participant: &marker[diskq.Checkpoint]{
			part: func(m *manifest.Manifest) *diskq.Checkpoint { return &m.Ready },
			mark: c.Ready.Others.Checkpoint, sync: c.Ready.Others.Sync, release: c.Ready.Others.Release,
		}},
		{Participant: &marker[*diskq.Checkpoint]{
			part: func(m *manifest.Manifest) **diskq.Checkpoint { return &m.Urgent },
			mark: func() (*diskq.Checkpoint, error) {
				at, err := c.Ready.Urgent.Checkpoint()
				return &at, err
			},
			sync:    c.Ready.Urgent.Sync,
			release: func(at *diskq.Checkpoint) error { return c.Ready.Urgent.Release(*at) },
		}},
		{Participant: &marker[*traps.SkippedCheckpoint]{
			part:    func(m *manifest.Manifest) **traps.SkippedCheckpoint { return &m.Skipped },
			mark:    func() (*traps.SkippedCheckpoint, error) { return c.Skipped.Checkpoint(c.Traps()) },
			sync:    c.Skipped.Queue.Sync,
			release: func(at *traps.SkippedCheckpoint) error { return c.Skipped.Queue.Release(at.Queue) },
		}},
		{Participant: &snapshotter[virtualize.Checkpoint, *virtualize.Snapshot]{
			part: func(m *manifest.Manifest) *virtualize.Checkpoint { return &m.Virt },
			mark: c.Queues.Snapshot, sync: c.Queues.Sync, release: c.Queues.Release,
		}},
		{Participant: &marker[dedup.Checkpoint]{
			part: func(m *manifest.Manifest) *dedup.Checkpoint { return &m.Seen },
			mark: c.Seen.Checkpoint, sync: c.Seen.Sync, release: c.Seen.Release,
		}},
		{Participant: c.Near},
		{Participant: &marker[cold.Checkpoint]{
			part: func(m *manifest.Manifest) *cold.Checkpoint { return &m.Cold },
			mark: func() (cold.Checkpoint, error) { return c.Cold.Checkpoint(), nil },
			sync: c.Cold.Sync, release: c.Cold.Release,
		}},
		{Participant: &clusterState{fs: c.FS, dir: c.Dir, part: c.Cluster}},
		{Participant: &inFlight{fs: c.FS, dir: c.Dir, attempts: c.Attempts, held: c.Held, finished: c.Finished}},
		// Its mark cannot be taken back, so no mark after it may fail.
		{Participant: &workbenchFiles{fs: c.FS, dir: c.Dir, bench: c.Workbench}},
		{Participant: &logState{log: c.Log}},
		// It is no mark: it holds what was learned until the manifest is written, which is as valid.
		{Participant: &rules{write: c.Rules}},
		{Participant: &learned{novelty: c.Novelty, order: c.Order}},
	}
}

// NearPages is the participant of the texts that pages are compared with.
func NearPages(m *dedup.Map) Participant {
	return &marker[*dedup.Checkpoint]{
		part: func(to *manifest.Manifest) **dedup.Checkpoint { return &to.Near },
		mark: func() (*dedup.Checkpoint, error) {
			at, err := m.Checkpoint()
			return &at, err
		},
		sync:    m.Sync,
		release: func(at *dedup.Checkpoint) error { return m.Release(*at) },
	}
}

// reclaim frees disk space of the components that move live data to do so. It moves up to limit bytes in each of them.
func (c *Components) reclaim(limit int64) (moved int64, err error) {
	queued, err := c.Queues.Collect(limit)
	if err != nil {
		return 0, err
	}
	sites, err := c.Cold.Collect(limit)
	return queued + sites, err
}

// learned puts the states of engine/traps/novelty and engine/frontier/order in the manifest.
type learned struct {
	None
	novelty, order func() []byte
}

func (p *learned) Sync(m *manifest.Manifest) error {
	m.Novelty, m.Order = p.novelty(), p.order()
	return nil
}

// rules writes the host rules that only the journal has. They are in a file of their own, which has no generations.
type rules struct {
	None
	write func() error
}

func (p *rules) Write(*manifest.Manifest) error { return p.write() }
