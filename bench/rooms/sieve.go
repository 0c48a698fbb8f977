package rooms

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
	"os"
	"path/filepath"
	"sync"
	"time"

	"orbweaver/bench/growth"
	"orbweaver/internal/vfs"
	"orbweaver/sieve"

	"github.com/zeebo/xxh3"
)

const (
	sieveBatch = 64               // URLs a producer adds between two looks for room: the links of a page
	sieveSay   = 50_000_000       // URLs between two signs of life
	sieveCuts  = 30 * time.Second // between two cuts, as a crawl has them by default
)

// Sieve adds a stream like a crawl's behind its cache to a sieve of the given memory until it holds o.URLs: each new URL
// is followed by one that is known already, drawn evenly from all before it, and payloads are 36 to 129 bytes, 82 on
// average. Another goroutine flushes whenever a bucket is full, and cuts, syncs and releases every half minute. That
// what comes out is each new URL once, in order, is checked on the way.
func Sieve(ctx context.Context, o Options, memory int64) (*growth.Result, error) {
	away, err := o.in()
	if err != nil {
		return nil, err
	}
	b := &sieveBench{o: sieve.Options{Dir: o.Dir, BucketBytes: memory}, fsys: vfs.Disk(), seed: o.Seed}
	if b.s, err = sieve.Open(b.fsys, b.o, nil); err != nil {
		return nil, errors.Join(err, away())
	}
	b.meter = growth.NewMeter(fmt.Sprintf("add and flush, half of the URLs known, %d MiB of buckets", memory>>20), "URLs held", b.disk)
	err = b.grow(ctx, &o)
	if err == nil {
		err = b.reopen()
	}
	return &growth.Result{Name: "sieve", Runs: []*growth.Run{b.meter.Run}}, errors.Join(err, b.s.Close(), away())
}

// sieveBench is the state of the benchmark. The producer and the flusher share only the sieve, and what stands below mu.
type sieveBench struct {
	o     sieve.Options
	fsys  vfs.FS
	s     *sieve.Sieve
	seed  uint64
	meter *growth.Meter

	// The producer's.
	added   uint64 // new URLs so far
	state   uint64 // of the draws
	payload [144]byte
	say     func(urls uint64)
	waited  time.Duration // for room, since the last mark
	longest time.Duration // of these waits

	// The flusher's, and the producer's while no flusher runs.
	emitted  uint64
	flushed  sieve.FlushStats // since the last mark
	cut      *sieve.Cut
	cutAt    time.Time
	cutTook  time.Duration // the longest
	imageIO  time.Duration // the longest Write
	diskPeak int64
}

// grow feeds the sieve size by size.
func (b *sieveBench) grow(ctx context.Context, o *Options) error {
	run := b.meter.Run
	b.cutAt = time.Now()
	for _, size := range growth.Sizes(o.URLs) {
		before := b.s.Stats()
		b.flushed, b.waited, b.longest, b.diskPeak = sieve.FlushStats{}, 0, 0, 0
		b.meter.Resume()
		began := time.Now()
		b.say = func(n uint64) {
			fmt.Fprintf(o.Say, "sieve: %d URLs on the way to %d after %v\n", n, size, time.Since(began).Round(time.Second))
		}
		if err := b.stretch(ctx, uint64(size)); err != nil {
			return err
		}
		took := time.Since(began)
		if b.emitted != uint64(size) || b.s.Len() != uint64(size) {
			return fmt.Errorf("rooms: sieve: %d new URLs were added, %d came out, %d are held", size, b.emitted, b.s.Len())
		}
		p := b.meter.Mark(size)
		st, f := b.s.Stats(), b.flushed
		each := float64(max(st.Added-before.Added, 1))
		fmt.Fprintf(o.Say, "sieve: %d URLs, %.0f/s, %.0f ns of CPU each, %d runs, %.2f B of disk (at most %.2f); ns each: sort %.0f, "+
			"mark %.0f, merge %.0f, emit %.0f; %.1f B written, %.0f B read each; waited for room %.0f %%, at most %v\n",
			size, p.PerSecond, p.CPUPerItem, st.Runs, p.DiskPerItem, float64(b.diskPeak)/float64(size), ns(f.Sort)/each, ns(f.Mark)/each,
			ns(f.Merge)/each, ns(f.Emit)/each, float64(f.BytesWritten)/each, float64(f.BytesRead)/each,
			100*b.waited.Seconds()/took.Seconds(), b.longest.Round(time.Millisecond))
	}
	st := b.s.Stats()
	run.Add("sorted files", float64(st.Runs), "")
	run.Add("memory of their index", float64(st.IndexBytes), "B")
	run.Add("disk a URL, store only", float64(st.StoreBytes)/float64(max(st.Keys, 1)), "B")
	run.Add("disk a URL at its highest in the last stretch", float64(b.diskPeak)/float64(max(st.Keys, 1)), "B")
	run.Add("written to the store a URL held, in all", float64(st.BytesWritten)/float64(max(st.Keys, 1)), "B")
	run.Add("time in which the producer waited for room", b.waited.Seconds(), "s of the last stretch")
	run.Add("longest of these waits", b.longest.Seconds()*1e3, "ms")
	run.Add("longest Cut", float64(b.cutTook.Nanoseconds())/1e3, "us")
	run.Add("longest Write of an image", b.imageIO.Seconds()*1e3, "ms")
	return nil
}

