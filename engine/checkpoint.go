package engine

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"sync/atomic"
	"time"

	"orbweaver/engine/attempt"
	"orbweaver/engine/clock"
	"orbweaver/engine/cluster"
	"orbweaver/engine/journal"
	"orbweaver/engine/layout"
	"orbweaver/engine/lifecycle"
	"orbweaver/engine/outage"
	"orbweaver/engine/site"
	"orbweaver/engine/skipped"
	"orbweaver/engine/traps"
	"orbweaver/engine/visit"
	"orbweaver/internal/vfs"
	"orbweaver/sieve"
	"orbweaver/sieve/fpcache"
	"orbweaver/virtualize"
	"orbweaver/virtualize/diskq"
	"orbweaver/workbench"
	"orbweaver/workbench/cold"
)

type benchImage = workbench.Snapshot[site.State]

// checkpointer takes the cut: the one moment at which all rooms are saved together. It stops every traveller for as
// long as it takes to mark that moment in each room; writing, syncing and the manifest come after they move on.
type checkpointer struct {
	fs       vfs.FS
	dir      string // frontier/
	ledger   *journal.Store
	turn     chan struct{} // the flusher's: no flush is half done while it is held
	returner *returner
	bench    *visit.Workbench
	sieve    *sieve.Sieve
	ready    *diskq.Queue
	virt     *virtualize.Virtualizer
	cold     *cold.Store
	dist     *distributor
	skipped  *skipped.List
	traps    skipped.Settings
	aloft    *attempt.InFlight
	finished *journal.FinishedURLs
	frontier *Frontier
	detector *traps.Detector
	cluster  cluster.CheckpointPart
	seeded   *atomic.Bool
	every    time.Duration
	clock    *clock.RunTime
	boot     clock.Boot

	pauses     pauses   // how long everybody stood still
	last       manifest // the last durable one
	loose      bool     // the bench has written an image that last does not name
	generation uint64   // the last one begun

	journalStep int64 // how much space a journal reserves at a time
	ask         chan chan error
}

// run takes a cut whenever the time has come, the journal has become long or somebody asks. The last one, at the end,
// is Engine's to take.
func (c *checkpointer) run(ctx context.Context) error {
	tick := time.NewTicker(c.every)
	defer tick.Stop()
	for {
		var reply chan error
		select {
		case <-tick.C:
		case <-c.ledger.Long:
		case reply = <-c.ask:
		case <-ctx.Done():
			return nil
		}
		err := c.take(ctx, lifecycle.Running, "", false)
		if reply != nil {
			reply <- err
		}
		if err != nil && ctx.Err() == nil {
			if err := c.ledger.Disk.Wait(ctx, err); errors.Is(err, outage.ErrFullAtStop) {
				return nil
			} else if err != nil {
				return err
			}
		}
	}
}

// take makes one cut and its manifest durable. final says that all goroutines have ended and every Page is home.
func (c *checkpointer) take(ctx context.Context, state lifecycle.State, reason string, final bool) error {
	k, err := c.cut(ctx, state, reason, final)
	if err != nil {
		return err
	}
	if err := c.write(k); err != nil {
		return err
	}
	if err := c.sync(&k.manifest); err != nil {
		return err
	}
	k.manifest.Novelty = c.detector.State() // of now: what was learnt a moment later is as true
	if err := writeManifest(c.fs, c.dir, &k.manifest); err != nil {
		return err
	}
	c.last, c.loose = k.manifest, false
	if err := c.release(); err != nil || final {
		return err
	}
	return c.collect(ctx)
}

// marked is what a cut leaves to be written when all go on.
type marked struct {
	manifest manifest
	sieve    *sieve.Snapshot
	bench    *benchImage
	queues   *virtualize.Snapshot
	aloft    []byte
	outbox   []byte // what its lines do not hold
}

// abandon gives up what was not written.
func (k *marked) abandon() {
	if k.sieve != nil {
		k.sieve.Abandon()
	}
	if k.bench != nil {
		k.bench.Abandon()
	}
	if k.queues != nil {
		k.queues.Abandon()
	}
}

