package fetch

import (
	"context"
	"errors"
	"fmt"

	"orbweaver/engine/net/fetch/buffers"
	"orbweaver/internal/invariants"
)

// PoolOptions are the number of pages and the memory that they share. Zero fields have defaults, except Pages.
type PoolOptions struct {
	Pages       int // number of pages: the limit of exchanges that are in flight or not yet stored
	InlineBytes int // size of the buffer a response starts in; default 64 KiB
	Inlines     int // how many; default Pages
	MidBytes    int // size of the buffer a response moves to; default 512 KiB
	Mids        int // how many; default Pages/8 + 8
	SlabBytes   int // size of the largest buffer; default Options{}.BufferMax()
	Slabs       int // how many; default Pages/32 + 8
}

// WithDefaults returns a copy of o in which every field that is zero has its default.
func (o PoolOptions) WithDefaults() PoolOptions {
	setDefault(&o.InlineBytes, 64<<10)
	setDefault(&o.Inlines, o.Pages)
	setDefault(&o.MidBytes, 512<<10)
	setDefault(&o.Mids, o.Pages/8+8)
	setDefault(&o.SlabBytes, Options{}.BufferMax())
	setDefault(&o.Slabs, o.Pages/32+8)
	return o
}

// Validate reports every fault of o, joined. It expects defaults to be filled in.
func (o PoolOptions) Validate() error {
	var faults []error
	if o.Pages < 1 || o.Inlines < 1 || o.Mids < 1 || o.Slabs < 1 {
		faults = append(faults, fmt.Errorf("%w: a pool needs at least one of each: %d pages, %d inline, %d mid, %d slabs",
			ErrOptions, o.Pages, o.Inlines, o.Mids, o.Slabs))
	}
	if o.InlineBytes < 4<<10 || o.MidBytes < o.InlineBytes || o.SlabBytes < o.MidBytes {
		faults = append(faults, fmt.Errorf("%w: buffers of %d, %d and %d bytes do not ascend from 4 KiB",
			ErrOptions, o.InlineBytes, o.MidBytes, o.SlabBytes))
	}
	return errors.Join(faults...)
}

// PoolStats are a pool's counters. Those of the buffers are in the order inline, mid, slab.
type PoolStats struct {
	PagesOut int
	buffers.Stats
}

// Pool is a counted free list of pages and the buffers that they share. It is safe for concurrent use. Waiting for a
// page is the back-pressure of the whole crawl. A body waits for a larger buffer until the exchange must end; then it
// is truncated.
type Pool struct {
	pages   chan *Page
	buffers buffers.Pool
	codecs  codecs
}

// NewPool makes a pool. It allocates the pages, which are small, and no buffer. Options that do not validate are a bug.
func NewPool(o PoolOptions) *Pool {
	o = o.WithDefaults()
	if err := o.Validate(); err != nil {
		panic("BUG: " + err.Error())
	}
	p := &Pool{pages: make(chan *Page, o.Pages)}
	p.buffers.Init([buffers.Sizes]buffers.Size{
		{Bytes: o.InlineBytes, Count: o.Inlines}, {Bytes: o.MidBytes, Count: o.Mids}, {Bytes: o.SlabBytes, Count: o.Slabs},
	})
	for range o.Pages {
		p.pages <- &Page{memory: pageMemory{pool: &p.buffers}}
	}
	return p
}

// BytesMax is the memory all buffers of a pool under o take when every one has been needed.
func (o PoolOptions) BytesMax() int64 {
	o = o.WithDefaults()
	return int64(o.InlineBytes)*int64(o.Inlines) + int64(o.MidBytes)*int64(o.Mids) + int64(o.SlabBytes)*int64(o.Slabs)
}

// Get returns a page, and waits if none is free. The error is that of ctx.
func (p *Pool) Get(ctx context.Context) (*Page, error) {
	if page := p.TryGet(); page != nil {
		return page, nil
	}
	select {
	case page := <-p.pages:
		page.memory.out.Store(true)
		return page, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// TryGet gives a page, or nil if none is free.
func (p *Pool) TryGet() *Page {
	select {
	case page := <-p.pages:
		page.memory.out.Store(true)
		return page
	default:
		return nil
	}
}

// Put takes a page back; only Engine stays, for the next holder. It panics if the page is in the pool already or
// belongs to another one.
func (p *Pool) Put(page *Page) {
	if page.memory.pool != &p.buffers || !page.memory.out.CompareAndSwap(true, false) {
		panic("BUG: B1: a page was put back that this pool has not given out")
	}
	page.begin(nil)
	page.mangle()
	p.pages <- page
}

// mangle overwrites what the page and its Engine keep for the next exchange, so that tests find a reader of a page that
// is in the pool.
func (p *Page) mangle() {
	if !invariants.Enabled {
		return
	}
	for _, b := range [...][]byte{p.URL, p.Request, p.Interim} {
		invariants.Mangle(b[:cap(b)])
	}
	if e, ok := p.Engine.(interface{ Mangle() }); ok {
		e.Mangle()
	}
}

// Close closes the pool. It panics if a page is still in use (B1).
func (p *Pool) Close() {
	if n := p.Stats().PagesOut; n > 0 {
		panic(fmt.Sprintf("BUG: B1: %d pages are out at Close", n))
	}
}

// Memory is how many bytes the buffers take that are there now.
func (p *Pool) Memory() int64 { return p.buffers.Memory() }

// Stats returns the counters.
func (p *Pool) Stats() PoolStats {
	return PoolStats{PagesOut: cap(p.pages) - len(p.pages), Stats: p.buffers.Stats()}
}
