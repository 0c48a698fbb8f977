package warc

import (
	"flag"
	"io"
	"os"
	"path/filepath"
	"testing"
)

var samples = flag.String("samples", "", "directory of foreign WARC files that the reader must accept")

// Files of other crawlers can be read, and their digests match.
func TestForeignSamples(t *testing.T) {
	if *samples == "" {
		t.Skip("no -samples directory")
	}
	for _, pattern := range []string{"*.warc", "*.warc.gz", "*.warc.zst"} {
		names, err := filepath.Glob(filepath.Join(*samples, pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			f, err := os.Open(name)
			if err != nil {
				t.Fatal(err)
			}
			z := NewReader(f, ReaderOptions{Name: filepath.Base(name), Syntax: Warn, Spec: Warn, Block: Warn,
				OnFault: func(f *Fault) { t.Log(f) }})
			for {
				rec, err := z.Next()
				if err == io.EOF {
					break
				}
				if err != nil {
					t.Error(err)
					continue
				}
				n, err := io.Copy(io.Discard, onlyReader{rec})
				if err != nil || n != rec.ContentLength {
					t.Error(n, err)
				}
				t.Log(filepath.Base(name), rec.Offset, rec.Length, rec.Type, rec.Version, string(rec.TargetURI), rec.ContentLength)
			}
			f.Close()
		}
	}
}

// The bytes with which members and frames start.
const (
	gzipMagic       = "\x1f\x8b\x08"
	zstdMagic       = "\x28\xb5\x2f\xfd"
	dictionaryMagic = "\x5d\x2a\x4d\x18"
)
