package dedup

import (
	"encoding/binary"
	"testing"
	"time"

	"orbweaver/internal/vfs"
)

func benchMap(b *testing.B) *Map {
	m, err := Open(vfs.Disk(), Options{Dir: b.TempDir()}, nil)
	must(b, err)
	b.Cleanup(func() { must(b, m.Close()) })
	return m
}

func benchDigest(i uint64) (d Digest) {
	binary.LittleEndian.PutUint64(d[:], i*0x9e3779b97f4a7c15)
	return d
}

func BenchmarkInsertFresh(b *testing.B) {
	m := benchMap(b)
	f := First{URI: "http://some.host.example/some/path/to/a/page.html", Date: time.Unix(1, 0)}
	b.ReportAllocs()
	var i uint64
	for b.Loop() {
		i++
		if _, _, err := m.Insert(benchDigest(i), f); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkLookupMiss(b *testing.B) {
	m := benchMap(b)
	for i := range uint64(100_000) {
		_, _, err := m.Insert(benchDigest(i), First{})
		must(b, err)
	}
	b.ReportAllocs()
	i := uint64(1 << 40)
	for b.Loop() {
		i++
		if _, _, err := m.Lookup(benchDigest(i)); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkLookupHit(b *testing.B) {
	m := benchMap(b)
	for i := range uint64(100_000) {
		_, _, err := m.Insert(benchDigest(i), First{URI: "http://some.host.example/"})
		must(b, err)
	}
	b.ReportAllocs()
	var i uint64
	for b.Loop() {
		i++
		if _, _, err := m.Lookup(benchDigest(i % 100_000)); err != nil {
			b.Fatal(err)
		}
	}
}
