package rooms

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"orbweaver/bench/growth"
	"orbweaver/engine/seen"
	"orbweaver/internal/vfs"
)

const (
	// seenCutEvery pages there is a cut: half a minute of a fast crawl.
	seenCutEvery = 50_000
	// seenLookups is how many look-ups of one kind are measured at each size.
	seenLookups = 200_000
	// seenRecent: half of the duplicates are of one of so many digests before, the others of any.
	seenRecent = 100_000
)

// Seen asks and fills the map of payload digests as a crawl does, until it holds o.URLs: one page in ten is a duplicate
// and is looked up once; the others are looked up, looked up again under the commit lock, and inserted with a URI of some
// 60 bytes; Tend follows each. Every 50,000 pages there is a cut. At each size look-ups are measured apart, and how long a
// resume takes. All answers are held against what they must be.
func Seen(ctx context.Context, o Options, memory int64) (*growth.Result, error) {
	away, err := o.in()
	if err != nil {
		return nil, err
	}
	b := &seenBench{o: seen.Options{Dir: o.Dir, MemoryBytes: memory}, hosts: uint64(max(o.Hosts, 1)), rng: rand.New(rand.NewPCG(o.Seed, 0))}
	b.pages = growth.NewMeter("a page, one in ten a duplicate, with cuts and merging", "digests", b.disk)
	b.fresh = growth.NewMeter("look-up of a new digest", "digests", b.disk)
	b.there = growth.NewMeter("look-up of a digest that is there", "digests", b.disk)
	if b.m, err = seen.Open(vfs.Disk(), b.o, nil); err != nil {
		return nil, errors.Join(err, away())
	}
	err = b.grow(ctx, &o)
	return &growth.Result{Name: "seen", Runs: []*growth.Run{b.pages.Run, b.fresh.Run, b.there.Run}}, errors.Join(err, b.m.Close(), away())
}

type seenBench struct {
	o     seen.Options
	m     *seen.Map
	rng   *rand.Rand
	hosts uint64
	uri   []byte

	pages, fresh, there *growth.Meter

	held     uint64 // digests 0 to held-1 are in the map
	handled  int64
	cut      seen.Cut
	cutTook  time.Duration // longest
	syncTook time.Duration // longest
	diskPeak int64
	slower   [32]int64 // pages that took 2^(i-1) to 2^i microseconds
}

