package fetch

import (
	"bytes"
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/internal/invariants"
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

// A server that sends long interim heads leaves no memory behind: each of thousands of pages would keep it.
func TestPutForgetsLongInterimHeads(t *testing.T) {
	pool := NewPool(PoolOptions{Pages: 1})
	for _, size := range []int{100, 256 << 10} {
		page := pool.TryGet()
		page.Interim = append(page.Interim, make([]byte, size)...)
		pool.Put(page)
		page = pool.TryGet()
		if kept := cap(page.Interim); kept > interimKept || size < interimKept && kept < size {
			t.Errorf("after %d bytes a page keeps %d", size, kept)
		}
		pool.Put(page)
	}
	pool.Close()
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

// The memory of a pool is a number that can be printed before it is made.
func TestPoolOptions_sumUpAllBuffers(t *testing.T) {
	o := PoolOptions{
		Pages: 8, InlineBytes: 4 << 10, Inlines: 4, MidBytes: 8 << 10, Mids: 3, SlabBytes: 16 << 10, Slabs: 2,
	}
	if got, want := o.BytesMax(), int64(4*4<<10+3*8<<10+2*16<<10); got != want {
		t.Errorf("BytesMax %d, want %d", got, want)
	}
}

// A read of a page after Put finds no text, so that the tests of the engine notice memory with two owners.
func TestB1_aPageInThePoolHasNothingToRead(t *testing.T) {
	if !invariants.Enabled {
		t.Skip("only with the tag invariants")
	}
	pool := NewPool(PoolOptions{Pages: 1})
	p := pool.TryGet()
	p.begin([]byte("http://a.test/mine"))
	p.memory.raw, _ = pool.buffers.Take(1)
	p.Raw = append(p.memory.raw.B[:0], "HTTP/1.1 200 OK\r\n\r\n"...)
	p.Request = append(p.Request, "GET /mine"...)
	kept := [][]byte{p.URL, p.Raw, p.Request}
	pool.Put(p)
	for _, b := range kept {
		if bytes.Count(b, []byte{0xCC}) != len(b) {
			t.Errorf("a page in the pool still says %q", b)
		}
	}
}
