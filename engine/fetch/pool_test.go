package fetch

import (
	"context"
	"errors"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"
)

// mustPanic runs f and checks that it does not come back.
func mustPanic(t *testing.T, what string, f func()) {
	t.Helper()
	defer func() {
		if recover() == nil {
			t.Errorf("%s is not noticed", what)
		}
	}()
	f()
}

// B1: every page is in the pool or has one owner; at Close all are home.
func TestB1_PagesComeHome(t *testing.T) {
	pool := NewPool(PoolOptions{Pages: 2})
	a, b := pool.TryGet(), pool.TryGet()
	if a == nil || b == nil || a == b || pool.TryGet() != nil {
		t.Fatal("two pages are two pages")
	}
	mustPanic(t, "a page that is out at Close", pool.Close)
	pool.Put(a)
	mustPanic(t, "a page put back twice", func() { pool.Put(a) })
	other := NewPool(PoolOptions{Pages: 1})
	mustPanic(t, "a page put into another pool", func() { other.Put(b) })
	pool.Put(b)
	pool.Close()
	other.Close()
}

// Get waits for a page, and no longer than its context.
func TestPoolGetWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := NewPool(PoolOptions{Pages: 1})
		page, _ := pool.Get(t.Context())
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := pool.Get(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
		time.AfterFunc(time.Second, func() { pool.Put(page) })
		again, err := pool.Get(t.Context())
		if err != nil {
			t.Error(err)
		}
		pool.Put(again)
		pool.Close()
	})
}

// The engine's part stays with a page. What came with the last exchange does not.
func TestPutKeepsEngine(t *testing.T) {
	pool := NewPool(PoolOptions{Pages: 3})
	page := pool.TryGet()
	own := new(int)
	page.Engine = own
	page.Raw = []byte("HTTP/1.1 200 OK")
	pool.Put(page)
	for range 3 {
		p := pool.TryGet()
		if p.Raw != nil {
			t.Error("a page has what came with its last exchange")
		}
		if mine := p.Engine == any(own); mine != (p == page) {
			t.Errorf("the engine's part is %v", p.Engine)
		}
	}
}

// The tiers against a plain count: never more buffers than allowed, each lent once, large enough, and content kept.
func TestBuffersModel(t *testing.T) {
	o := PoolOptions{
		Pages:       8,
		InlineBytes: 4 << 10,
		Inlines:     4,
		MidBytes:    8 << 10,
		Mids:        3,
		SlabBytes:   16 << 10,
		Slabs:       2,
	}
	pool := NewPool(o)
	rng := rand.New(rand.NewPCG(1, 2))
	sizes, counts := []int{o.InlineBytes, o.MidBytes, o.SlabBytes}, []int{o.Inlines, o.Mids, o.Slabs}
	var lent []buffer
	out := make([]int, 3)
	for range 5000 {
		if len(lent) > 0 && rng.IntN(2) == 0 {
			i := rng.IntN(len(lent))
			pool.buffers.returnBuffer(lent[i])
			out[lent[i].tier-1]--
			lent[i] = lent[len(lent)-1]
			lent = lent[:len(lent)-1]
			continue
		}
		need := 1 + rng.IntN(o.SlabBytes)
		want := -1
		for i := range sizes {
			if want < 0 && sizes[i] >= need && out[i] < counts[i] {
				want = i
			}
		}
		b, ok := pool.buffers.takeBuffer(need)
		if ok != (want >= 0) || (ok && (int(b.tier) != want+1 || len(b.b) < need)) {
			t.Fatalf("need %d with %v out: tier %d, %v; want %d", need, out, b.tier, ok, want+1)
		}
		if ok {
			for _, other := range lent {
				if &other.b[0] == &b.b[0] {
					t.Fatal("a buffer was lent twice")
				}
			}
			out[want]++
			lent = append(lent, b)
		}
	}
	if s := pool.Stats(); s.BuffersOut != [3]int(out) || s.BuffersMade[0] > 4 || s.BuffersMade[1] > 3 ||
		s.BuffersMade[2] > 2 {
		t.Errorf("%+v, %v out", s, out)
	}
	if got, want := o.BytesMax(), int64(4*4<<10+3*8<<10+2*16<<10); got != want {
		t.Errorf("BytesMax %d, want %d", got, want)
	}
}

// After a burst of two thousand pages, pages are fetched one at a time, and the unneeded buffers are released.
func TestBuffersOfABurstAreLetGo(t *testing.T) {
	const burst = 2000
	p := NewPool(PoolOptions{Pages: burst, InlineBytes: 4 << 10})
	var out []buffer
	for range burst {
		b, ok := p.buffers.takeBuffer(1)
		if !ok {
			t.Fatal("no buffer")
		}
		out = append(out, b)
	}
	most := p.Memory()
	for _, b := range out {
		p.buffers.returnBuffer(b)
	}
	for range 20 * trimEvery {
		b, ok := p.buffers.takeBuffer(1)
		if !ok {
			t.Fatal("no buffer")
		}
		p.buffers.returnBuffer(b)
	}
	if most != burst*4<<10 || p.Memory() > 8*4<<10 {
		t.Errorf("%d bytes at most, %d for one page at a time", most, p.Memory())
	}
	for range burst {
		if _, ok := p.buffers.takeBuffer(1); !ok {
			t.Fatal("what was let go is not made anew")
		}
	}
}