// digest is that of payload number i: as even as a real one, and cheap.
func (b *seenBench) digest(i uint64) (d seen.Digest) {
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

// first is the record of payload number i. The URI is good until the next call.
func (b *seenBench) first(i uint64) seen.First {
	b.uri = fmt.Appendf(b.uri[:0], "https://www.host-%d.example/archive/%d/page-%d.html", i*2654435761%b.hosts, i%1000, i)
	f := seen.First{URI: string(b.uri), Date: time.Unix(int64(1_700_000_000+i/1000), int64(i%1e6)*1000)}
	binary.LittleEndian.PutUint64(f.RecordID[:], i)
	binary.LittleEndian.PutUint64(f.RecordID[8:], ^i)
	return f
}

// known is the number of a payload that is there, as duplicates are: of late, or of any time.
func (b *seenBench) known() uint64 {
	if b.rng.Uint64()&1 == 0 && b.held > seenRecent {
		return b.held - 1 - b.rng.Uint64N(seenRecent)
	}
	return b.rng.Uint64N(b.held)
}

func (b *seenBench) grow(ctx context.Context, o *Options) error {
	run := b.pages.Run
	for _, size := range growth.Sizes(o.URLs) {
		b.pages.Resume()
		b.cutTook, b.syncTook, b.diskPeak, b.slower = 0, 0, 0, [32]int64{}
		before := b.m.Stats()
		held := b.held
		if err := b.fill(ctx, uint64(size)); err != nil {
			return err
		}
		st := b.m.Stats()
		p := b.pages.Mark(size)
		if err := b.ask(ctx, size); err != nil {
			return err
		}
		opened, err := b.reopen()
		if err != nil {
			return err
		}
		at := func(name string, v float64, unit string) { run.Add(fmt.Sprintf("%s at %d", name, size), v, unit) }
		n := float64(size)
		at("memory of tables and filters a digest", float64(st.MemoryBytes)/n, "B")
		at("disk of entries a digest", float64(st.EntryBytes)/n, "B")
		at("disk of runs a digest", float64(st.RunBytes)/n, "B")
		at("disk at its highest on the way a digest", float64(b.diskPeak)/n, "B")
		at("runs", float64(st.Runs), "")
		at("records written by merges a digest, so far", float64(st.Merged)/n, "")
		at("new digests looked for on disk, on the way", 100*float64(st.FilterErrors-before.FilterErrors)/float64(3*(b.held-held)), "% of look-ups")
		at("99.99 pages of 100 take at most", b.within(0.9999), "us")
		at("longest Cut", float64(b.cutTook.Nanoseconds())/1e3, "us")
		at("longest Sync and Release", float64(b.syncTook.Nanoseconds())/1e6, "ms")
		at("open again, wall", opened.wall.Seconds()*1e3, "ms")
		at("open again, CPU", opened.cpu.Seconds()*1e3, "ms")
		fmt.Fprintf(o.Say, "seen: %d digests, %.0f pages/s, %.0f ns of CPU each, longest page %v, longest Cut %v, open again %v\n",
			size, p.PerSecond, p.CPUPerItem, p.LongestPause, b.cutTook, opened.wall.Round(time.Millisecond))
	}
	return nil
}

// fill handles pages until size digests are held, and ends with a cut.
func (b *seenBench) fill(ctx context.Context, size uint64) error {
	began := time.Now()
	for b.held < size {
		if b.held > 0 && b.rng.Uint64N(10) == 0 {
			if err := b.expect(b.known(), true); err != nil {
				return err
			}
		} else if err := b.page(b.held); err != nil {
			return err
		} else {
			b.held++
		}
		if err := b.m.Tend(); err != nil {
			return err
		}
		now := time.Now()
		b.pages.Done(1, now.Sub(began))
		b.slower[bits.Len64(uint64(now.Sub(began).Microseconds()))]++
		if b.handled++; b.handled%seenCutEvery == 0 || b.held == size {
			if err := errors.Join(b.checkpoint(), ctx.Err()); err != nil {
				return err
			}
			now = time.Now()
		}
		began = now
	}
	return nil
}

// within is the microseconds, rounded up to a power of two, that a share of the pages kept to.
func (b *seenBench) within(share float64) float64 {
	var all, n int64
	for _, c := range b.slower {
		all += c
	}
	for i, c := range b.slower {
		if n += c; float64(n) >= share*float64(all) {
			return float64(uint64(1) << i)
		}
	}
	return 0
}

// page is one with a new payload.
func (b *seenBench) page(i uint64) error {
	for range 2 {
		if err := b.expect(i, false); err != nil {
			return err
		}
	}
	_, fresh, err := b.m.Insert(b.digest(i), b.first(i))
	if err == nil && !fresh {
		err = fmt.Errorf("rooms: seen: payload %d is not new", i)
	}
	return err
}

// expect looks a payload up, which is there or is not.
func (b *seenBench) expect(i uint64, there bool) error {
	f, ok, err := b.m.Lookup(b.digest(i))
	if err == nil && (ok != there || ok && binary.LittleEndian.Uint64(f.RecordID[:]) != i) {
		err = fmt.Errorf("rooms: seen: payload %d of %d: there is %v, record %x", i, b.held, ok, f.RecordID)
	}
	return err
}

// checkpoint does what a crawl's does.
func (b *seenBench) checkpoint() (err error) {
	began := time.Now()
	if b.cut, err = b.m.Cut(); err != nil {
		return err
	}
	cut := time.Now()
	b.diskPeak = max(b.diskPeak, b.disk())
	err = errors.Join(b.m.Sync(), b.m.Release(b.cut))
	b.cutTook, b.syncTook = max(b.cutTook, cut.Sub(began)), max(b.syncTook, time.Since(cut))
	return err
}

// ask measures look-ups alone.
func (b *seenBench) ask(ctx context.Context, size int64) error {
	n := min(seenLookups, size)
	for _, kind := range []struct {
		meter  *growth.Meter
		number func(i int64) uint64
		there  bool
	}{
		{b.fresh, func(i int64) uint64 { return 1<<40 + uint64(size+i) }, false},
		{b.there, func(int64) uint64 { return b.rng.Uint64N(b.held) }, true},
	} {
		kind.meter.Resume()
		began := time.Now()
		for i := range n {
			if err := b.expect(kind.number(i), kind.there); err != nil {
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

// reopen measures how soon the map is there again after a kill.
func (b *seenBench) reopen() (took seenOpened, err error) {
	if err := b.m.Close(); err != nil {
		return took, err
	}
	began, cpu := time.Now(), growth.CPU()
	m, err := seen.Open(vfs.Disk(), b.o, &b.cut)
	if err != nil {
		return took, err
	}
	b.m = m
	return seenOpened{time.Since(began), growth.CPU() - cpu}, nil
}

// disk is the length of all files.
func (b *seenBench) disk() (sum int64) {
	files, err := os.ReadDir(b.o.Dir)
	if err != nil {
		return 0
	}
	for _, f := range files {
		if info, err := os.Stat(filepath.Join(b.o.Dir, f.Name())); err == nil {
			sum += info.Size()
		}
	}
	return sum
}
