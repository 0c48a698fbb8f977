package lookup

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"orbweaver/internal/vfs"
	"orbweaver/warc"
)

// rangesOf notes the parts of WARC files that are opened.
type rangesOf struct {
	vfs.FS

	opened []string
}

func (r *rangesOf) OpenRange(name string, offset, length int64) (vfs.File, error) {
	r.opened = append(r.opened, fmt.Sprintf("%d+%d", offset, length))
	return r.Open(name)
}

// A record is opened once, with the offset and the length of the index, so that a store must not send more. The
// dictionary of a zstd file is read once for many records.
func TestRead_opensTheRecordAlone(t *testing.T) {
	for compression, dictionary := range map[warc.Compression]string{
		warc.Gzip: "", warc.Zstd: fmt.Sprintf("0+%d ", dictionaryStart),
	} {
		mem := vfs.NewMem(1)
		s := newStored(t, mem, warc.Options{Dir: "w", Compression: compression})
		var err error
		if s.encod, err = warc.NewEncoder(warc.EncoderOptions{Compression: compression}); err != nil {
			t.Fatal(err)
		}
		first := s.page("http://a.test/", "first")
		second := s.page("http://b.test/", "second")
		s.close()
		parts := &rangesOf{FS: mem}
		a := New(NewFiles(Options{FS: parts, Dirs: []string{"w"}}))
		for url, want := range map[string]string{"http://a.test/": "first", "http://b.test/": "second"} {
			if _, payload, err := read(t, a, url, time.Time{}); err != nil || payload != want {
				t.Errorf("%s: %q, %v", url, payload, err)
			}
		}
		got := strings.Join(parts.opened, " ")
		one := fmt.Sprintf("%d+%d", first.Offset, first.Length)
		other := fmt.Sprintf("%d+%d", second.Offset, second.Length)
		if got != dictionary+one+" "+other && got != dictionary+other+" "+one {
			t.Errorf("%v: opened %s, want %s%s and %s", compression, got, dictionary, one, other)
		}
	}
}
