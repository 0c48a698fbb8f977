package quality

import (
	"bufio"
	"encoding/binary"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"orbweaver/internal/vfs"
)

// A large crawl: go test ./derive/quality -run _large -pages 10000000 -timeout 0 -v (1.1 GB below TMPDIR).
var pagesWanted = flag.Int("pages", 20_000, "pages of the crawl of TestMeasure_large, with ten links each")

// Shape of the crawl that is made.
const (
	linksOfPage = 10
	pagesOfSite = 100
	partsMade   = 4
)

// fingerprintOf is that of a page or site.
func fingerprintOf(n int) uint64 {
	z := (uint64(n) + 1) * 0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	return (z ^ z>>27) * 0x94d049bb133111eb &^ 1
}

// makeParts writes the parts of a crawl: page n is in part n mod partsMade. Half of the links are to pages of the same
// site, the others to popular pages of any site.
func makeParts(t *testing.T, dir string, pages int) (names []string) {
	t.Helper()
	var out []*bufio.Writer
	var files []*os.File
	for i := range partsMade {
		name := filepath.Join(dir, fmt.Sprint(i))
		f, err := os.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, filepath.ToSlash(name))
		files, out = append(files, f), append(out, bufio.NewWriterSize(f, 1<<20))
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for n := range pages {
		v := visit{
			page: fingerprintOf(n), site: fingerprintOf(-n/pagesOfSite - 2), date: int64(n), links: linksOfPage,
			isDocument: true,
		}
		b := v.encode()
		for i := range linksOfPage {
			to := min(n-n%pagesOfSite+rng.IntN(pagesOfSite), pages-1)
			if i%2 == 0 {
				to = int(math.Exp2(rng.Float64()*math.Log2(float64(pages)))) * 7919 % pages
			}
			b = binary.LittleEndian.AppendUint64(b, fingerprintOf(to))
		}
		if _, err := out[n%partsMade].Write(b); err != nil {
			t.Fatal(err)
		}
	}
	for i := range out {
		if err := out[i].Flush(); err != nil {
			t.Fatal(err)
		}
		if err := files[i].Close(); err != nil {
			t.Fatal(err)
		}
	}
	return names
}

// A crawl of millions of pages is measured in memory that its pages bound. The log has what it takes.
func TestMeasure_large(t *testing.T) {
	names := makeParts(t, t.TempDir(), *pagesWanted)
	begin := time.Now()
	c, err := open(vfs.Disk(), names, 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("opened after %v", time.Since(begin).Round(time.Second/10))
	r, err := c.Measure(t.Context(), func(round int) {
		t.Logf("round %d: %v", round, time.Since(begin).Round(time.Second))
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	if r.Documents != *pagesWanted || r.Links < int64(*pagesWanted)*linksOfPage*8/10 || r.Skew.Exponent == 0 {
		t.Errorf("%d pages, %d links, %+v", r.Documents, r.Links, r.Skew)
	}
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Skip(err)
	}
	t.Logf("%d pages, %d links, %v, %s", r.Documents, r.Links, time.Since(begin).Round(time.Second/10),
		regexp.MustCompile(`VmHWM:.*`).Find(status))
}
