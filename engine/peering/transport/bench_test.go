package transport

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// urls are a batch as a crawl makes it: URLs of sixty bytes, of a few dozen hosts.
func urls(n int) []byte {
	rng := rand.New(rand.NewPCG(1, 2))
	var b []byte
	for range n {
		line := fmt.Appendf(nil, "http://www.host-%04d.example/articles/%d/%x", rng.IntN(40), 1990+rng.IntN(36), rng.Uint64())
		for len(line) < 59 {
			line = append(line, "abcdefghij"[rng.IntN(10)])
		}
		b = append(append(b, line[:59]...), '\n')
	}
	return b
}

// BenchmarkSend sends batches of a thousand URLs over loopback, both ends in this process, with four under way. CPU is
// that of both ends.
func BenchmarkSend(b *testing.B) {
	authority := newAuthority(b, "crawl-1")
	for name, options := range map[string]func(id string) Options{
		"TLS":   func(id string) Options { return Options{Identity: issue(b, authority, id, time.Hour)} },
		"plain": func(id string) Options { return Options{Self: id, Crawl: "crawl-1", Plain: true} },
	} {
		b.Run(name, func(b *testing.B) {
			one, _ := openTCP(b, options("one"))
			_, toTwo := openTCP(b, options("two"))
			const perBatch, atOnce = 1000, 4
			batch := urls(perBatch)
			if err := one.Send(b.Context(), toTwo, 0, batch); err != nil {
				b.Fatal(err)
			}
			turns := make(chan struct{})
			var sequence atomic.Uint64
			var all sync.WaitGroup
			b.SetBytes(int64(len(batch)))
			b.ReportAllocs()
			runtime.GC()
			cpu := processTime()
			b.ResetTimer()
			for range atOnce {
				all.Go(func() {
					for range turns {
						if err := one.Send(context.WithoutCancel(b.Context()), toTwo, sequence.Add(1), batch); err != nil {
							b.Error(err)
						}
					}
				})
			}
			for b.Loop() {
				turns <- struct{}{}
			}
			close(turns)
			all.Wait()
			spent := processTime() - cpu
			b.ReportMetric(float64(spent.Nanoseconds())/float64(b.N)/perBatch, "cpu-ns/URL")
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "batches/s")
		})
	}
}

// BenchmarkCall asks a question of 22 bytes over loopback, with an answer of 200 bytes. CPU is that of both ends.
func BenchmarkCall(b *testing.B) {
	authority := newAuthority(b, "crawl-1")
	for name, options := range map[string]func(id string) Options{
		"TLS":   func(id string) Options { return Options{Identity: issue(b, authority, id, time.Hour)} },
		"plain": func(id string) Options { return Options{Self: id, Crawl: "crawl-1", Plain: true} },
	} {
		b.Run(name, func(b *testing.B) {
			one, _ := openTCP(b, options("one"))
			answering := options("two")
			answer := make([]byte, 200)
			answering.Respond = func(context.Context, string, byte, []byte) ([]byte, error) { return answer, nil }
			_, toTwo := openTCP(b, answering)
			question := make([]byte, 22)
			cpu := processTime()
			for b.Loop() {
				if _, err := one.Call(b.Context(), toTwo, 'D', question); err != nil {
					b.Fatal(err)
				}
			}
			spent := processTime() - cpu
			b.ReportMetric(float64(spent.Microseconds())/float64(b.N), "cpu-us/question")
		})
	}
}
