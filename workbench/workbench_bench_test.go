package workbench

import (
	"encoding/binary"
	"fmt"
	"io"
	"net/netip"
	"testing"
	"time"
)

// crowd returns a workbench with n sites, four per IP, each with two items, as in the middle of a crawl.
func crowd(n int) (w *Workbench[*int], now time.Time) {
	w, now = New[*int](Options{}), start
	for i := range n {
		vs, _ := w.GetOrAdd(fmt.Appendf(nil, "https://www.example-%08d.org", i))
		w.Push(vs, []byte("/a/path/of/usual/length.html"))
		w.Push(vs, []byte("/another/path/of/usual/length.html"))
		w.Place(vs, address(i/4), now)
	}
	visits := w.Acquire(now, nil, n)
	for i := range visits {
		spread := time.Duration(i) * time.Microsecond
		w.Release(&visits[i], Release{Unused: visits[i].Items, SiteDue: now.Add(spread), IPDue: now.Add(spread)}, now)
	}
	return w, now
}

func address(n int) netip.Addr {
	var b [4]byte
	binary.BigEndian.PutUint32(b[:], uint32(n)+10<<24)
	return netip.AddrFrom4(b)
}

// The cost of one page in the workbench: a Visit is acquired and released, with one item used and one pushed.
func BenchmarkVisit(b *testing.B) {
	for _, n := range []int{100_000, 1_000_000} {
		w, now := crowd(n)
		b.Run(fmt.Sprintf("sites=%d", n), func(b *testing.B) {
			visits := make([]Visit[*int], 0, 64)
			item := []byte("/a/path/of/usual/length.html")
			done := 0
			b.ReportAllocs()
			for b.Loop() {
				if len(visits) == done {
					now = now.Add(10 * time.Millisecond)
					visits, done = w.Acquire(now, visits[:0], 64), 0
					if len(visits) == 0 {
						b.Fatal("nothing due")
					}
				}
				v := &visits[done]
				done++
				w.Push(v.VS, item)
				w.Release(
					v,
					Release{
						Unused:  v.Items[1:],
						SiteDue: now.Add(4 * time.Second),
						IPDue:   now.Add(500 * time.Millisecond),
					},
					now,
				)
			}
		})
	}
}

// Finding the site of a URL and pushing it.
func BenchmarkGetAndPush(b *testing.B) {
	w, _ := crowd(100_000)
	keys := make([][]byte, 4096)
	for i := range keys {
		keys[i] = fmt.Appendf(nil, "https://www.example-%08d.org", i*24)
	}
	item := []byte("/a/path/of/usual/length.html")
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		vs, _ := w.GetOrAdd(keys[i%len(keys)])
		w.Push(vs, item)
	}
}

func BenchmarkFront(b *testing.B) {
	w, now := crowd(1_000_000)
	for _, soon := range []time.Duration{100 * time.Microsecond, time.Second} {
		b.Run(soon.String(), func(b *testing.B) {
			for b.Loop() {
				w.DueTimes().Front(now, soon)
			}
		})
	}
}

// A snapshot: the time that the workbench is locked (cut), and the total time.
func BenchmarkSave(b *testing.B) {
	w, _ := crowd(1_000_000)
	site := func(dst []byte, _ **int) []byte { return append(dst, 1) }
	b.Run("cut", func(b *testing.B) {
		for b.Loop() {
			c, err := w.Snapshot(site)
			if err != nil {
				b.Fatal(err)
			}
			c.Abandon()
		}
	})
	b.Run("whole", func(b *testing.B) {
		for b.Loop() {
			if err := save(w, io.Discard, site); err != nil {
				b.Fatal(err)
			}
		}
	})
}
