package gaps

import (
	"bufio"
	"flag"
	"fmt"
	"os"
	"runtime"
	"testing"
	"time"

	"orbweaver/internal/cputime"
	"orbweaver/internal/vfs"
)

var exchanges = flag.Int("exchanges", 15_000, "exchanges of the archive of TestAudit_ofALargeArchive")

// writeLarge writes WARC files with n exchanges, three of each site, and each site at an address of its own. All gaps
// are as long as they must be.
func writeLarge(t *testing.T, dir string, n int) {
	t.Helper()
	const perFile, step = 1_000_000, 200 * time.Microsecond // between two exchanges
	sites, begin := n/3, time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	took := 100 * time.Microsecond
	idle := (time.Duration(sites)*step - took).Seconds()
	for first := 0; first < n; first += perFile {
		f, err := os.Create(fmt.Sprintf("%s/large-%05d.warc", dir, first/perFile))
		if err != nil {
			t.Fatal(err)
		}
		w := bufio.NewWriterSize(f, 1<<20)
		block := fmt.Sprintf("host-delay: %.4fs\r\nip-delay: 1ms\r\n", idle)
		fmt.Fprintf(w, "WARC/1.1\r\nWARC-Type: warcinfo\r\nWARC-Record-ID: <urn:uuid:00000000-0000-4000-9000-%012d>\r\n"+
			"WARC-Date: 2026-01-01T00:00:00Z\r\nContent-Type: application/warc-fields\r\nContent-Length: %d\r\n\r\n%s\r\n\r\n",
			first, len(block), block)
		for i := first; i < min(first+perFile, n); i++ {
			site := i % sites
			fmt.Fprintf(w, "WARC/1.1\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:uuid:00000000-0000-4000-8000-%012d>\r\n"+
				"WARC-Date: %s\r\nWARC-Target-URI: http://h%d.test/%d\r\nWARC-IP-Address: 10.%d.%d.%d\r\n"+
				"Orbweaver-Exchange: took=%.6f idle=%.6f ip-idle=%.6f\r\n"+
				"Content-Type: application/http;msgtype=response\r\nContent-Length: 19\r\n\r\n"+
				"HTTP/1.1 200 OK\r\n\r\n\r\n\r\n",
				i, begin.Add(time.Duration(i)*step).Format("2006-01-02T15:04:05.000000Z"), site, i,
				site>>16&255, site>>8&255, site&255, took.Seconds(), idle, idle)
		}
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// A whole archive is audited in bounded memory. With -exchanges 9000000 it takes 3 GB below the directory for temporary
// files, and the lists take more.
func TestAudit_ofALargeArchive(t *testing.T) {
	dir := t.TempDir()
	writeLarge(t, dir, *exchanges)
	var heap uint64
	before := cputime.Process()
	r, err := Audit(t.Context(), vfs.Disk(), []string{dir}, Options{
		Temp: vfs.Disk(), TempDir: t.TempDir(),
		Progress: func(Progress) {
			var now runtime.MemStats
			runtime.ReadMemStats(&now)
			heap = max(heap, now.HeapAlloc)
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	cpu := cputime.Process() - before
	t.Logf("%d exchanges: at most %d MB of heap, %.1f s of CPU time", r.Exchanges, heap>>20, cpu.Seconds())
	const first = 3 // exchanges of a site: the gap before the first one has no other side
	for name, g := range map[string]*Gaps{"sites": &r.Sites, "addresses": &r.Addresses} {
		if g.Kept != g.Gaps || g.Gaps < int64(*exchanges)*(first-1)/first {
			t.Errorf("%s: %s, of %d gaps", name, shape(g), g.Gaps)
		}
	}
	if heap > 256<<20 {
		t.Errorf("%d MB of heap", heap>>20)
	}
}
