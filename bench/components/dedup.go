package components

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"time"

	"orbweaver/engine/records/dedup"
	"orbweaver/internal/cputime"
	"orbweaver/internal/vfs"
)

const (
	// seenCheckpointEvery is how many pages lie between two checkpoints: half a minute of a fast crawl.
	seenCheckpointEvery = 50_000
	// seenLookups is how many look-ups of one kind are measured at each size.
	seenLookups = 200_000
	// seenRecent: half of the duplicates repeat one of so many latest digests, the others any digest.
	seenRecent = 100_000
)

// seenAdapter uses payload deduplication as a crawl does. One page in ten is a duplicate and is looked up once. The
// others are looked up, looked up again under the commit lock, and inserted with a URI of some 60 bytes. Tend follows
// each page. Every 50,000 pages there is a checkpoint. At each size the adapter also measures look-ups alone, and a
// resume. It checks all answers.
type seenAdapter struct {
	*driver
	o     dedup.Options
	m     *dedup.Map
	rng   *rand.Rand
	hosts uint64
	uri   []byte

	pages, absent, present *Meter

	held         uint64 // digests 0 to held-1 are in the map
	handled      int64
	checkpointed dedup.Checkpoint
	longestCut   time.Duration
	longestSync  time.Duration
	diskPeak     int64
	slower       [32]int64 // pages that took 2^(i-1) to 2^i microseconds
}

func openDedup(d *driver) (adapter, error) {
	a := &seenAdapter{driver: d, o: dedup.Options{Dir: d.Dir, MemoryBytes: d.Memory}, hosts: uint64(max(d.Hosts, 1)),
		rng: rand.New(rand.NewPCG(d.Seed, 0))}
	a.pages = d.meter("a page, one in ten a duplicate, with checkpoints and merging", "digests")
	a.absent = d.meter("look-up of a new digest", "digests")
	a.present = d.meter("look-up of a digest that is there", "digests")
	var err error
	a.m, err = dedup.Open(vfs.Disk(), a.o, nil)
	return a, err
}

func (a *seenAdapter) finish() error { return nil }
func (a *seenAdapter) close() error  { return a.m.Close() }

// digest is the digest of payload number i: spread as evenly as SHA-1, and cheap.
func (a *seenAdapter) digest(i uint64) (d dedup.Digest) {
	for k := range 3 {
		x := i*3 + uint64(k) + 0x9e3779b97f4a7c15
		x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
		x = (x ^ x>>27) * 0x94d049bb133111eb
		x ^= x >> 31
		if k < 2 {
			binary.LittleEndian.PutUint64(d[8*k:], x)
		} else {
			binary.LittleEndian.PutUint32(d[16:], uint32(x))
		}
	}
	return d
}

// first is the record of payload number i.
func (a *seenAdapter) first(i uint64) dedup.First {
	a.uri = fmt.Appendf(a.uri[:0], "https://www.host-%d.example/archive/%d/page-%d.html", i*2654435761%a.hosts, i%1000, i)
	f := dedup.First{URI: string(a.uri), Date: time.Unix(int64(1_700_000_000+i/1000), int64(i%1e6)*1000)}
	binary.LittleEndian.PutUint64(f.RecordID[:], i)
	binary.LittleEndian.PutUint64(f.RecordID[8:], ^i)
	return f
}

// known draws the number of a payload in the map, recent in half of the cases.
func (a *seenAdapter) known() uint64 {
	if a.rng.Uint64()&1 == 0 && a.held > seenRecent {
		return a.held - 1 - a.rng.Uint64N(seenRecent)
	}
	return a.rng.Uint64N(a.held)
}

// grow handles pages up to a size.
func (a *seenAdapter) grow(ctx context.Context, size int64) error {
	a.pages.Resume()
	a.longestCut, a.longestSync, a.diskPeak, a.slower = 0, 0, 0, [32]int64{}
	before, held := a.m.Stats(), a.held
	if err := a.fill(ctx, uint64(size)); err != nil {
		return err
	}
	st := a.m.Stats()
	p := a.pages.Mark(size)
	if err := a.lookUp(ctx, size); err != nil {
		return err
	}
	opened, err := a.reopen()
	if err != nil {
		return err
	}
	at := func(name string, v float64, unit string) {
		a.pages.Run.Add(fmt.Sprintf("%s at %d", name, size), v, unit)
	}
	n := float64(size)
	at("memory of tables and filters a digest", float64(st.MemoryBytes)/n, "B")
	at("disk of entries a digest", float64(st.EntryBytes)/n, "B")
	at("disk of runs a digest", float64(st.RunBytes)/n, "B")
	at("disk at its highest on the way a digest", float64(a.diskPeak)/n, "B")
	at("runs", float64(st.Runs), "")
	at("records written by merges a digest, so far", float64(st.Merged)/n, "")
	at("new digests looked for on disk, on the way",
		100*float64(st.FilterErrors-before.FilterErrors)/float64(3*(a.held-held)), "% of look-ups")
	at("99.99 pages of 100 take at most", a.within(0.9999), "us")
	at("longest Cut", float64(a.longestCut.Nanoseconds())/1e3, "us")
	at("longest Sync and Release", float64(a.longestSync.Nanoseconds())/1e6, "ms")
	at("open again, wall", opened.wall.Seconds()*1e3, "ms")
	at("open again, CPU", opened.cpu.Seconds()*1e3, "ms")
	a.progress("%d digests, %.0f pages/s, %.0f ns of CPU each, longest page %v, longest Cut %v, open again %v",
		size, p.PerSecond, p.CPUPerItem, p.LongestPause, a.longestCut, opened.wall.Round(time.Millisecond))
	return nil
}

