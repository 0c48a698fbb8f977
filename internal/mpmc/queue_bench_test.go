package mpmc

import (
	"context"
	"sync"
	"testing"
)

// visit has about the size of what the engine's queues hold.
type visit [17]uint64

// sink keeps the taken value alive, so that the compiler keeps the copy.
var sink visit

func BenchmarkNobodyWaits(b *testing.B) {
	ctx := context.Background()
	b.Run("queue", func(b *testing.B) {
		q := New[visit](1024)
		b.ReportAllocs()
		for b.Loop() {
			_ = q.Put(ctx, visit{})
			sink, _ = q.TakeNext(ctx)
		}
	})
	b.Run("channel", func(b *testing.B) {
		c := make(chan visit, 1024)
		b.ReportAllocs()
		for b.Loop() {
			c <- visit{}
			sink = <-c
		}
	})
}

func BenchmarkNobodyWaitsParallel(b *testing.B) {
	ctx := context.Background()
	b.Run("queue", func(b *testing.B) {
		q := New[visit](1024)
		b.RunParallel(func(p *testing.PB) {
			var got visit
			for p.Next() {
				_ = q.Put(ctx, visit{})
				got, _ = q.TakeNext(ctx)
			}
			_ = got
		})
	})
	b.Run("channel", func(b *testing.B) {
		c := make(chan visit, 1024)
		b.RunParallel(func(p *testing.PB) {
			var got visit
			for p.Next() {
				c <- visit{}
				got = <-c
			}
			_ = got
		})
	})
}

// One producer, four thousand consumers that wait: the todo queue of a polite crawl.
func BenchmarkThousandsWait(b *testing.B) {
	const takers, capacity = 4000, 1024
	ctx := context.Background()
	b.Run("queue", func(b *testing.B) {
		q := New[visit](capacity)
		var wg sync.WaitGroup
		for range takers {
			wg.Go(func() {
				for {
					if _, err := q.TakeNext(ctx); err != nil {
						return
					}
				}
			})
		}
		b.ReportAllocs()
		for b.Loop() {
			_ = q.Put(ctx, visit{})
		}
		b.StopTimer()
		q.Close()
		wg.Wait()
	})
	b.Run("channel", func(b *testing.B) {
		c := make(chan visit, capacity)
		var wg sync.WaitGroup
		for range takers {
			wg.Go(func() {
				for range c {
				}
			})
		}
		b.ReportAllocs()
		for b.Loop() {
			c <- visit{}
		}
		b.StopTimer()
		close(c)
		wg.Wait()
	})
}

// The same with waiting for each value: the producer continues when it has been taken.
func BenchmarkThousandsWaitRoundTrip(b *testing.B) {
	const takers = 4000
	ctx := context.Background()
	b.Run("queue", func(b *testing.B) {
		q, back := New[visit](1024), New[visit](1024)
		var wg sync.WaitGroup
		for range takers {
			wg.Go(func() {
				for {
					v, err := q.TakeNext(ctx)
					if err != nil {
						return
					}
					_ = back.Put(ctx, v)
				}
			})
		}
		b.ReportAllocs()
		for b.Loop() {
			_ = q.Put(ctx, visit{})
			_, _ = back.TakeNext(ctx)
		}
		b.StopTimer()
		q.Close()
		wg.Wait()
	})
	b.Run("channel", func(b *testing.B) {
		c, back := make(chan visit, 1024), make(chan visit, 1024)
		var wg sync.WaitGroup
		for range takers {
			wg.Go(func() {
				for v := range c {
					back <- v
				}
			})
		}
		b.ReportAllocs()
		for b.Loop() {
			c <- visit{}
			<-back
		}
		b.StopTimer()
		close(c)
		wg.Wait()
	})
}
