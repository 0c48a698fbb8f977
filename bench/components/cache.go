package components

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"orbweaver/internal/cputime"
	"orbweaver/sieve/fpcache"

	"github.com/zeebo/xxh3"
)

const (
	cacheBatch  = 1 << 16 // fingerprints made in advance and then looked up
	cachePasses = 4       // look-ups for each URL of the web
)

// cacheAdapter measures caches of several sizes, up to Options.Memory. It looks up the links of a web of Options.URLs
// URLs on Options.Hosts sites and inserts what the cache does not know, as admission does: first in one goroutine and
// beside two true LRUs, one with as many fingerprints and one with as many bytes, then in two goroutines. It saves and
// loads the largest cache and repeats the look-ups.
type cacheAdapter struct{ *driver }

func openCache(d *driver) (adapter, error) { return cacheAdapter{d}, nil }

// cacheSizes are in bytes. Each is a quarter of the next.
func cacheSizes(o *Options) []int64 {
	return []int64{o.Memory / 64, o.Memory / 16, o.Memory / 4, o.Memory}
}

func (a cacheAdapter) finish() error { return nil }
func (a cacheAdapter) close() error  { return nil }

// grow measures caches of this size.
func (a cacheAdapter) grow(ctx context.Context, size int64) error {
	for _, workers := range []int{1, 2} {
		m := &cacheMeasurement{driver: a.driver, c: fpcache.New(size, a.Seed), size: size}
		if err := m.measure(ctx, workers); err != nil {
			return err
		}
		if workers == 1 && size == a.Memory {
			if err := m.restart(); err != nil {
				return err
			}
		}
	}
	return nil
}

// cacheMeasurement is one cache, used by a number of goroutines.
type cacheMeasurement struct {
	*driver
	c       *fpcache.Cache
	size    int64
	workers []*cacheWorker
	run     *Run
	handled int64
	wall    time.Duration
	cpu     time.Duration
}

// cacheWorker is the state of one goroutine.
type cacheWorker struct {
	stream *linkStream
	batch  []xxh3.Uint128
	hits   int64
}

func (w *cacheWorker) lookUp(c *fpcache.Cache) {
	for _, fp := range w.batch {
		if c.Seen(fp) {
			w.hits++
		} else {
			c.Put(fp)
		}
	}
}

// batch makes a batch for each worker, and measures the look-ups.
func (m *cacheMeasurement) batch() {
	for _, w := range m.workers {
		w.stream.fill(w.batch)
	}
	began, before := time.Now(), cputime.Process()
	var wg sync.WaitGroup
	for _, w := range m.workers {
		wg.Go(func() { w.lookUp(m.c) })
	}
	wg.Wait()
	m.wall, m.cpu = m.wall+time.Since(began), m.cpu+cputime.Process()-before
	m.handled += int64(len(m.workers)) * cacheBatch
}

func (m *cacheMeasurement) hits() (n int64) {
	for _, w := range m.workers {
		n += w.hits
	}
	return n
}

// measure looks links up until there were cachePasses for each URL. Hit rates are those of the second half, when the
// cache is full.
func (m *cacheMeasurement) measure(ctx context.Context, workers int) error {
	for i := range workers {
		m.workers = append(m.workers, &cacheWorker{
			stream: newLinkStream(uint64(m.URLs), uint64(m.Hosts), m.Seed+uint64(i)),
			batch:  make([]xxh3.Uint128, cacheBatch),
		})
	}
	st := m.c.Stats()
	var others []*trueLRU
	var otherHits []int64
	if workers == 1 {
		others = []*trueLRU{newTrueLRU(int(st.Capacity)), newTrueLRU(int(max(st.Bytes/lruBytes, 1)))}
		otherHits = make([]int64, len(others))
	}
	var before, from int64 // hits and look-ups of the first half
	for total := max(m.URLs*cachePasses, 2*int64(workers)*cacheBatch); m.handled < total; {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		m.batch()
		for i, l := range others {
			otherHits[i] += l.ask(m.workers[0].batch)
		}
		if from == 0 && m.handled >= total/2 {
			before, from = m.hits(), m.handled
			clear(otherHits)
		}
	}
	percent := func(hits int64) float64 { return 100 * float64(hits) / float64(max(m.handled-from, 1)) }
	m.run = m.driver.run(fmt.Sprintf("%d MiB, goroutines: %d", m.size>>20, workers), "look-ups")
	n := float64(m.handled)
	m.run.Points = []Point{{
		Items: m.handled, PerSecond: n / m.wall.Seconds(), CPUPerItem: float64(m.cpu.Nanoseconds()) / n,
	}}
	m.run.Add("fingerprints that fit", float64(st.Capacity), "")
	m.run.Add("memory of a fingerprint", float64(st.Bytes)/float64(st.Capacity), "B")
	m.run.Add("hits", percent(m.hits()-before), "%")
	for i, what := range []string{"fingerprints", "bytes"}[:len(others)] {
		m.run.Add("hits of a true LRU of as many "+what, percent(otherHits[i]), "%")
	}
	m.progress("%s: %.3g look-ups/s, %.2f %% hits", m.run.Name, m.run.Points[0].PerSecond, percent(m.hits()-before))
	return nil
}

// restart saves the cache and loads it. The saved, the loaded and an empty cache then get the same look-ups.
func (m *cacheMeasurement) restart() error {
	name := filepath.Join(m.Dir, "cache")
	began := time.Now()
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	w := bufio.NewWriterSize(f, 1<<20)
	if err := errors.Join(m.c.Save(w), w.Flush(), f.Close()); err != nil {
		return err
	}
	m.run.Add("time to save", time.Since(began).Seconds()*1e3, "ms")
	began = time.Now()
	if f, err = os.Open(name); err != nil {
		return err
	}
	loaded, err := fpcache.Load(bufio.NewReaderSize(f, 1<<20))
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	m.run.Add("time to load", time.Since(began).Seconds()*1e3, "ms")
	worker := m.workers[0]
	worker.stream.fill(worker.batch)
	for _, c := range []struct {
		what string
		c    *fpcache.Cache
	}{{"the saved cache", m.c}, {"the loaded cache", loaded}, {"an empty cache", fpcache.New(m.size, m.Seed)}} {
		worker.hits = 0
		worker.lookUp(c.c)
		m.run.Add("hits of the next "+fmt.Sprint(cacheBatch)+", "+c.what, 100*float64(worker.hits)/cacheBatch, "%")
	}
	return nil
}
