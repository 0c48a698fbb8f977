package sieve

import (
	"slices"
	"testing"
)

// Chunks keep their buffers, as many as the bound allows. A sealed chunk gets no further record.
func TestBuffersOfChunksAreUsedAgain(t *testing.T) {
	p := payloads{chunks: chunkList{size: 64}}
	grown := 0
	add := func(length int) {
		if p.add(key{hi: uint64(p.arrivals)}, make([]byte, length)) {
			grown++
		}
	}
	add(20)
	add(20)
	p.chunks.seal()
	add(20)
	if grown != 2 || !p.chunks.complete() || p.chunks.used != 128 {
		t.Fatalf("%d chunks, %d bytes", grown, p.chunks.used)
	}
	p.moveFirst(100)
	if p.written != 2 || p.fileBytes != 100 || len(p.chunks.free) != 1 || p.chunks.used != 64 || p.chunks.complete() {
		t.Fatalf("%+v", p)
	}
	add(300) // longer than a chunk
	add(20)
	if grown != 4 || len(p.chunks.free) != 0 {
		t.Fatalf("%d chunks, %d buffers", grown, len(p.chunks.free))
	}
	p.chunks.empty()
	if len(p.chunks.free) != 2 || p.chunks.used != 0 {
		t.Fatalf("%d buffers, %d bytes", len(p.chunks.free), p.chunks.used)
	}
	if p.chunks.trim(64); len(p.chunks.free) != 1 {
		t.Fatalf("%d buffers", len(p.chunks.free))
	}
}

// The zero liveSet contains all payloads. Dropped ones are visited no more.
func TestDroppedPayloadsAreNotVisited(t *testing.T) {
	const n = 150
	p := payloads{chunks: chunkList{size: 1 << 20}}
	for i := range n {
		p.add(key{hi: uint64(i)}, nil)
	}
	var l liveSet
	l.unemitted.Store(n)
	visited := func() (numbers []int) {
		must(t, p.each(&l, func(i int, _ []byte) error {
			numbers = append(numbers, i)
			return nil
		}))
		return numbers
	}
	if len(visited()) != n || !l.contains(0, 1) || l.contains(0, 0) {
		t.Fatalf("%d payloads", len(visited()))
	}
	l.addBits(n)
	var known []uint64
	for i := range uint64(n) {
		if i != 3 && i != 130 {
			known = append(known, i)
		}
	}
	l.drop(known)
	if got := visited(); !slices.Equal(got, []int{3, 130}) || l.unemitted.Load() != 2 {
		t.Fatalf("%d, %d unemitted", got, l.unemitted.Load())
	}
	if l.contains(4, 126) || !l.contains(4, 127) || l.contains(131, 19) {
		t.Error("ranges between the live payloads")
	}
}