// cut marks where everything is, and writes what the next flush of the sieve would change, before it lets one begin.
func (c *checkpointer) cut(ctx context.Context, state lifecycle.State, reason string, final bool) (*marked, error) {
	select {
	case c.turn <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer func() { <-c.turn }()
	k, err := c.mark(state, reason, final)
	if err != nil {
		return nil, err
	}
	if k.manifest.Sieve, err = k.sieve.Write(); err != nil {
		k.abandon()
		return nil, fmt.Errorf("engine: checkpoint: %w", err)
	}
	return k, nil
}

// mark stops everybody for as long as it takes to mark where everything is. Nothing waits for the disk here but small
// writes to the page cache: images are written when all go on, from copies of what changes meanwhile.
func (c *checkpointer) mark(state lifecycle.State, reason string, final bool) (*marked, error) {
	// Never used twice, so that a cut that failed half-way is never written over; and none is left out, since a resume
	// reads the journals one after the other.
	j, err := journal.Create(c.fs, c.dir, c.generation+1)
	if err != nil {
		return nil, err
	}
	c.generation++
	j.Step = c.journalStep
	l := c.ledger
	began := time.Now() // from here on nobody begins a step: who has begun one is waited for
	l.Steps.Stop()
	defer l.Steps.Allow()
	defer func() { c.pauses.add(time.Since(began)) }()
	if _, err := c.returner.drain(1 << 30); err != nil {
		return nil, errors.Join(err, j.Close())
	}
	if err := j.Follow(l.Current()); err != nil {
		return nil, errors.Join(err, j.Close())
	}

	k := &marked{manifest: c.last}
	m := &k.manifest
	m.Generation = c.generation
	m.State, m.Reason, m.Clean, m.Seeded = state, reason, final, c.seeded.Load()
	m.Written = time.Now()
	if c.boot != nil {
		m.Boot, m.Up = c.boot()
	}
	m.setUsage(c.clock.Usage())
	m.Counters = l.Count.Load()
	if err := c.markRooms(k); err != nil {
		k.abandon()
		return nil, errors.Join(err, j.Close())
	}
	// Entries written from here on belong to this cut, and if its manifest is never written they follow the older
	// journal.
	where := l.Writer.Cut()
	m.Archive = &where
	l.TurnTo(j)
	return k, nil
}

// markRooms marks the cut in every room. The bench comes last: nothing fails after it.
func (c *checkpointer) markRooms(k *marked) (err error) {
	m := &k.manifest
	if k.sieve, err = c.sieve.Snapshot(); err != nil {
		return fmt.Errorf("engine: checkpoint: %w", err)
	}
	if m.Ready, err = c.ready.Checkpoint(); err != nil {
		return fmt.Errorf("engine: checkpoint: %w", err)
	}
	if m.Skipped, err = c.skipped.Cut(c.traps); err != nil {
		return fmt.Errorf("engine: checkpoint: %w", err)
	}
	if k.queues, err = c.virt.Snapshot(); err != nil {
		return fmt.Errorf("engine: checkpoint: %w", err)
	}
	if m.Seen, err = c.ledger.Seen.Cut(); err != nil {
		return fmt.Errorf("engine: checkpoint: %w", err)
	}
	m.Cold = c.cold.Checkpoint()
	if m.Peers, k.outbox, err = c.cluster.MarkState(); err != nil {
		return fmt.Errorf("engine: checkpoint: %w", err)
	}
	k.aloft = c.imageOfAloft()
	if k.bench, err = c.bench.Snapshot(site.Append); err != nil {
		return fmt.Errorf("engine: checkpoint: %w", err)
	}
	return nil
}

// write writes what was marked, beside the running crawl.
func (c *checkpointer) write(k *marked) (err error) {
	defer k.abandon() // does nothing to what is written
	if k.manifest.Virt, err = k.queues.Write(); err != nil {
		return fmt.Errorf("engine: checkpoint: %w", err)
	}
	err = c.create(aloftName(c.dir, k.manifest.Generation), func(w io.Writer) error {
		_, err := w.Write(k.aloft)
		return err
	})
	if err == nil && k.manifest.Peers != nil {
		err = c.create(outboxName(c.dir, k.manifest.Generation), func(w io.Writer) error {
			_, err := w.Write(k.outbox)
			return err
		})
	}
	if err != nil {
		return err
	}
	return c.saveBench(&k.manifest, k.bench)
}

// imageOfAloft is what is neither on the bench nor in a queue: the URLs whose Pages are on their way, the one the
// distributor holds, and what an earlier journal named as done.
func (c *checkpointer) imageOfAloft() []byte {
	b := make([]byte, 8, 64<<10)
	add := func(key, item []byte) {
		b = binary.AppendUvarint(b, uint64(len(key)))
		b = append(b, key...)
		b = binary.AppendUvarint(b, uint64(len(item)))
		b = append(b, item...)
	}
	c.aloft.Each(add)
	if c.dist.held != nil {
		add(nil, c.dist.held)
	}
	binary.LittleEndian.PutUint64(b, uint64(len(b)-8))
	b = c.finished.Append(b)
	return binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, journal.Castagnoli()))
}

