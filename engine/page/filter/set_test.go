package filter

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"
)

// The set agrees with a map, whatever is added in which order, in groups of any size.
func TestStringSet_agreesWithAMap(t *testing.T) {
	for seed := range uint64(20) {
		random := rand.New(rand.NewPCG(seed, 0))
		var s stringSet
		model := map[string]bool{}
		if s.has(nil) || !s.empty() || s.len() != 0 {
			t.Fatal("the zero set has something")
		}
		for range 200 {
			group := make([]string, random.IntN(30))
			for i := range group {
				group[i] = fmt.Sprint(random.IntN(1 << (2 + seed)))
				model[group[i]] = true
			}
			s.add(group...)
			for range 50 {
				key := fmt.Sprint(random.IntN(1 << (2 + seed)))
				if s.has([]byte(key)) != model[key] {
					t.Fatalf("seed %d: has %q is %v", seed, key, !model[key])
				}
			}
		}
		if s.len() != len(model) || s.empty() {
			t.Fatalf("seed %d: %d strings, not %d", seed, s.len(), len(model))
		}
	}
}

// What was added is found by others from then on, also while the table grows.
func TestStringSet_isReadWhileItGrows(t *testing.T) {
	var s stringSet
	var readers sync.WaitGroup
	end := make(chan struct{})
	s.add("first")
	for range 4 {
		readers.Go(func() {
			for {
				select {
				case <-end:
					return
				default:
				}
				if !s.has([]byte("first")) || s.has([]byte("never")) {
					t.Error("a reader finds what is not there, or not what is")
					return
				}
			}
		})
	}
	for i := range 20_000 {
		key := fmt.Sprint(i)
		if s.add(key); !s.has([]byte(key)) {
			t.Fatal(key)
		}
	}
	close(end)
	readers.Wait()
}

// Adding strings one at a time costs the same each, however many there are: seeds that redirect are added so.
func TestStringSet_costsTheSameForEachString(t *testing.T) {
	var s stringSet
	bytesOf := func(from, n int) uint64 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for i := range n {
			s.add(fmt.Sprint(from + i))
		}
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	few := bytesOf(0, 5_000)
	bytesOf(5_000, 100_000)
	if many := bytesOf(105_000, 5_000); many > 3*few {
		t.Errorf("%d bytes are allocated for 5,000 strings, and %d behind 105,000", few, many)
	}
}

func BenchmarkStringSet(b *testing.B) {
	var s stringSet
	b.Run("add one", func(b *testing.B) {
		b.ReportAllocs()
		for i := range b.N {
			s.add(fmt.Sprint(i))
		}
	})
	for _, key := range []string{"77", "none"} {
		b.Run("has "+key, func(b *testing.B) {
			k := []byte(key)
			for b.Loop() {
				s.has(k)
			}
		})
	}
}
