package cputime

import (
	"runtime"
	"testing"
	"time"
)

// Waiting does not count as processor time; computing does.
func TestWaitingIsNoWork(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux tells the time of a thread")
	}
	if cost := Cost(10, 20, func() { <-time.After(100 * time.Millisecond) }, Reference); cost > 20 {
		t.Errorf("waiting for 100 ms costs as much as %.1f million steps", cost)
	}
	sum := 0
	work := func(n int) func() {
		return func() {
			for i := range n {
				sum += i ^ sum
			}
		}
	}
	if cost := Cost(10, 40, work(50_000_000), work(5_000_000)); cost < 2.5 || cost > 40 {
		t.Errorf("ten times the work costs %.1f times as much: %d", cost, sum)
	}
	square := func(n int) func() {
		return func() {
			for range n {
				work(n)()
			}
		}
	}
	if grows := Growth(3, 8, square(20_000), square(5_000)); grows <= 8 {
		t.Errorf("the square of four times the input costs only %.1f times as much", grows)
	}
}
