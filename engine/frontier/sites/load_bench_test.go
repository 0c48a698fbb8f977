package sites

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"net/netip"
	"testing"
	"time"

	"orbweaver/engine/net/robots"
	"orbweaver/engine/state/queued"
	"orbweaver/engine/state/site"
	"orbweaver/workbench"
)

// A workbench of many sites, four to an address, each with two items: what a resume reads first.
func BenchmarkLoad(b *testing.B) {
	const siteCount = 1_000_000
	image := imageOfSites(b, siteCount)
	b.ReportAllocs()
	b.SetBytes(int64(len(image)))
	for b.Loop() {
		w, err := workbench.Load(workbench.Options{}, site.NewDecoder(), bytes.NewReader(image))
		if err != nil {
			b.Fatal(err)
		}
		if n := w.Counts().Waiting; n != siteCount {
			b.Fatalf("%d sites", n)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/siteCount, "ns/host")
}

func imageOfSites(t testing.TB, siteCount int) []byte {
	now := time.Now()
	w := workbench.New[site.State](workbench.Options{})
	rules := robots.AllowAll()
	for i := range siteCount {
		vs, _ := w.GetOrAdd(fmt.Appendf(nil, "http://h%d.load.test", i))
		w.Site(vs).Update(func(s *site.State) { *s = site.New(rules, now.Add(time.Hour), time.Time{}) })
		var addr [4]byte
		binary.BigEndian.PutUint32(addr[:], 0xf0000000|uint32(uint64(i)*2654435761%uint64(max(siteCount/4, 1))))
		w.Place(vs, netip.AddrFrom4(addr), now)
		for k := range 2 {
			w.Push(
				vs,
				queued.Append(
					nil,
					&queued.URL{
						Depth: 3,
						Rest:  fmt.Appendf(nil, "/archive/2004/section-%d/saffron-quarry/page-%d.html", k, i),
					},
				),
			)
		}
	}
	var image bytes.Buffer
	snapshot, err := w.Snapshot(site.Append)
	if err != nil {
		t.Fatal(err)
	}
	if err := snapshot.Write(&image); err != nil {
		t.Fatal(err)
	}
	return image.Bytes()
}
