package fsck

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"orbweaver/engine/durable/inspect"
	"orbweaver/engine/store/journal"
	"orbweaver/engine/store/manifest"
	"orbweaver/internal/urlx"
	"orbweaver/internal/vfs/vfstest"
	"orbweaver/warc"
)

// An entry of the journal must name whole records of its URL, behind those of the entries before.
func TestJournalCheck_entry(t *testing.T) {
	disk := vfstest.WithDir(t, "warc")
	w, err := warc.OpenWriter(disk, warc.Options{Dir: "warc"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	encoder, err := warc.NewEncoder(warc.EncoderOptions{})
	if err != nil {
		t.Fatal(err)
	}
	url := func(n int) []byte { return fmt.Appendf(nil, "http://a.test/%d", n) }
	var at []warc.Position
	for n, kind := range []warc.Type{warc.Response, warc.Response, warc.Metadata} {
		encoder.Reset()
		if err := encoder.Append(&warc.Record{
			Type: kind, Date: time.Unix(1e9, 0), TargetURI: url(n), Block: [][]byte{[]byte("HTTP/1.1 200 OK\r\n\r\nx")},
		}); err != nil {
			t.Fatal(err)
		}
		pos, err := w.Append(encoder.Group())
		if err != nil {
			t.Fatal(err)
		}
		at = append(at, pos)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	beyond := at[2]
	beyond.Offset += beyond.Length
	torn := at[1]
	torn.Length--
	for _, c := range []struct {
		name    string
		url     int
		where   warc.Position
		end     warc.Checkpoint // of the entries before
		counts  bool
		records int64
		want    string // part of the finding; "" for none
	}{
		{"whole", 0, at[0], warc.Checkpoint{}, true, 1, ""},
		{"behind another", 1, at[1], at[0].End(), true, 1, ""},
		{"twice", 0, at[0], at[0].End(), true, 0, "before the end of those that were named already"},
		{"of another URL", 0, at[1], warc.Checkpoint{}, true, 1, `the record of another URL, "http://a.test/1"`},
		{"not of an answer", 2, at[2], warc.Checkpoint{}, true, 1, "names a metadata record"},
		{"beyond the archive", 2, beyond, warc.Checkpoint{}, false, 0, "are not whole"},
		{"torn", 1, torn, warc.Checkpoint{}, false, 0, "are not whole"},
	} {
		t.Run(c.name, func(t *testing.T) {
			check := &journalCheck{&checker{
				findings: &findings{ctx: t.Context()}, cut: inspect.Checkpoint{Manifest: new(manifest.Manifest)},
			}}
			archive := warc.OpenArchive(disk, "warc")
			defer archive.Close()
			j := journaled{end: c.end}
			entry := &journal.Attempt{FP: urlx.Fingerprint(0, url(c.url)), Stored: true, Where: c.where}
			if got := check.entry(archive, entry, &j); got != c.counts || j.records != c.records {
				t.Errorf("it counts: %v; %d records, want %v, %d", got, j.records, c.counts, c.records)
			}
			var found string
			for _, f := range check.report.Findings {
				found += f.Text
			}
			if !strings.Contains(found, c.want) || (c.want == "") != (found == "") {
				t.Errorf("found %q, want %q", found, c.want)
			}
		})
	}
}
