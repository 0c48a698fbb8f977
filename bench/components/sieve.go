package components

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/bits"
	"sync"
	"time"

	"orbweaver/internal/vfs"
	"orbweaver/sieve"

	"github.com/zeebo/xxh3"
)

const (
	sieveBatch       = 64               // URLs that the producer adds between two waits for room: the links of a page
	sieveProgress    = 50_000_000       // URLs between two lines of progress
	sieveCheckpoints = 30 * time.Second // between two checkpoints, the default of a crawl
)

// sieveAdapter adds a stream like that of a crawl behind its cache: each new URL is followed by a known one, drawn
// evenly from all before it. Payloads have 36 to 129 bytes, 82 on average. Another goroutine flushes whenever a bucket
// is full, and makes a checkpoint every half minute. The adapter checks that each new URL leaves once, in order.
//
// Producer and flusher share only the sieve.
type sieveAdapter struct {
	*driver
	o     sieve.Options
	fsys  vfs.FS
	s     *sieve.Sieve
	meter *Meter

	// Of the producer.
	added      uint64 // new URLs so far
	state      uint64 // of the draws
	payload    [144]byte
	onProgress func(urls uint64)
	waited     time.Duration // for room, since the last Mark
	longest    time.Duration // of these waits

	// Of the flusher, and of the producer while no flusher runs.
	emitted        uint64
	flushed        sieve.FlushStats // since the last Mark
	checkpointed   *sieve.Checkpoint
	checkpointTime time.Time
	longestCut     time.Duration
	longestWrite   time.Duration
	diskPeak       int64
}

func openSieve(d *driver) (adapter, error) {
	a := &sieveAdapter{driver: d, o: sieve.Options{Dir: d.Dir, BucketBytes: d.Memory}, fsys: vfs.Disk(),
		checkpointTime: time.Now()}
	var err error
	if a.s, err = sieve.Open(a.fsys, a.o, nil); err != nil {
		return nil, err
	}
	a.meter = d.meter(fmt.Sprintf("add and flush, half of the URLs known, %d MiB of buckets", d.Memory>>20), "URLs held")
	return a, nil
}

func (a *sieveAdapter) close() error { return a.s.Close() }

// grow adds URLs up to a size.
func (a *sieveAdapter) grow(ctx context.Context, size int64) error {
	before := a.s.Stats()
	a.flushed, a.waited, a.longest, a.diskPeak = sieve.FlushStats{}, 0, 0, 0
	a.meter.Resume()
	began := time.Now()
	a.onProgress = func(n uint64) {
		a.progress("%d URLs on the way to %d after %v", n, size, time.Since(began).Round(time.Second))
	}
	if err := a.addUpTo(ctx, uint64(size)); err != nil {
		return err
	}
	took := time.Since(began)
	if a.emitted != uint64(size) || a.s.Len() != uint64(size) {
		return fmt.Errorf("%d new URLs were added, %d left the sieve, %d are held", size, a.emitted, a.s.Len())
	}
	p := a.meter.Mark(size)
	st, f := a.s.Stats(), a.flushed
	each := float64(max(st.Added-before.Added, 1))
	a.progress("%d URLs, %.0f/s, %.0f ns of CPU each, %d runs, %.2f B of disk (at most %.2f); ns each: sort %.0f, "+
		"mark %.0f, merge %.0f, emit %.0f; %.1f B written, %.0f B read each; waited for room %.0f %%, at most %v",
		size, p.PerSecond, p.CPUPerItem, st.Runs, p.DiskPerItem, float64(a.diskPeak)/float64(size),
		ns(f.Sort)/each, ns(f.Lookup)/each, ns(f.Merge)/each, ns(f.Emit)/each,
		float64(f.BytesWritten)/each, float64(f.BytesRead)/each,
		100*a.waited.Seconds()/took.Seconds(), a.longest.Round(time.Millisecond))
	return nil
}

// finish adds the figures of the last size, and measures how long the sieve takes to open after a kill.
func (a *sieveAdapter) finish() error {
	run, st := a.meter.Run, a.s.Stats()
	run.Add("sorted files", float64(st.Runs), "")
	run.Add("memory of their index", float64(st.IndexBytes), "B")
	run.Add("disk a URL, store only", float64(st.StoreBytes)/float64(max(st.Keys, 1)), "B")
	run.Add("disk a URL at its highest since the size before", float64(a.diskPeak)/float64(max(st.Keys, 1)), "B")
	run.Add("written to the store a URL held, in all", float64(st.BytesWritten)/float64(max(st.Keys, 1)), "B")
	run.Add("time in which the producer waited for room", a.waited.Seconds(), "s since the size before")
	run.Add("longest of these waits", a.longest.Seconds()*1e3, "ms")
	run.Add("longest Cut", ns(a.longestCut)/1e3, "us")
	run.Add("longest Write of a snapshot", a.longestWrite.Seconds()*1e3, "ms")
	if err := a.s.Close(); err != nil {
		return err
	}
	began := time.Now()
	s, err := sieve.Open(a.fsys, a.o, a.checkpointed)
	if err != nil {
		return err
	}
	a.s = s
	run.Add("time to open it again", time.Since(began).Seconds()*1e3, "ms")
	return nil
}

