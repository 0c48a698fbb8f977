package warc

import (
	"flag"
	"fmt"
	"net/netip"
	"path/filepath"
	"strings"
	"testing"

	"orbweaver/internal/vfs"
)

var archiveOut = flag.String("archive-out", "",
	"directory to write a sample archive to, for other people's tools to judge")

// An archive on the real disk with everything that occurs in a crawl: plain, chunked, empty and truncated bodies, and
// revisits.
func TestSampleArchive(t *testing.T) {
	dir := *archiveOut
	if dir == "" {
		dir = t.TempDir()
	}
	for _, form := range []string{"gzip", "zstd", "none", "words"} {
		c := map[string]Compression{"gzip": Gzip, "zstd": Zstd, "none": None, "words": Zstd}[form]
		var words []byte
		if form == "words" {
			words = trained(t)
		}
		o := Options{Dir: filepath.ToSlash(filepath.Join(dir, form)), SizeMax: 60000, Compression: c, Dictionary: words,
			Info: []Field{{"software", "orbweaver"}, {"format", "WARC File Format 1.1"}}}
		w, err := OpenWriter(vfs.Disk(), o, nil)
		if err != nil {
			t.Fatal(err)
		}
		e, err := NewEncoder(EncoderOptions{Compression: c, Dictionary: words})
		if err != nil {
			t.Fatal(err)
		}
		first := Record{}
		for i := range 60 {
			if i%20 == 0 { // with a record of a DNS reply
				e.Reset()
				appendRecord(t, e, &Record{Type: Response, Date: testDate(i),
					TargetURI: fmt.Appendf(nil, "dns:www.site%d.example", i%5), ContentType: MediaDNS,
					IP: netip.MustParseAddr("192.0.2.53"), Index: &IndexInfo{MIME: []byte(MediaDNS)},
					Block: [][]byte{[]byte("20261121120000\nwww.site.example.\t60\tIN\tA\t192.0.2.1\n")}})
				if _, err := w.Append(e.Group()); err != nil {
					t.Fatal(err)
				}
			}
			e.Reset()
			sampleGroup(t, e, i, &first)
			if _, err := w.Append(e.Group()); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		files, err := Files(vfs.Disk(), o.Dir)
		if err != nil || len(files) == 0 {
			t.Fatal(files, err)
		}
		v := NewVerifier(VerifyOptions{OnFault: func(f *Fault) { t.Error(f) }})
		for _, info := range files {
			f, err := vfs.Disk().Open(join(o.Dir, info.Name))
			if err != nil {
				t.Fatal(err)
			}
			if err := v.File(info.Name, f); err != nil {
				t.Fatal(err)
			}
			f.Close()
		}
		if r := v.Finish(); r.Types["request"] != 60 || r.DigestsChecked < 120 {
			t.Errorf("%+v", r)
		}
	}
}

func sampleGroup(t *testing.T, e *Encoder, i int, first *Record) {
	t.Helper()
	uri := fmt.Appendf(nil, "http://www.site%d.example:8080/Path/%d?b=2&A=1&c=%%C3%%A9", i%5, i)
	body := []byte(strings.Repeat(fmt.Sprintf("<p>hello %d</p>", i), 1+i*3))
	stored, head := body, "HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n\r\n"
	if i%3 == 1 {
		head = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\n\r\n"
		stored = fmt.Appendf(nil, "%x\r\n%s\r\n0\r\n\r\n", len(body), body)
	}
	index := IndexInfo{Status: 200, MIME: []byte("text/html")}
	if i%7 == 3 {
		head, body, stored, index = "HTTP/1.1 301 Moved\r\nLocation: /x\r\n\r\n", nil, nil, IndexInfo{Status: 301}
	}
	digest := sha1Of(body)
	r := Record{Type: Response, Date: testDate(i), TargetURI: uri, IP: netip.MustParseAddr("192.0.2.1"),
		PayloadDigest: &digest,
		Block:         [][]byte{[]byte(head), stored}, Index: &index}
	switch i % 7 {
	case 4:
		r.Truncated, r.PayloadDigest = TruncatedLength, nil
	case 5:
		r.Type, r.PayloadDigest, r.Block = Revisit, first.PayloadDigest, r.Block[:1]
		r.RefersTo, r.RefersToURI, r.RefersToDate = first.ID, string(first.TargetURI), first.Date
	}
	if i%14 == 6 { // the server replies that the first page is unchanged
		r.Type, r.Profile, r.PayloadDigest = Revisit, ProfileNotModified, first.PayloadDigest
		r.Block = [][]byte{[]byte("HTTP/1.1 304 Not Modified\r\n\r\n")}
		r.RefersTo, r.RefersToURI, r.RefersToDate, index.Status = first.ID, string(first.TargetURI), first.Date, 304
	}
	appendRecord(t, e, &r)
	if i == 0 {
		*first = r
	}
	appendRecord(t, e, &Record{Type: Request, Date: testDate(i), TargetURI: uri, ConcurrentTo: r.ID,
		Block: [][]byte{[]byte("GET / HTTP/1.1\r\nHost: www.site.example\r\n\r\n")}})
	appendRecord(t, e, &Record{Type: Metadata, Date: testDate(i), TargetURI: uri, ConcurrentTo: r.ID,
		Block: [][]byte{[]byte("via: http://www.site0.example/\r\nhopsFromSeed: L\r\nfetchTimeMs: 3\r\n" +
			"outlink: http://a.example/ L a/@href\r\n")}})
}
