package cputime

import (
	"runtime"
	"testing"
	"time"
)

// What is waited for costs nothing, what is computed does.
func TestWaitingIsNoWork(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux tells the time of a thread")
	}
	if took := Best(1, func() { <-time.After(100 * time.Millisecond) }); took > 50*time.Millisecond {
		t.Errorf("waiting for 100 ms takes %v of a processor", took)
	}
	sum := 0
	work := func(n int) func() {
		return func() {
			for i := range n {
				sum += i ^ sum
			}
		}
	}
	if one, ten := Best(5, work(5_000_000)), Best(5, work(50_000_000)); one <= 0 || ten < 4*one || ten > 40*one {
		t.Errorf("%v, and ten times the work takes %v: %d", one, ten, sum)
	}
}