var errAloft = errors.New("engine: the list of URLs in flight is damaged")

// readAloft reads what imageOfAloft made; a nil key means an item that still has its whole URL.
func readAloft(b []byte, item func(key, item []byte), done *journal.FinishedURLs) error {
	if len(b) < 12 || crc32.Checksum(b[:len(b)-4], journal.Castagnoli()) != binary.LittleEndian.Uint32(b[len(b)-4:]) {
		return errAloft
	}
	size := binary.LittleEndian.Uint64(b)
	b = b[8 : len(b)-4]
	if size > uint64(len(b)) {
		return errAloft
	}
	list, rest := b[:size], b[size:]
	next := func() (part []byte, ok bool) {
		n, k := binary.Uvarint(list)
		if k <= 0 || n > uint64(len(list)-k) {
			return nil, false
		}
		part, list = list[k:k+int(n)], list[k+int(n):]
		return part, true
	}
	for len(list) > 0 {
		key, ok := next()
		it, both := next()
		if !ok || !both {
			return errAloft
		}
		item(key, it)
	}
	return done.Load(rest)
}

// create writes a file of this generation; it is synced later.
func (c *checkpointer) create(name string, write func(io.Writer) error) error {
	f, err := c.fs.Create(name)
	if err != nil {
		return fmt.Errorf("engine: checkpoint: %w", err)
	}
	w := bufio.NewWriterSize(f, 1<<20)
	err = errors.Join(write(w), w.Flush(), f.Close())
	if err != nil {
		return fmt.Errorf("engine: checkpoint: %s: %w", name, err)
	}
	return nil
}

// sync makes durable all that the manifest names.
func (c *checkpointer) sync(m *manifest) error {
	steps := []func() error{
		c.ledger.Sync, c.sieve.Sync, c.ready.Sync, c.skipped.Queue.Sync, c.virt.Sync, c.cold.Sync, c.ledger.Seen.Sync,
		func() error { return c.syncFile(benchName(c.dir, m.Bench.last())) },
		func() error { return c.syncFile(aloftName(c.dir, m.Generation)) },
		func() error { return c.syncPeers(m) },
		func() error { return c.fs.SyncDir(c.dir) },
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return fmt.Errorf("engine: checkpoint: %w", err)
		}
	}
	return nil
}

func (c *checkpointer) syncPeers(m *manifest) error {
	if err := c.cluster.Sync(); err != nil || m.Peers == nil {
		return err
	}
	return c.syncFile(outboxName(c.dir, m.Generation))
}

func (c *checkpointer) syncFile(name string) error {
	f, err := c.fs.OpenRW(name)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// release lets go of what only the manifest before needed.
func (c *checkpointer) release() error {
	m := &c.last
	err := errors.Join(c.sieve.Release(m.Sieve), c.ready.Release(m.Ready), c.skipped.Queue.Release(m.Skipped.Queue), c.virt.Release(m.Virt), c.cold.Release(m.Cold), c.ledger.Seen.Release(m.Seen))
	if err == nil {
		err = c.cluster.Release(m.Peers)
	}
	if err != nil {
		return fmt.Errorf("engine: checkpoint: %w", err)
	}
	return layout.RemoveOlder(c.fs, c.dir, m.Generation, m.Bench.names)
}

// collectStep is how many bytes a room moves in one go to reclaim space.
const collectStep = 1 << 20

// collect lets the virtualizer and the cold store reclaim space, in small steps beside everybody else, for a quarter of
// the time at most.
func (c *checkpointer) collect(ctx context.Context) error {
	for end := time.Now().Add(c.every / 4); time.Now().Before(end) && ctx.Err() == nil; {
		moved, err := c.virt.Collect(collectStep)
		if err != nil {
			return fmt.Errorf("engine: checkpoint: %w", err)
		}
		passed, err := c.cold.Collect(collectStep)
		if err != nil {
			return fmt.Errorf("engine: checkpoint: %w", err)
		}
		if moved == 0 && passed == 0 {
			break
		}
	}
	return nil
}

// saveCache keeps the fingerprint cache warm for the next run; only a clean stop does.
func (c *checkpointer) saveCache(m *manifest, cache *fpcache.Cache) error {
	return vfs.WriteAtomic(c.fs, cacheName(c.dir), func(w io.Writer) error {
		if err := binary.Write(w, binary.LittleEndian, m.Generation); err != nil {
			return err
		}
		return cache.Save(w)
	})
}
