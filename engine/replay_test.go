package engine

import (
	"context"
	"encoding/binary"
	"testing"

	"orbweaver/engine/admission"
	"orbweaver/engine/journal"
	"orbweaver/engine/limits"
	"orbweaver/engine/outcome"
	"orbweaver/engine/seen"
	"orbweaver/engine/site"
	"orbweaver/engine/sites"
	"orbweaver/engine/traps"
	"orbweaver/internal/vfs"
	"orbweaver/sieve"
	"orbweaver/workbench"
)

// A long journal is replayed with the map of payloads tended, entry by entry: its merges are done before an insertion
// has to wait for them, and its memory stays what it may be.
func TestReplayTendsTheMapOfPayloads(t *testing.T) {
	const memory = 256 << 10
	open := func() *seen.Map {
		m, err := seen.Open(vfs.NewMem(1), seen.Options{Dir: "seen", MemoryBytes: memory}, nil)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := m.Close(); err != nil {
				t.Error(err)
			}
		})
		return m
	}
	digest := func(n int) (d seen.Digest) {
		binary.LittleEndian.PutUint64(d[:], uint64(n)*0x9e3779b97f4a7c15)
		return d
	}
	untended, most := open(), 0
	for untended.Stats().Merges < 3 {
		if _, _, err := untended.Insert(digest(most), seen.First{URI: "http://a.test/"}); err != nil {
			t.Fatal(err)
		}
		most++
	}
	s, err := sieve.Open(vfs.NewMem(1), sieve.Options{Dir: "sieve", BucketBytes: 1 << 20}, nil)
	if err != nil {
		t.Fatal(err)
	}
	e := &Engine{
		cluster: alone{},
		ledger:  &journal.Store{Seen: open()}, sieve: s, finished: journal.NewFinishedURLs(), limits: new(limits.Limits),
		frontier: &admission.Frontier{Views: alone{}.Views()},
	}
	e.bench = workbench.New[site.State](workbench.Options{})
	e.bench.GetOrAdd([]byte("http://a.test"))
	e.hosts = &sites.Table{Workbench: e.bench, Quotas: new(limits.Quotas), Traps: traps.New(-1, 0, 1, nil)}
	r := &replayer{engine: e}
	n := 0
	for ; e.ledger.Seen.Stats().Merges < 3 && n < most; n++ {
		k := &recall{
			entries: []journal.Entry{{Kind: journal.KindPage, Outcome: outcome.OK, Status: 200}},
			records: []record{{stored: true, response: true, whole: true, url: []byte("http://a.test/"), digest: digest(n)}},
		}
		e.frontier.Counters = &e.ledger.Count
		if err := r.apply(context.Background(), k); err != nil {
			t.Fatal(err)
		}
		if st := e.ledger.Seen.Stats(); st.MemoryBytes > memory+int64(st.Runs)*256*24 {
			t.Fatalf("%d bytes in use of %d after %d entries", st.MemoryBytes, memory, n+1)
		}
	}
	if n >= most {
		t.Errorf("the third merge was over after %d entries; an insertion that has to wait for it ends it after %d", n, most)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}
