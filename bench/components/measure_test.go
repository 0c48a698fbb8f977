package components

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// A component grows to two sizes, slower on the way to the second. Time between two curves does not count.
func TestPointDescribesTimeSincePointBefore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		disk := int64(0)
		m := NewMeter("put", "URLs", func() int64 { return disk })
		put := func(n int64, each time.Duration) {
			<-time.After(time.Duration(n) * each)
			m.Done(n, each)
			disk += 5 * n
		}
		put(1000, time.Millisecond)
		first := m.Mark(1000)
		<-time.After(time.Hour)
		m.Resume()
		put(500, 2*time.Millisecond)
		m.Except(func() { <-time.After(time.Hour) })
		put(500, 2*time.Millisecond)
		second := m.Mark(2000)
		if first.PerSecond != 1000 || second.PerSecond != 500 || first.LongestPause != time.Millisecond ||
			second.LongestPause != 2*time.Millisecond || first.DiskPerItem != 5 || second.DiskPerItem != 5 ||
			second.Items != 2000 {
			t.Errorf("%+v\n%+v", first, second)
		}
		var out strings.Builder
		m.Run.Add("bytes kept of a key", 9, "B")
		(&Result{Name: "sieve", Runs: []*Run{m.Run}}).Print(&out)
		for _, want := range []string{"sieve: put", "URLs", "2000            500", "bytes kept of a key"} {
			if !strings.Contains(out.String(), want) {
				t.Errorf("%q is missing in\n%s", want, out.String())
			}
		}
	})
}

// The memory of an item is found in the heap.
func TestMemoryOfAnItem(t *testing.T) {
	m := NewMeter("put", "items", nil)
	kept := make([][]byte, 10_000)
	for i := range kept {
		kept[i] = make([]byte, 1000)
	}
	m.Done(int64(len(kept)), 0)
	if p := m.Mark(int64(len(kept))); p.MemoryPerItem < 1000 || p.MemoryPerItem > 1200 {
		t.Errorf("%.0f bytes an item of 1000, and a slice header", p.MemoryPerItem)
	}
	if kept[1] == nil {
		t.Error("it was kept until here")
	}
}

func TestSizes(t *testing.T) {
	for last, want := range map[int64]int{1: 1, 1e6: 1, 1e8: 3, 3e8: 4} {
		if s := Sizes(last); len(s) != want || s[len(s)-1] != last {
			t.Error(last, s)
		}
	}
}