// fill handles pages until size digests are held, and ends with a checkpoint.
func (a *seenAdapter) fill(ctx context.Context, size uint64) error {
	began := time.Now()
	for a.held < size {
		if a.held > 0 && a.rng.Uint64N(10) == 0 {
			if err := a.expect(a.known(), true); err != nil {
				return err
			}
		} else if err := a.page(a.held); err != nil {
			return err
		} else {
			a.held++
		}
		if err := a.m.Tend(); err != nil {
			return err
		}
		now := time.Now()
		a.pages.Done(1, now.Sub(began))
		a.slower[bits.Len64(uint64(now.Sub(began).Microseconds()))]++
		if a.handled++; a.handled%seenCheckpointEvery == 0 || a.held == size {
			if err := errors.Join(a.checkpoint(), ctx.Err()); err != nil {
				return err
			}
			now = time.Now()
		}
		began = now
	}
	return nil
}

// within is the time in microseconds that a share of the pages did not exceed, rounded up to a power of two.
func (a *seenAdapter) within(share float64) float64 {
	var all, n int64
	for _, c := range a.slower {
		all += c
	}
	for i, c := range a.slower {
		if n += c; float64(n) >= share*float64(all) {
			return float64(uint64(1) << i)
		}
	}
	return 0
}

// page handles a page with a new payload.
func (a *seenAdapter) page(i uint64) error {
	for range 2 {
		if err := a.expect(i, false); err != nil {
			return err
		}
	}
	_, fresh, err := a.m.Insert(a.digest(i), a.first(i))
	if err == nil && !fresh {
		err = fmt.Errorf("payload %d is not new", i)
	}
	return err
}

// expect looks a payload up and checks the answer.
func (a *seenAdapter) expect(i uint64, there bool) error {
	f, ok, err := a.m.Lookup(a.digest(i))
	if err == nil && (ok != there || ok && binary.LittleEndian.Uint64(f.RecordID[:]) != i) {
		err = fmt.Errorf("payload %d of %d: found %v, record %x", i, a.held, ok, f.RecordID)
	}
	return err
}

// checkpoint does the same as a checkpoint of a crawl.
func (a *seenAdapter) checkpoint() (err error) {
	began := time.Now()
	if a.checkpointed, err = a.m.Checkpoint(); err != nil {
		return err
	}
	cut := time.Now()
	a.diskPeak = max(a.diskPeak, a.disk())
	err = errors.Join(a.m.Sync(), a.m.Release(a.checkpointed))
	a.longestCut, a.longestSync = max(a.longestCut, cut.Sub(began)), max(a.longestSync, time.Since(cut))
	return err
}

// lookUp measures look-ups alone.
func (a *seenAdapter) lookUp(ctx context.Context, size int64) error {
	n := min(seenLookups, size)
	for _, kind := range []struct {
		meter  *Meter
		number func(i int64) uint64
		there  bool
	}{
		{a.absent, func(i int64) uint64 { return 1<<40 + uint64(size+i) }, false},
		{a.present, func(int64) uint64 { return a.rng.Uint64N(a.held) }, true},
	} {
		kind.meter.Resume()
		began := time.Now()
		for i := range n {
			if err := a.expect(kind.number(i), kind.there); err != nil {
				return err
			}
			now := time.Now()
			kind.meter.Done(1, now.Sub(began))
			began = now
		}
		kind.meter.Mark(size)
	}
	return ctx.Err()
}

type seenOpened struct{ wall, cpu time.Duration }

// reopen measures how long the map takes to open after a kill.
func (a *seenAdapter) reopen() (took seenOpened, err error) {
	if err := a.m.Close(); err != nil {
		return took, err
	}
	began, cpu := time.Now(), cputime.Process()
	m, err := dedup.Open(vfs.Disk(), a.o, &a.checkpointed)
	if err != nil {
		return took, err
	}
	a.m = m
	return seenOpened{time.Since(began), cputime.Process() - cpu}, nil
}
