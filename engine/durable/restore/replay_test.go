package restore

import (
	"encoding/binary"
	"testing"

	"orbweaver/engine/frontier/admission"
	"orbweaver/engine/frontier/sites"
	"orbweaver/engine/records/dedup"
	"orbweaver/engine/state/cluster"
	"orbweaver/engine/state/limits"
	"orbweaver/engine/state/site"
	"orbweaver/engine/store/journal"
	"orbweaver/engine/traps"
	"orbweaver/internal/outcome"
	"orbweaver/internal/vfs"
	"orbweaver/sieve"
	"orbweaver/workbench"
)

// A long journal is replayed with the map of payloads tended, entry by entry: its merges are done before an insertion
// has to wait for them, and its memory stays what it may be.
func TestReplay_tendsTheMapOfPayloads(t *testing.T) {
	const memory = 256 << 10
	open := func() *dedup.Map {
		m, err := dedup.Open(vfs.NewMem(1), dedup.Options{Dir: "seen", MemoryBytes: memory}, nil)
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
	digest := func(n int) (d dedup.Digest) {
		binary.LittleEndian.PutUint64(d[:], uint64(n)*0x9e3779b97f4a7c15)
		return d
	}
	untended, most := open(), 0
	for untended.Stats().Merges < 3 {
		if _, _, err := untended.Insert(digest(most), dedup.First{URI: "http://a.test/"}); err != nil {
			t.Fatal(err)
		}
		most++
	}
	s, err := sieve.Open(vfs.NewMem(1), sieve.Options{Dir: "sieve", BucketBytes: 1 << 20}, nil)
	if err != nil {
		t.Fatal(err)
	}
	bench := workbench.New[site.State](workbench.Options{})
	bench.GetOrAdd([]byte("http://a.test"))
	c := &Crawl{
		Cluster: cluster.Alone{}, Journal: &journal.Store{Seen: open()}, Finished: journal.NewFinishedURLs(),
		Limits: new(limits.Limits), Frontier: &admission.Frontier{Views: cluster.Alone{}.Views(), Sieve: s},
		Sites: &sites.Table{Workbench: bench, Quotas: new(limits.Quotas),
			Traps: traps.New(&traps.Options{Novelty: traps.NoveltyOff}, 1, nil)},
	}
	c.Frontier.Counters = &c.Journal.Count
	r := &replayer{Crawl: c}
	n := 0
	for ; c.Journal.Seen.Stats().Merges < 3 && n < most; n++ {
		b := &batch{
			entries: []journal.Entry{{Kind: journal.KindPage, Outcome: outcome.OK, Status: 200}},
			records: []record{{stored: true, response: true, hasDigest: true, url: []byte("http://a.test/"), digest: digest(n)}},
		}
		if err := r.apply(t.Context(), b); err != nil {
			t.Fatal(err)
		}
		if st := c.Journal.Seen.Stats(); st.MemoryBytes > memory+int64(st.Runs)*256*24 {
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
