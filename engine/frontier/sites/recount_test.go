package sites

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"sync"
	"testing"
	"time"

	"orbweaver/engine/state/limits"
	"orbweaver/internal/vfs"
	"orbweaver/workbench/cold"
)

// knownSites is a table whose sites are all of one domain.
type knownSites struct {
	*Table

	n   int
	now time.Time
}

func newKnownSites(t testing.TB, disk vfs.FS, o cold.Options, n int) *knownSites {
	t.Helper()
	store, err := cold.Open(disk, o, nil)
	if err != nil {
		t.Fatal(err)
	}
	k := &knownSites{Table: newTable(t, vfs.NewMem(1)), now: time.Now()}
	k.Cold, k.Quotas = store, limits.NewQuotas(limits.QuotaOptions{})
	for range n {
		if k.addSite(t); k.n%evictBatch == 0 {
			k.evict(t)
		}
	}
	return k
}

// addSite adds a site that may leave memory.
func (k *knownSites) addSite(t testing.TB) {
	vs, _, err := k.GetOrAdd(keyOfKnown(k.n))
	if err != nil {
		t.Error(err)
	}
	k.Workbench.Place(vs, netip.AddrFrom4([4]byte{10, byte(k.n >> 16), byte(k.n >> 8), byte(k.n)}), k.now)
	k.n++
}

func keyOfKnown(i int) []byte { return fmt.Appendf(nil, "http://h%d.farm.test", i) }

func (k *knownSites) evict(t testing.TB) {
	if _, err := k.Evict(k.now); err != nil {
		t.Error(err)
	}
}

// move does something that a crawl does: it uses a site, adds one, or evicts some.
func (k *knownSites) move(t testing.TB, rng *rand.Rand) {
	switch rng.IntN(8) {
	case 0:
		k.evict(t)
	case 1:
		k.addSite(t)
	default:
		if vs, err := k.Get(keyOfKnown(rng.IntN(k.n))); vs == nil || err != nil {
			t.Error("a known site is missing", err)
		}
	}
}

// wantCounted wants each site to be counted once.
func (k *knownSites) wantCounted(t testing.TB) {
	t.Helper()
	for limit, want := range map[int]bool{k.n: true, k.n + 1: false} {
		if err := k.Quotas.Change(limits.QuotaOptions{HostsPerDomain: limit}, nil); err != nil {
			t.Error(err)
		}
		if k.Quotas.HostsReached(keyOfKnown(0)) != want {
			t.Errorf("%d sites: with a limit of %d the limit is reached: %v", k.n, limit, !want)
		}
	}
}

// A quota that is set in a running crawl counts each known site once, whatever moves between memory and disk, or is
// added, between two pieces of the count.
func TestCountKnown_eachSiteOnceWhileSitesMove(t *testing.T) {
	for seed := range uint64(40) {
		k := newKnownSites(t, vfs.NewMem(1), cold.Options{Dir: "cold", SegmentBytes: 4 << 10}, 1500)
		rng := rand.New(rand.NewPCG(seed, 1))
		pieces := 0
		err := k.Quotas.Change(limits.QuotaOptions{HostsPerDomain: 1}, func() error {
			c, err := k.beginRecount()
			if err != nil {
				return err
			}
			defer c.end(k.Table)
			for more := true; more; pieces++ {
				for range rng.IntN(60) {
					k.move(t, rng)
				}
				if more, err = c.walk.Read(); err == nil {
					err = c.countCold(k.Table, more)
				}
				if err != nil {
					return err
				}
			}
			for more := true; more; pieces++ {
				for range rng.IntN(60) {
					k.move(t, rng)
				}
				more = c.countLoaded(k.Table)
			}
			return nil
		})
		if err != nil || pieces < 10 {
			t.Fatalf("%d pieces, %v", pieces, err)
		}
		if k.wantCounted(t); t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

// The Distributor uses sites while 100,000 of them are counted on disk. It waits for no more than a piece.
func TestCountKnown_theDistributorGoesOn(t *testing.T) {
	k := newKnownSites(t, vfs.Disk(), cold.Options{Dir: t.TempDir() + "/cold"}, 100_000)
	if _, inStore := k.Counts(); inStore < 80_000 {
		t.Fatalf("%d sites in the store", inStore)
	}
	var counting sync.WaitGroup
	began := make(chan struct{})
	counting.Go(func() {
		err := k.Quotas.Change(limits.QuotaOptions{HostsPerDomain: 1}, func() error {
			close(began)
			return k.CountKnown()
		})
		if err != nil {
			t.Error(err)
		}
	})
	<-began
	rng := rand.New(rand.NewPCG(1, 1))
	for range 300 {
		k.move(t, rng)
	}
	counting.Wait()
	k.wantCounted(t)
	if err := k.Cold.Close(); err != nil {
		t.Error(err)
	}
}

// BenchmarkCountKnown counts a million sites on disk, and says for how long a piece holds the table.
func BenchmarkCountKnown(b *testing.B) {
	const siteCount = 1_000_000
	k := newKnownSites(b, vfs.Disk(), cold.Options{Dir: b.TempDir() + "/cold"}, siteCount)
	var held []time.Duration
	for b.Loop() {
		if err := k.Quotas.Change(limits.QuotaOptions{}, nil); err != nil {
			b.Fatal(err)
		}
		err := k.Quotas.Change(limits.QuotaOptions{HostsPerDomain: 1}, func() error {
			c, err := k.beginRecount()
			if err != nil {
				return err
			}
			defer c.end(k.Table)
			for more := true; more; {
				if more, err = c.walk.Read(); err != nil {
					return err
				}
				start := time.Now()
				if err = c.countCold(k.Table, more); err != nil {
					return err
				}
				held = append(held, time.Since(start))
			}
			for c.countLoaded(k.Table) {
			}
			return nil
		})
		if err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/siteCount, "ns/host")
	slices.Sort(held)
	b.ReportMetric(float64(held[len(held)/2].Microseconds()), "us/piece")
	b.ReportMetric(float64(held[len(held)*99/100].Microseconds()), "us/piece-p99")
	k.wantCounted(b)
}
