package sieve

import (
	"context"
	"flag"
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"orbweaver/internal/vfs"

	"github.com/zeebo/xxh3"
)

// spread returns the fingerprint of the i-th URL without the cost of a hash.
func spread(i uint64) xxh3.Uint128 {
	i *= 0x9e3779b97f4a7c15
	i ^= i >> 29
	i *= 0xbf58476d1ce4e5b9
	return xxh3.Uint128{Hi: i ^ i>>32, Lo: i}
}

var (
	storeKeys = flag.Uint64("keys", 2_000_000, "of the store of BenchmarkSmallFlush")
	storeRuns = flag.Int("runs", 0, "most runs of that store; 0 is the default")
)

var benchURL = []byte("http://some.host.example/a/path/of/usual/length/index.html?id=123456")

// Add and Full, into buckets with some drawers and with many.
func BenchmarkAdd(b *testing.B) {
	for _, bucket := range []int64{64 << 20, 1 << 30} {
		b.Run(fmt.Sprintf("bucket=%dMiB", bucket>>20), func(b *testing.B) {
			s, err := Open(vfs.NewMem(1), Options{Dir: "sieve", BucketBytes: bucket}, nil)
			must(b, err)
			b.ReportAllocs()
			var i uint64
			for b.Loop() {
				i++
				s.Add(spread(i), benchURL)
				if s.Full() {
					b.StopTimer()
					s.buckets.filling.reset()
					b.StartTimer()
				}
			}
		})
	}
}

func BenchmarkSort(b *testing.B) {
	for _, n := range []int{30_000, 350_000, 5_500_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			d := newDrawers(int64(n) * entryBytes * 4 / 3)
			for i := range uint64(n) {
				d.add(keyOf(spread(i)), i)
			}
			d.distribute()
			var t sorter
			b.ReportAllocs()
			for b.Loop() {
				for i := range d.all {
					t.load(&d.all[i], d.shift)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/key")
		})
	}
}

func BenchmarkBlockDecode(b *testing.B) {
	k := ascending(1000, 1e9)
	width := widthFor(1e9)
	k = k.first(fitting(k.hi, width))
	src := make([]byte, blockBytes)
	encodeBlock(src, k, 0, width)
	var blk keyBlock
	b.SetBytes(blockBytes)
	b.ReportAllocs()
	for b.Loop() {
		if _, fault := blk.decode(src, 0); fault != "" {
			b.Fatal(fault)
		}
	}
	perKey(b, k.len())
}

func BenchmarkBlockEncode(b *testing.B) {
	k := ascending(1000, 1e9)
	width := widthFor(1e9)
	dst := make([]byte, blockBytes)
	b.SetBytes(blockBytes)
	for b.Loop() {
		encodeBlock(dst, k.first(fitting(k.hi, width)), 0, width)
	}
	perKey(b, fitting(k.hi, width))
}

// ascending returns n keys that are spread as in a run of `of` keys.
func ascending(n int, of float64) (k keys) {
	rng := newRand(uint64(n))
	for hi := uint64(0); k.len() < n; hi += uint64(rng.ExpFloat64()*math.MaxUint64/of) + 1 {
		k.hi, k.lo = append(k.hi, hi), append(k.lo, uint8(rng.Uint32()))
	}
	return k
}

func perKey(b *testing.B, n int) {
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/key")
}

// Merges a bucket with runs of one, two and four times its size, as a flush does.
func BenchmarkMerge(b *testing.B) {
	const n = 1_000_000
	s := open(b, vfs.Disk(), Options{Dir: b.TempDir()}, nil)
	next := uint64(0)
	for _, size := range []int{4 * n, 2 * n, n} {
		k := make([]key, size)
		for i := range k {
			k[i] = keyOf(spread(next))
			next++
		}
		slices.SortFunc(k, key.compare)
		f, err := s.files.create(kindRun)
		must(b, err)
		w := newRunWriter(f, uint64(size))
		must(b, w.add(flat(k)))
		r, err := w.finish()
		must(b, err)
		s.store.runs = append(s.store.runs, r)
	}
	d := newDrawers(n * entryBytes)
	for range n {
		d.add(keyOf(spread(next)), next)
		next++
	}
	d.distribute()
	var t sorter
	for i := range d.all {
		t.load(&d.all[i], d.shift)
		d.replace(&d.all[i], t.entries)
	}
	for b.Loop() {
		var st FlushStats
		r, err := s.store.merge(&d, s.store.runs, &st)
		must(b, err)
		s.files.drop(r.file)
	}
	perKey(b, 8*n)
}

