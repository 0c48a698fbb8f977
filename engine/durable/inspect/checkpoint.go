package inspect

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/zeebo/xxh3"

	"orbweaver/engine/durable/checkpoint"
	"orbweaver/engine/peering/outbox"
	"orbweaver/engine/peering/ownership"
	"orbweaver/engine/records/dedup"
	"orbweaver/engine/state/layout"
	"orbweaver/engine/state/queued"
	"orbweaver/engine/store/journal"
	"orbweaver/engine/store/manifest"
	"orbweaver/engine/traps"
	"orbweaver/internal/vfs"
	"orbweaver/virtualize/diskq"
	"orbweaver/warc"
)

// Checkpoint is the last checkpoint of a crawl: its manifest, and access to the files that the manifest names. The
// files are removed when the crawl goes on, so hold the lock of the crawl directory.
type Checkpoint struct {
	*manifest.Manifest

	fsys vfs.FS
	dir  string // of the frontier
}

// Open reads the manifest of the crawl in dir. The error wraps fs.ErrNotExist when there is none, and
// manifest.ErrVersion or manifest.ErrDamaged when it cannot be read.
func Open(fsys vfs.FS, dir string) (*Checkpoint, error) {
	m, err := manifest.Read(fsys, dir+"/"+layout.FrontierDir)
	if err != nil {
		return nil, err
	}
	if m == nil {
		return nil, fmt.Errorf("inspect: manifest: %s/%s: %w", dir, layout.ManifestFile, fs.ErrNotExist)
	}
	return &Checkpoint{Manifest: m, fsys: fsys, dir: dir + "/" + layout.FrontierDir}, nil
}

// ArchiveEnd is where the archive ended at the checkpoint; zero before the first record.
func (c *Checkpoint) ArchiveEnd() warc.Checkpoint {
	if c.Archive == nil {
		return warc.Checkpoint{}
	}
	return *c.Archive
}

// WorkbenchFile is the youngest of the files that hold the workbench, relative to the crawl directory.
func (c *Checkpoint) WorkbenchFile() string {
	return manifest.WorkbenchPath(layout.FrontierDir, c.Bench.Last())
}

// InFlightFile is the list of URLs in flight, relative to the crawl directory.
func (c *Checkpoint) InFlightFile() string {
	return manifest.InFlightPath(layout.FrontierDir, c.Generation)
}

// JournalFile is the first journal after the checkpoint, relative to the crawl directory.
func (c *Checkpoint) JournalFile() string { return journal.Name(layout.FrontierDir, c.Generation) }

// OutboxFile is what the queues of the outbox do not hold, relative to the crawl directory.
func (c *Checkpoint) OutboxFile() string {
	return manifest.OutboxPath(layout.FrontierDir, c.Generation)
}

// CountSkipped reads the list of skipped URLs and counts them by rule. The checkpoint must have such a list.
func (c *Checkpoint) CountSkipped() (rules traps.SkippedCounts, err error) {
	err = diskq.Each(c.fsys, c.dir+"/"+layout.SkippedName, c.Skipped.Queue, func(entry []byte) error {
		s, _, err := traps.DecodeSkipped(entry)
		rules[s.Rule]++
		return err
	})
	return rules, err
}

// InFlight calls f for every URL that was in flight; an empty site means that item holds the whole URL. It calls
// finished for every URL that an earlier journal named as finished and that will leave a queue again.
func (c *Checkpoint) InFlight(f func(site, item []byte), finished func(fp xxh3.Uint128)) error {
	b, err := vfs.ReadFile(c.fsys, manifest.InFlightPath(c.dir, c.Generation))
	if err != nil {
		return fmt.Errorf("inspect: URLs in flight: %w", err)
	}
	urls := journal.NewFinishedURLs()
	err = checkpoint.ReadInFlight(b, f, urls)
	urls.Each(finished)
	return err
}

// Journal calls f for every whole entry after the checkpoint: see journal.Examine.
func (c *Checkpoint) Journal(f func(journal.Attempt) error) ([]journal.Tail, error) {
	return journal.Examine(c.fsys, c.dir, c.Generation, f)
}

// QueuedURL appends to dst the URL of a queued item; site is empty where the item holds the whole URL. robots says that
// the item is no URL of the crawl but a hop on the way to a robots.txt; ok is false for bytes that are no item.
func QueuedURL(dst, site, item []byte) (url []byte, robots, ok bool) {
	it, ok := queued.Decode(item)
	if !ok {
		return dst, false, false
	}
	return append(append(dst, site...), it.Rest...), it.RobotsOf != nil, true
}

// Cluster is what a checkpoint says of the agents of the crawl.
type Cluster struct {
	Self  ownership.Agent   // the agent whose crawl this is
	Peers []ownership.Agent // the members, Self among them
	All   []ownership.Agent // all that were ever members; empty before the crawl has run
	// Changed says that agents have joined or left since the crawl began. Then the sieve may know URLs by other
	// fingerprints than their own, and each more than once: those of hosts with a temporary owner, and those of
	// messages that were sent again.
	Changed bool
	Assign  ownership.Method
	Outbox  outbox.Checkpoint
	Fetched dedup.Checkpoint // the URLs that have an answer, by keys made of their fingerprints
}

// Cluster returns what the checkpoint says of the agents; nil for a crawl with one agent.
func (c *Checkpoint) Cluster() (*Cluster, error) {
	saved := c.Peers
	if saved == nil {
		return nil, nil //nolint:nilnil // as the comment says
	}
	v := &Cluster{
		Peers: saved.Agents, All: saved.EverAll, Changed: saved.Turns > 1,
		Outbox: saved.Outbox, Fetched: saved.Fetched, Assign: saved.Assign,
	}
	isSelf := func(a ownership.Agent) bool { return a.Store == c.StoreID() }
	if n := slices.IndexFunc(v.Peers, isSelf); n >= 0 {
		v.Self = v.Peers[n]
		return v, nil
	}
	if n := slices.IndexFunc(v.All, isSelf); n >= 0 { // it leaves the crawl, or has left
		v.Self = v.All[n]
		return v, nil
	}
	return nil, fmt.Errorf("%w: no agent that it names has the data here, whose number is %016x",
		manifest.ErrDamaged, c.StoreID())
}

// EachSkipped calls f for every skipped URL of a crawl, as of its last checkpoint, in order. The crawl may run.
func EachSkipped(fsys vfs.FS, dir string, f func(traps.SkippedURL) error) error {
	var passed uint64
	for tries := 0; ; tries++ {
		m, err := manifest.Read(fsys, dir+"/"+layout.FrontierDir)
		if err != nil {
			return err
		}
		if m == nil {
			return fmt.Errorf("inspect: manifest: %s/%s: %w", dir, layout.ManifestFile, fs.ErrNotExist)
		}
		if m.Skipped == nil || m.Afresh {
			return nil
		}
		at := uint64(0)
		err = diskq.Each(fsys, dir+"/"+layout.SkippedDir, m.Skipped.Queue, func(entry []byte) error {
			if at++; at <= passed {
				return nil
			}
			s, _, err := traps.DecodeSkipped(entry)
			if err == nil {
				err = f(s)
			}
			passed = at
			return err
		})
		if tries < 3 && errors.Is(err, fs.ErrNotExist) {
			continue // the crawl has queued the oldest ones again, and made a new checkpoint
		}
		return err
	}
}
