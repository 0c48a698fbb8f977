package sieve

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"orbweaver/internal/vfs"

	"github.com/zeebo/xxh3"
)

// spread makes the fingerprint of the i-th URL without the cost of hashing one.
func spread(i uint64) xxh3.Uint128 {
	i *= 0x9e3779b97f4a7c15
	i ^= i >> 29
	i *= 0xbf58476d1ce4e5b9
	return xxh3.Uint128{Hi: i ^ i>>32, Lo: i}
}

var benchURL = []byte("http://some.host.example/a/path/of/usual/length/index.html?id=123456")

func BenchmarkAdd(b *testing.B) {
	s, err := Open(vfs.NewMem(1), Options{Dir: "sieve", BucketBytes: 64 << 20}, nil)
	must(b, err)
	b.ReportAllocs()
	var i uint64
	for b.Loop() {
		i++
		s.Add(spread(i), benchURL)
		if s.Full() {
			b.StopTimer()
			s.filling.reset()
			b.StartTimer()
		}
	}
}

func BenchmarkSort(b *testing.B) {
	for _, n := range []int{30_000, 350_000, 5_500_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			e := make([]entry, n)
			b.ReportAllocs()
			for b.Loop() {
				b.StopTimer()
				for i := range e {
					e[i] = newEntry(keyOf(spread(uint64(i))), uint64(i))
				}
				b.StartTimer()
				sortEntries(e)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/key")
		})
	}
}

func BenchmarkBlockDecode(b *testing.B) {
	var blk keyBlock
	width := widthFor(1e9)
	for i := uint64(0); ; i++ {
		k := key{hi: i << 34, lo: uint8(i)}
		if !blk.fits(k, width) {
			break
		}
		blk.add(k)
	}
	n := float64(blk.n)
	src := make([]byte, blockBytes)
	blk.encode(src, 0, width)
	b.SetBytes(blockBytes)
	b.ReportAllocs()
	for b.Loop() {
		if blk.decode(src, 0) != "" {
			b.Fatal("does not decode")
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/key")
}

// BenchmarkMark looks up keys, half of them known, in a run of a million: few for each block, and many.
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
			sortEntries(ask)
			known := make([]uint64, len(ask)/64+1)
			for b.Loop() {
				clear(known)
				var st FlushStats
				must(b, markKnown(r, ask, known, &st))
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(ask)), "ns/key")
		})
	}
}

// BenchmarkThrough is the whole way of a URL on a real disk, Add to emit, amortised, into a store that grows; half of
// the URLs are known. One op is one URL.
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

// BenchmarkAddWhileFlushing is what a producer pays, waits included, with a flusher beside it.
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

// BenchmarkCut is what stands between two Adds when a checkpoint comes, with a full bucket.
func BenchmarkCut(b *testing.B) {
	s, err := Open(vfs.NewMem(1), Options{Dir: "sieve", BucketBytes: 256 << 20}, nil)
	must(b, err)
	for i := uint64(0); !s.Full(); i++ {
		s.Add(spread(i), benchURL)
	}
	b.ReportAllocs()
	for b.Loop() {
		im, err := s.Cut()
		must(b, err)
		im.Abandon()
	}
}
