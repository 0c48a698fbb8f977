package recrawl

import (
	"errors"
	"fmt"
	"log/slog"
	"time"

	"orbweaver/engine/state/layout"
	"orbweaver/engine/state/lifecycle"
	"orbweaver/engine/state/limits"
	"orbweaver/engine/store/crawllog"
	"orbweaver/engine/store/journal"
	"orbweaver/engine/store/manifest"
	"orbweaver/engine/store/receipts"
	"orbweaver/internal/vfs"
)

// A crawl that is finished can begin again in the same directory: a new pass. A crawl that could fetch no seed begins
// again at its next run. A new pass starts with this:
//
//	archive, payload deduplication, seeds, host rules    are kept: nothing is stored twice
//	sieve, queues, workbench, cold sites, counters       are empty: every URL is found again, from the seeds
//	due times of sites                                   are kept if they are in the future
//
// It begins with one manifest, which replaces that of the finished crawl when the index of the earlier captures is
// durable. Before that the directory has the finished crawl. After it the directory has a crawl in progress that has
// done nothing: each start opens empty components until the first checkpoint.

// ErrDiskSpent says that no pass can begin, because the crawl has reached its size limit.
var ErrDiskSpent = errors.New(
	"recrawl: archive, frontier and logs have reached max-disk: a new pass would end before it began, so raise it",
)

// Beginning begins new passes of the crawl in a directory.
type Beginning struct {
	FS  vfs.FS
	Dir string // of the crawl
	Log *slog.Logger

	Refresh bool          // begin a finished crawl again
	MaxDisk int64         // bytes; 0 for no limit
	Delay   time.Duration // before the first request: the addresses of sites are not known
}

// Next begins a new pass if the crawl of a manifest is finished and Refresh is set, or if it could fetch no seed. It
// returns the manifest in force, which is m if no pass begins. m may be nil.
func (b *Beginning) Next(m *manifest.Manifest) (*manifest.Manifest, error) {
	failed := m != nil && m.State == lifecycle.Failed
	switch {
	case m == nil, !failed && !b.Refresh:
		return m, nil
	case !failed && m.State != lifecycle.Finished:
		b.Log.Info("the crawl is not finished: it goes on, and can be refreshed when it is", "pass", m.Pass+1)
		return m, nil
	}
	if err := b.checkDisk(); err != nil {
		return nil, err
	}
	began := time.Now()
	next := &manifest.Manifest{
		Generation: m.Generation, CrawlID: m.CrawlID, HashSeed: m.HashSeed,
		Created: m.Created, Written: m.Written, Boot: m.Boot, Up: m.Up,
		State: lifecycle.Running, Clean: true, Resumed: -1, Filtered: m.Filtered,
		Pass: m.Pass + 1, From: *m.Archive, Afresh: true, NotBefore: began.Add(b.Delay),
		Seen: m.Seen, Near: m.Near, Bench: m.Bench, Archive: m.Archive,
	}
	if m.Log != nil && m.Log.IsKnown() {
		next.Log = &crawllog.Checkpoint{Begin: m.Log.End, End: m.Log.End}
	}
	index, err := PassOf(b.FS, receipts.NoObjects{}, b.Dir, next, b.Log).WriteIndex()
	if err != nil {
		return nil, err
	}
	next.Earlier = &index
	if err := manifest.Write(b.FS, b.Dir+"/"+layout.FrontierDir, next); err != nil {
		return nil, err
	}
	if failed {
		b.Log.Info("the crawl begins again from its seeds: the last run could fetch none of them", "pass", next.Pass+1)
		return next, nil
	}
	b.Log.Info("the crawl begins again: pages that it has are asked for on the condition that they have changed",
		"pass", next.Pass+1, "captures", index.Entries, "took", time.Since(began).Round(time.Millisecond).String())
	return next, nil
}

// checkDisk says whether the crawl has reached its size limit.
func (b *Beginning) checkDisk() error {
	if b.MaxDisk <= 0 {
		return nil
	}
	archive, err := journal.ArchiveBytes(b.FS, b.Dir+"/"+layout.ArchiveDir)
	if err != nil {
		return err
	}
	other, err := limits.DiskUse(b.FS, b.Dir)
	if err != nil {
		return fmt.Errorf("recrawl: the size of the frontier: %w", err)
	}
	if archive+other >= b.MaxDisk {
		return fmt.Errorf("%w: the archive has %d bytes, frontier and logs have %d", ErrDiskSpent, archive, other)
	}
	return nil
}

// PassOf describes the pass of a manifest. Removed WARC files are in the index of earlier captures, and their records
// are read from objects.
func PassOf(fsys vfs.FS, objects receipts.Objects, dir string, m *manifest.Manifest, log *slog.Logger) *Pass {
	return &Pass{
		FS: receipts.Over(fsys).ReadRecords(objects), Dir: dir, Number: m.Pass, HashSeed: m.HashSeed, ArchiveEnd: m.From,
		Warn: log.Warn,
	}
}