// Looks up keys, half of them known, in a run of a million: few per block, and many.
func BenchmarkMark(b *testing.B) {
	const n = 1_000_000
	keys := make([]key, n)
	for i := range keys {
		keys[i] = keyOf(spread(uint64(i)))
	}
	slices.SortFunc(keys, key.compare)
	r := writeRun(b, vfs.NewMem(1), keys)
	for _, each := range []float64{0.3, 4, 30, 100, 200, 700} {
		b.Run(fmt.Sprint(each, " a block"), func(b *testing.B) {
			ask := make([]entry, int(each*float64(r.blocks())))
			for i := range ask {
				ask[i] = newEntry(keyOf(spread(uint64(i)*7919%(2*n))), uint64(i))
			}
			slices.SortFunc(ask, compareEntries)
			hits, ranks := make([]uint8, len(ask)), newByteRanks()
			for b.Loop() {
				must(b, newLookup(r, len(ask), ranks).find(ask, hits))
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(ask)), "ns/key")
		})
	}
}

// The whole way of a URL from Add to emit, on a real disk, amortised, into a growing store. Half of the URLs are known.
// One op is one URL.
func BenchmarkThrough(b *testing.B) {
	for _, bucket := range []int64{4 << 20, 64 << 20} {
		b.Run(fmt.Sprintf("bucket=%dMiB", bucket>>20), func(b *testing.B) {
			s, err := Open(vfs.Disk(), Options{Dir: b.TempDir(), BucketBytes: bucket}, nil)
			must(b, err)
			emit := func([]byte) error { return nil }
			b.ReportAllocs()
			var i uint64
			for b.Loop() {
				i++
				n := i
				if i&1 == 0 {
					n = i/2 | 1
				}
				s.Add(spread(n), benchURL)
				if s.Full() {
					if _, err := s.Flush(emit); err != nil {
						b.Fatal(err)
					}
				}
			}
			st := s.Stats()
			if st.Keys > 0 {
				b.ReportMetric(float64(st.StoreBytes)/float64(st.Keys), "storedB/key")
				b.ReportMetric(float64(st.BytesWritten)/float64(st.Keys), "writtenB/key")
			}
			must(b, s.Close())
		})
	}
}

// The time of a producer, waiting included, with a concurrent flusher.
func BenchmarkAddWhileFlushing(b *testing.B) {
	s, err := Open(vfs.Disk(), Options{Dir: b.TempDir(), BucketBytes: 16 << 20}, nil)
	must(b, err)
	ctx, stop := context.WithCancel(b.Context())
	done := make(chan error)
	go func() {
		for {
			select {
			case <-s.Wake():
				if _, err := s.Flush(func([]byte) error { return nil }); err != nil {
					done <- err
					return
				}
			case <-ctx.Done():
				done <- nil
				return
			}
		}
	}()
	b.ReportAllocs()
	var i uint64
	for b.Loop() {
		i++
		if i%64 == 0 {
			must(b, s.WaitRoom(ctx))
		}
		s.Add(spread(i), benchURL)
	}
	stop()
	must(b, <-done)
	must(b, s.Close())
}

// The time that a checkpoint blocks Add, with a full bucket.
func BenchmarkCut(b *testing.B) {
	s, err := Open(vfs.NewMem(1), Options{Dir: "sieve", BucketBytes: 256 << 20}, nil)
	must(b, err)
	for i := uint64(0); !s.Full(); i++ {
		s.Add(spread(i), benchURL)
	}
	b.ReportAllocs()
	for b.Loop() {
		im, err := s.Snapshot()
		must(b, err)
		im.Abandon()
	}
}