func ns(d time.Duration) float64 { return float64(d.Nanoseconds()) }

// addUpTo adds new URLs up to size while a flusher runs, and leaves nothing pending.
func (a *sieveAdapter) addUpTo(ctx context.Context, size uint64) error {
	ctx, stop := context.WithCancelCause(ctx)
	var flusher sync.WaitGroup
	done := make(chan struct{})
	flusher.Go(func() {
		if err := a.flushWhenFull(done); err != nil {
			stop(err)
		}
	})
	err := a.produce(ctx, size)
	close(done)
	flusher.Wait()
	if cause := context.Cause(ctx); cause != nil {
		err = cause
	}
	stop(nil)
	if err == nil {
		err = a.flush()
	}
	if err == nil {
		err = a.checkpoint()
	}
	return err
}

// produce adds URLs. Each batch is a step of the Meter.
func (a *sieveAdapter) produce(ctx context.Context, size uint64) error {
	for a.added < size {
		began := time.Now()
		if err := a.s.WaitRoom(ctx); err != nil {
			return err
		}
		ready := time.Now()
		if w := ready.Sub(began); w > time.Microsecond {
			a.waited += w
			a.longest = max(a.longest, w)
		}
		if a.added/sieveProgress != (a.added-min(a.added, sieveBatch/2))/sieveProgress {
			a.onProgress(a.added)
		}
		n := min(size-a.added, sieveBatch/2)
		for range n {
			a.add(a.added)
			a.added++
			a.state = mix(a.state + 1)
			known, _ := bits.Mul64(a.state, a.added)
			a.add(known)
		}
		a.meter.Done(2*int64(n), time.Since(ready))
		if err := context.Cause(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (a *sieveAdapter) add(number uint64) {
	hi := mix(number + a.Seed<<48)
	binary.LittleEndian.PutUint64(a.payload[:], number)
	a.s.Add(xxh3.Uint128{Hi: hi, Lo: mix(hi + 1)}, a.payload[:36+hi&31+hi>>5&31+hi>>10&31])
}

// mix is a bijection that spreads numbers as a hash does (the finisher of splitmix64).
func mix(i uint64) uint64 {
	i += 0x9e3779b97f4a7c15
	i = (i ^ i>>30) * 0xbf58476d1ce4e5b9
	i = (i ^ i>>27) * 0x94d049bb133111eb
	return i ^ i>>31
}

// flushWhenFull flushes whenever a bucket is full, until done is closed.
func (a *sieveAdapter) flushWhenFull(done <-chan struct{}) error {
	for {
		select {
		case <-a.s.Wake():
		case <-done:
			return nil
		}
		if err := a.flush(); err != nil {
			return err
		}
		if time.Since(a.checkpointTime) > sieveCheckpoints {
			if err := a.checkpoint(); err != nil {
				return err
			}
		}
	}
}

func (a *sieveAdapter) flush() error {
	st, err := a.s.Flush(func(payload []byte) error {
		if n := binary.LittleEndian.Uint64(payload); n != a.emitted {
			return fmt.Errorf("URL %d left the sieve where URL %d was due", n, a.emitted)
		}
		a.emitted++
		return nil
	})
	f := &a.flushed
	f.Sort, f.Lookup, f.Merge, f.Emit = f.Sort+st.Sort, f.Lookup+st.Lookup, f.Merge+st.Merge, f.Emit+st.Emit
	f.BytesRead, f.BytesWritten = f.BytesRead+st.BytesRead, f.BytesWritten+st.BytesWritten
	a.diskPeak = max(a.diskPeak, a.disk())
	return err
}

// checkpoint does the same as a checkpoint of a crawl.
func (a *sieveAdapter) checkpoint() error {
	began := time.Now()
	im, err := a.s.Snapshot()
	if err != nil {
		return err
	}
	a.longestCut = max(a.longestCut, time.Since(began))
	began = time.Now()
	c, err := im.Write()
	if err != nil {
		return err
	}
	a.longestWrite = max(a.longestWrite, time.Since(began))
	if err := a.s.Sync(); err != nil {
		return err
	}
	a.checkpointed, a.checkpointTime = &c, time.Now()
	return a.s.Release(c)
}