func ns(d time.Duration) float64 { return float64(d.Nanoseconds()) }

// stretch adds new URLs up to size, with a flusher beside, and leaves nothing pending.
func (b *sieveBench) stretch(ctx context.Context, size uint64) error {
	ctx, stop := context.WithCancelCause(ctx)
	var flusher sync.WaitGroup
	full := make(chan struct{})
	flusher.Go(func() {
		if err := b.flushing(full); err != nil {
			stop(err)
		}
	})
	err := b.produce(ctx, size)
	close(full)
	flusher.Wait()
	if cause := context.Cause(ctx); cause != nil {
		err = cause
	}
	stop(nil)
	if err == nil {
		err = b.flush()
	}
	if err == nil {
		err = b.checkpoint()
	}
	return err
}

// produce is the one who is measured: a batch of Adds is a step.
func (b *sieveBench) produce(ctx context.Context, size uint64) error {
	for b.added < size {
		began := time.Now()
		if err := b.s.WaitRoom(ctx); err != nil {
			return err
		}
		ready := time.Now()
		if w := ready.Sub(began); w > time.Microsecond {
			b.waited += w
			b.longest = max(b.longest, w)
		}
		if b.added/sieveSay != (b.added-min(b.added, sieveBatch/2))/sieveSay {
			b.say(b.added)
		}
		n := min(size-b.added, sieveBatch/2)
		for range n {
			b.add(b.added)
			b.added++
			b.state = mix(b.state + 1)
			known, _ := bits.Mul64(b.state, b.added)
			b.add(known)
		}
		b.meter.Done(2*int64(n), time.Since(ready))
		if err := context.Cause(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (b *sieveBench) add(number uint64) {
	hi := mix(number + b.seed<<48)
	binary.LittleEndian.PutUint64(b.payload[:], number)
	b.s.Add(xxh3.Uint128{Hi: hi, Lo: mix(hi + 1)}, b.payload[:36+hi&31+hi>>5&31+hi>>10&31])
}

// mix is a bijection that spreads numbers as a hash does (the finisher of splitmix64).
func mix(i uint64) uint64 {
	i += 0x9e3779b97f4a7c15
	i = (i ^ i>>30) * 0xbf58476d1ce4e5b9
	i = (i ^ i>>27) * 0x94d049bb133111eb
	return i ^ i>>31
}

// flushing flushes whenever a bucket is full, until told that no more comes.
func (b *sieveBench) flushing(full <-chan struct{}) error {
	for {
		select {
		case <-b.s.Wake():
		case <-full:
			return nil
		}
		if err := b.flush(); err != nil {
			return err
		}
		if time.Since(b.cutAt) > sieveCuts {
			if err := b.checkpoint(); err != nil {
				return err
			}
		}
	}
}

func (b *sieveBench) flush() error {
	st, err := b.s.Flush(func(payload []byte) error {
		if n := binary.LittleEndian.Uint64(payload); n != b.emitted {
			return fmt.Errorf("rooms: sieve: URL %d came out where URL %d was due", n, b.emitted)
		}
		b.emitted++
		return nil
	})
	f := &b.flushed
	f.Sort, f.Mark, f.Merge, f.Emit = f.Sort+st.Sort, f.Mark+st.Mark, f.Merge+st.Merge, f.Emit+st.Emit
	f.BytesRead, f.BytesWritten = f.BytesRead+st.BytesRead, f.BytesWritten+st.BytesWritten
	b.diskPeak = max(b.diskPeak, b.disk())
	return err
}

// checkpoint does what a crawl's does.
func (b *sieveBench) checkpoint() error {
	began := time.Now()
	im, err := b.s.Cut()
	if err != nil {
		return err
	}
	b.cutTook = max(b.cutTook, time.Since(began))
	began = time.Now()
	c, err := im.Write()
	if err != nil {
		return err
	}
	b.imageIO = max(b.imageIO, time.Since(began))
	if err := b.s.Sync(); err != nil {
		return err
	}
	b.cut, b.cutAt = &c, time.Now()
	return b.s.Release(c)
}

// reopen measures how soon the sieve is there again after a kill.
func (b *sieveBench) reopen() error {
	if err := b.s.Close(); err != nil {
		return err
	}
	began := time.Now()
	s, err := sieve.Open(b.fsys, b.o, b.cut)
	if err != nil {
		return err
	}
	b.s = s
	b.meter.Run.Add("time to open it again", time.Since(began).Seconds()*1e3, "ms")
	return nil
}

// disk is the length of all files.
func (b *sieveBench) disk() (sum int64) {
	entries, err := os.ReadDir(b.o.Dir)
	if err != nil {
		return 0
	}
	for _, e := range entries {
		if info, err := os.Stat(filepath.Join(b.o.Dir, e.Name())); err == nil {
			sum += info.Size()
		}
	}
	return sum
}
