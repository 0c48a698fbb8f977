package dedup

import (
	"crypto/sha1"
	"fmt"
	"strings"
	"testing"
	"time"

	"orbweaver/internal/vfs"

	"github.com/google/go-cmp/cmp"
)

// small has tables of sixteen digests, so that some hundred of them make many runs.
var small = Options{Dir: "frontier/seen", MemoryBytes: memoryBytesMin, BufferBytes: 300}

const entriesFile = "frontier/seen/entries"

func digestOf(i uint64) Digest { return sha1.Sum(fmt.Appendf(nil, "page %d", i)) }

// firstOf is a record like any other; some URIs are longer than one read.
func firstOf(i uint64) First {
	f := First{
		URI:  fmt.Sprintf("http://host.example/%d%s", i, strings.Repeat("x", int(i%7*i%900))),
		Date: time.Date(2026, 2, 3, 4, 5, int(i%60), int(i%1000), time.UTC),
	}
	copy(f.RecordID[:], fmt.Sprintf("record %9d", i))
	return f
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func open(t testing.TB, fsys vfs.FS, checkpoint *Checkpoint) *Map {
	t.Helper()
	m, err := Open(fsys, small, checkpoint)
	must(t, err)
	t.Cleanup(func() { must(t, m.Close()) })
	return m
}

// insert inserts number i, and checks freshness.
func insert(t testing.TB, m *Map, i uint64, wantFresh bool) {
	t.Helper()
	f, fresh, err := m.Insert(digestOf(i), firstOf(i))
	must(t, err)
	if fresh != wantFresh {
		t.Fatalf("insert %d: fresh is %v", i, fresh)
	}
	if diff := cmp.Diff(firstOf(i), f); diff != "" {
		t.Fatalf("insert %d: %s", i, diff)
	}
}

func has(t testing.TB, m *Map, i uint64, want bool) {
	t.Helper()
	f, ok, err := m.Lookup(digestOf(i))
	must(t, err)
	if ok != want {
		t.Fatalf("look-up of %d says %v", i, ok)
	}
	if ok && !cmp.Equal(f, firstOf(i)) {
		t.Fatalf("look-up of %d: %s", i, cmp.Diff(firstOf(i), f))
	}
}

// fill inserts the numbers below n, and tends as a crawl does.
func fill(t testing.TB, m *Map, n uint64) {
	t.Helper()
	for i := range n {
		insert(t, m, i, true)
		must(t, m.Tend())
	}
}

// saved takes a checkpoint and makes it durable.
func saved(t testing.TB, m *Map) *Checkpoint {
	t.Helper()
	c, err := m.Checkpoint()
	must(t, err)
	must(t, m.Sync())
	return &c
}

func rewrite(t testing.TB, fsys vfs.FS, name string, b []byte) {
	t.Helper()
	f, err := fsys.Create(name)
	must(t, err)
	_, err = f.Write(b)
	must(t, err)
	must(t, f.Close())
}
