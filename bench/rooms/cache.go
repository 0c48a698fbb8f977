package rooms

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"orbweaver/bench/growth"
	"orbweaver/sieve/fpcache"

	"github.com/zeebo/xxh3"
)

const (
	cacheBatch = 1 << 16 // fingerprints made, then looked up with the clock on
	cacheTurns = 4       // look-ups for each URL of the web
)

// Cache asks a cache of each of the given sizes, in bytes, for the links of a web of o.URLs URLs on o.Hosts sites and
// puts in what it does not know, as the door of a crawl does: first with one goroutine and next to a true LRU of as many
// fingerprints and one of as many bytes, then with two. The largest one is saved, loaded and asked again.
func Cache(ctx context.Context, o Options, sizes []int64) (_ *growth.Result, err error) {
	away, err := o.in()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, away()) }()
	r := &growth.Result{Name: "cache"}
	for i, size := range sizes {
		for _, workers := range []int{1, 2} {
			b := &cacheBench{o: &o, c: fpcache.New(size, o.Seed), size: size}
			if err := b.measure(ctx, workers); err != nil {
				return nil, err
			}
			if workers == 1 && i == len(sizes)-1 {
				if err := b.restart(); err != nil {
					return nil, err
				}
			}
			r.Runs = append(r.Runs, b.run)
		}
	}
	return r, nil
}

type cacheBench struct {
	o       *Options
	c       *fpcache.Cache
	size    int64
	askers  []*asker
	run     *growth.Run
	handled int64
	wall    time.Duration
	cpu     time.Duration
}

// asker is one goroutine's part.
type asker struct {
	stream *linkStream
	batch  []xxh3.Uint128
	hits   int64
}

func (a *asker) ask(c *fpcache.Cache) {
	for _, fp := range a.batch {
		if c.Seen(fp) {
			a.hits++
		} else {
			c.Put(fp)
		}
	}
}

// round makes a batch for each asker and has all of them asked, with the clock on.
func (b *cacheBench) round(c *fpcache.Cache) {
	for _, a := range b.askers {
		a.stream.fill(a.batch)
	}
	began, before := time.Now(), growth.CPU()
	var wg sync.WaitGroup
	for _, a := range b.askers {
		wg.Go(func() { a.ask(c) })
	}
	wg.Wait()
	b.wall, b.cpu = b.wall+time.Since(began), b.cpu+growth.CPU()-before
	b.handled += int64(len(b.askers)) * cacheBatch
}

func (b *cacheBench) hits() (n int64) {
	for _, a := range b.askers {
		n += a.hits
	}
	return n
}

// measure asks until the web has been gone through some times. The rates of hits are those of the second half, when the
// cache is as full as it gets.
func (b *cacheBench) measure(ctx context.Context, workers int) error {
	for i := range workers {
		b.askers = append(b.askers, &asker{
			stream: newLinkStream(uint64(b.o.URLs), uint64(b.o.Hosts), b.o.Seed+uint64(i)),
			batch:  make([]xxh3.Uint128, cacheBatch),
		})
	}
	st := b.c.Stats()
	var others []*trueLRU
	var otherHits []int64
	if workers == 1 {
		others = []*trueLRU{newTrueLRU(int(st.Capacity)), newTrueLRU(int(max(st.Bytes/lruBytes, 1)))}
		otherHits = make([]int64, len(others))
	}
	var before, from int64 // hits and look-ups of the first half
	for total := max(b.o.URLs*cacheTurns, 2*int64(workers)*cacheBatch); b.handled < total; {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		b.round(b.c)
		for i, l := range others {
			otherHits[i] += l.ask(b.askers[0].batch)
		}
		if from == 0 && b.handled >= total/2 {
			before, from = b.hits(), b.handled
			clear(otherHits)
		}
	}
	percent := func(hits int64) float64 { return 100 * float64(hits) / float64(max(b.handled-from, 1)) }
	b.run = &growth.Run{Name: fmt.Sprintf("%d MiB, goroutines: %d", b.size>>20, workers), Items: "look-ups"}
	n := float64(b.handled)
	b.run.Points = []growth.Point{{
		Items: b.handled, PerSecond: n / b.wall.Seconds(), CPUPerItem: float64(b.cpu.Nanoseconds()) / n,
	}}
	b.run.Add("fingerprints that fit", float64(st.Capacity), "")
	b.run.Add("memory of one", float64(st.Bytes)/float64(st.Capacity), "B")
	b.run.Add("hits", percent(b.hits()-before), "%")
	for i, what := range []string{"fingerprints", "bytes"}[:len(others)] {
		b.run.Add("hits of a true LRU of as many "+what, percent(otherHits[i]), "%")
	}
	fmt.Fprintf(b.o.Say, "cache: %s: %.3g look-ups/s, %.2f %% hits\n", b.run.Name, b.run.Points[0].PerSecond, percent(b.hits()-before))
	return nil
}

// restart saves the cache, loads it, and asks the cache that was saved, the one that was loaded and an empty one the same.
func (b *cacheBench) restart() error {
	name := filepath.Join(b.o.Dir, "cache")
	began := time.Now()
	f, err := os.Create(name)
	if err != nil {
		return fmt.Errorf("rooms: %w", err)
	}
	w := bufio.NewWriterSize(f, 1<<20)
	if err := errors.Join(b.c.Save(w), w.Flush(), f.Close()); err != nil {
		return fmt.Errorf("rooms: cache: %w", err)
	}
	b.run.Add("time to save", time.Since(began).Seconds()*1e3, "ms")
	began = time.Now()
	if f, err = os.Open(name); err != nil {
		return fmt.Errorf("rooms: %w", err)
	}
	loaded, err := fpcache.Load(bufio.NewReaderSize(f, 1<<20))
	if err := errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("rooms: cache: %w", err)
	}
	b.run.Add("time to load", time.Since(began).Seconds()*1e3, "ms")
	a := b.askers[0]
	a.stream.fill(a.batch)
	for _, c := range []struct {
		what string
		c    *fpcache.Cache
	}{{"the one saved", b.c}, {"the one loaded", loaded}, {"an empty one", fpcache.New(b.size, b.o.Seed)}} {
		a.hits = 0
		a.ask(c.c)
		b.run.Add("hits of the next "+fmt.Sprint(cacheBatch)+", "+c.what, 100*float64(a.hits)/cacheBatch, "%")
	}
	return nil
}
