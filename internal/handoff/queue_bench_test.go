package handoff

import (
	"fmt"
	"sync"
	"testing"
)

// batch is how many values come together: a Feeder that is busy has many, in a polite crawl it has one.
var batches = [...]int{1, 16}

// The queue beside a channel of pointers and a channel of Visits, which have 136 bytes.
type visit [17]uint64

// No goroutine waits: one puts values and takes them.
func BenchmarkNoWait(b *testing.B) {
	for _, n := range batches {
		values := make([]*visit, n)
		for i := range values {
			values[i] = new(visit)
		}
		b.Run(fmt.Sprintf("queue/%d", n), func(b *testing.B) {
			q := New[visit](1024)
			taker := q.NewTaker()
			for range b.N / n {
				q.Put(values)
				for range n {
					taker.Next()
				}
			}
		})
		b.Run(fmt.Sprintf("channel/%d", n), func(b *testing.B) {
			c := make(chan visit, 1024)
			for range b.N / n {
				for _, v := range values {
					c <- *v
				}
				for range n {
					<-c
				}
			}
		})
		b.Run(fmt.Sprintf("pointers/%d", n), func(b *testing.B) {
			c := make(chan *visit, 1024)
			for range b.N / n {
				for _, v := range values {
					c <- v
				}
				for range n {
					<-c
				}
			}
		})
	}
}

// Thousands of takers wait, and each value is waited for: the Feeder puts when what it put before is back.
func BenchmarkThousandsWait(b *testing.B) {
	const takers = 4000
	for _, n := range batches {
		values := make([]*visit, n)
		for i := range values {
			values[i] = new(visit)
		}
		b.Run(fmt.Sprintf("queue/%d", n), func(b *testing.B) {
			q, back := New[visit](1024), make(chan struct{}, n)
			var wg sync.WaitGroup
			for range takers {
				taker := q.NewTaker()
				wg.Go(func() {
					for _, ok := taker.Next(); ok; _, ok = taker.Next() {
						back <- struct{}{}
					}
				})
			}
			b.ResetTimer()
			for range b.N / n {
				q.Put(values)
				for range n {
					<-back
				}
			}
			b.StopTimer()
			q.Close()
			wg.Wait()
		})
		b.Run(fmt.Sprintf("channel/%d", n), func(b *testing.B) {
			c, back := make(chan visit, 1024), make(chan struct{}, n)
			benchmarkChannel(b, takers, c, back, func() {
				for _, v := range values {
					c <- *v
				}
			}, n)
		})
		b.Run(fmt.Sprintf("pointers/%d", n), func(b *testing.B) {
			c, back := make(chan *visit, 1024), make(chan struct{}, n)
			benchmarkChannel(b, takers, c, back, func() {
				for _, v := range values {
					c <- v
				}
			}, n)
		})
	}
}

func benchmarkChannel[T any](b *testing.B, takers int, c chan T, back chan struct{}, put func(), n int) {
	var wg sync.WaitGroup
	for range takers {
		wg.Go(func() {
			for range c {
				back <- struct{}{}
			}
		})
	}
	b.ResetTimer()
	for range b.N / n {
		put()
		for range n {
			<-back
		}
	}
	b.StopTimer()
	close(c)
	wg.Wait()
}