// Where a URL is, asked of a store of 10^7 URLs: what an operator's question costs.
func BenchmarkFind(b *testing.B) {
	s := open(b, vfs.NewMem(1), Options{Dir: "sieve", BucketBytes: 32 << 20}, nil)
	const known = 10_000_000
	for i := range uint64(known) {
		if s.Full() {
			if _, err := s.Flush(func([]byte) error { return nil }); err != nil {
				b.Fatal(err)
			}
		}
		s.Add(fpOf(i), []byte("/"))
	}
	b.ReportMetric(float64(s.Stats().Runs), "runs")
	n := uint64(0)
	for b.Loop() {
		n = (n + 7919) % (2 * known)
		if place, err := s.Find(fpOf(n)); err != nil || (place == Unknown) != (n >= known) {
			b.Fatal(n, place, err)
		}
	}
}

// evenKey is the i-th key of a run of n keys. All keys are divided into n equal parts, and each part has one.
func evenKey(i, n uint64) key {
	part := math.MaxUint64 / n
	r := spread(i ^ n<<32)
	return key{hi: i*part + r.Hi%part, lo: uint8(r.Lo >> 56)}
}

// fillStore makes the runs that full buckets leave: each has two thirds of the keys that are left, down to a
// hundredth of all.
func fillStore(b *testing.B, s *Sieve, total uint64) (largest uint64) {
	b.Helper()
	for left := total; left > total/100; {
		n := left * 13 / 20
		f, err := s.files.create(kindRun)
		must(b, err)
		w := newRunWriter(f, n)
		k := keys{hi: make([]uint64, 1<<16), lo: make([]uint8, 1<<16)}
		for i := uint64(0); i < n; {
			m := 0
			for ; m < len(k.hi) && i < n; m, i = m+1, i+1 {
				one := evenKey(i, n)
				k.hi[m], k.lo[m] = one.hi, one.lo
			}
			must(b, w.add(k.first(m)))
		}
		r, err := w.finish()
		must(b, err)
		s.store.runs = append(s.store.runs, r)
		largest = max(largest, n)
		left -= n
	}
	return largest
}

// Flushes few URLs, half of them known, of a store of many keys: what page requisites cause each second. A run of
// -benchtime 3600x is an hour of them. For a large store: -keys 1000000000.
func BenchmarkSmallFlush(b *testing.B) {
	for _, n := range []uint64{64, 1024} {
		b.Run(fmt.Sprintf("urls=%d", n), func(b *testing.B) {
			s := open(b, vfs.Disk(), Options{Dir: b.TempDir(), RunsMax: *storeRuns}, nil)
			known := fillStore(b, s, *storeKeys)
			runs := len(s.store.runs)
			var total FlushStats
			var longest time.Duration
			next, most := uint64(1<<40), int64(0)
			for b.Loop() {
				for i := range n {
					next++
					fp := spread(next)
					if i%2 == 1 {
						k := evenKey(fp.Hi%known, known)
						fp = xxh3.Uint128{Hi: k.hi, Lo: uint64(k.lo) << 56}
					}
					s.Add(fp, benchURL)
				}
				began := time.Now()
				st, err := s.Flush(func([]byte) error { return nil })
				must(b, err)
				longest, most = max(longest, time.Since(began)), max(most, st.BytesWritten)
				total.BytesWritten += st.BytesWritten
				total.BlocksRead += st.BlocksRead
				total.Known += st.Known + st.Duplicates
			}
			if 2*total.Known != n*uint64(b.N) {
				b.Fatalf("%d known of %d flushes", total.Known, b.N)
			}
			each := func(v float64, unit string) { b.ReportMetric(v/float64(b.N), unit) }
			each(float64(total.BytesWritten)/1024, "KiB-written/op")
			each(float64(total.BlocksRead), "blocks-read/op")
			b.ReportMetric(float64(most)/1024, "KiB-written-most")
			b.ReportMetric(float64(longest.Microseconds())/1000, "ms-longest")
			b.ReportMetric(float64(runs), "runs-before")
			b.ReportMetric(float64(len(s.store.runs)), "runs-after")
		})
	}
}
