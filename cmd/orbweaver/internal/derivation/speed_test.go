package derivation

import (
	"flag"
	"os"
	"path/filepath"
	"testing"
	"time"

	"orbweaver/derive"
	"orbweaver/derive/columns"
	"orbweaver/derive/corpus"
	"orbweaver/derive/extracts"
	"orbweaver/derive/graph"
	"orbweaver/derive/minhash"
	"orbweaver/internal/cputime"
	"orbweaver/internal/vfs"
	"orbweaver/warc"
)

var archives = flag.String("archives", "", "pattern of WARC files for BenchmarkProducts")

// BenchmarkProducts is the CPU time of reading WARC files alone, and of each product, with one worker:
//
//	go test ./cmd/orbweaver/internal/derivation -run xx -bench Products -benchtime 5x -archives 'crawl/warc/*.warc.gz'
func BenchmarkProducts(b *testing.B) {
	files, err := filepath.Glob(*archives)
	if err != nil || len(files) == 0 {
		b.Skip("no -archives")
	}
	size := 0.0
	for _, name := range files {
		info, err := os.Stat(name)
		if err != nil {
			b.Fatal(err)
		}
		size += float64(info.Size())
	}
	measure := func(name string, f func(b *testing.B) error) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			least := time.Duration(1 << 62)
			for b.Loop() {
				began := cputime.Process()
				if err := f(b); err != nil {
					b.Fatal(err)
				}
				least = min(least, cputime.Process()-began)
			}
			b.ReportMetric(size/1e6/least.Seconds(), "MB/CPU-s")
		})
	}
	measure("read", func(*testing.B) error {
		for _, name := range files {
			err := warc.ReadFile(vfs.Disk(), filepath.Dir(name), warc.FileInfo{Name: filepath.Base(name)}, 1<<62,
				warc.ReaderOptions{}, func(z *warc.Reader) error {
					return warc.ScanRecords(z, func(r *warc.RecordRead) error { return r.Skip() }, warc.StopAtDamage)
				})
			if err != nil {
				return err
			}
		}
		return nil
	})
	extract := extracts.Options{Software: "orbweaver/1", Now: time.Unix(0, 0)}
	for _, product := range []struct {
		name string
		make func(dir string) derive.Product
	}{
		{"parquet", func(string) derive.Product { return columns.New(columns.Options{}) }},
		{"graph", func(dir string) derive.Product { return graph.New(vfs.Disk(), graph.Options{Dir: dir}) }},
		{"wet", func(string) derive.Product { return extracts.WET(extract) }},
		{"wat", func(string) derive.Product { return extracts.WAT(extract) }},
		{"corpus", func(string) derive.Product { return corpus.New(corpus.Options{}) }},
		{"minhash", func(dir string) derive.Product { return minhash.New(vfs.Disk(), minhash.Options{Dir: dir}) }},
	} {
		measure(product.name, func(b *testing.B) error {
			dir := b.TempDir()
			_, err := derive.Run(b.Context(), vfs.Disk(), files, derive.Options{
				Dir: dir, Workers: 1, Products: []derive.Product{product.make(dir)},
			})
			return err
		})
	}
}
