package warc

import (
	"bytes"
	"crypto/sha1"
	"errors"
	"net/netip"
	"strings"
	"testing"

	"orbweaver/internal/invariants"
	"orbweaver/internal/vfs"
)

func sha1Of(b []byte) [20]byte { return sha1.Sum(b) }

// Reading returns every field and byte that was written, in each compression and for all sizes.
func TestRoundTrip(t *testing.T) {
	for _, c := range []Compression{Gzip, Zstd, None} {
		t.Run(c.String(), func(t *testing.T) {
			fsys := vfs.NewMem(1)
			w := openTest(t, fsys, c, 1<<30, nil)
			e := newTestEncoder(t, c)
			digest := sha1Of([]byte("x"))
			var want []Record
			for i, size := range []int{0, 1, 2, 100, 65536, 131072, 131073, 300000, 3 << 20} {
				e.Reset()
				r := Record{Type: Response, Date: testDate(i), TargetURI: []byte("http://example.com/"),
					IP:            netip.MustParseAddr("2001:db8::1"),
					PayloadDigest: &digest, Truncated: TruncatedTime, Extra: []Field{{"WARC-Protocol", "http/1.1"}},
					ContentType: "application/octet-stream", Block: [][]byte{text(uint64(i), size), nil, []byte("end")}}
				appendRecord(t, e, &r)
				q := Record{Type: Revisit, Date: testDate(i), TargetURI: []byte("http://example.com/2"), ConcurrentTo: r.ID,
					RefersTo:    r.ID,
					RefersToURI: "http://example.com/", RefersToDate: testDate(0), PayloadDigest: &digest,
					Block: [][]byte{[]byte("HTTP/1.1 200 OK\r\n\r\n")}}
				appendRecord(t, e, &q)
				if _, err := w.Append(e.Group()); err != nil {
					t.Fatal(err)
				}
				want = append(want, r, q)
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			files, _ := Files(fsys, "warc")
			file := mustRead(t, fsys, "warc/"+files[0].Name)
			recs, faults := readAll(t, file, ReaderOptions{Syntax: Fail, Spec: Fail, Block: Warn})
			if len(faults) > 0 || len(recs) != len(want)+1 {
				t.Fatal(len(recs), "records,", faults)
			}
			if recs[0].Type != Warcinfo || recs[0].Get("WARC-Filename") != files[0].Name {
				t.Fatal(recs[0].Fields)
			}
			for i := range want {
				r, g := &want[i], &recs[i+1]
				if g.Type != r.Type || g.ID != r.ID || !g.Date.Equal(r.Date) || !bytes.Equal(g.Block, bytes.Join(r.Block, nil)) ||
					!bytes.Equal(g.TargetURI, r.TargetURI) || *g.PayloadDigest != *r.PayloadDigest ||
					g.Get("WARC-Warcinfo-ID") != recs[0].Get("WARC-Record-ID") {
					t.Errorf("%d: %v, want %+v", i, g.Fields, r)
				}
			}
			if got := recs[2].Get("WARC-Truncated"); got != "length" {
				t.Errorf("a revisit that leaves its payload out says %q", got)
			}
		})
	}
}

// The bytes of a record of each kind do not change.
func TestGolden(t *testing.T) {
	e := newTestEncoder(t, None)
	digest := sha1Of([]byte("hello"))
	appendRecord(t, e, &Record{Type: Response, ID: ID{1, 2}, Date: testDate(0),
		TargetURI: []byte("http://example.com/a?b"),
		IP:        netip.MustParseAddr("192.0.2.1"), Truncated: TruncatedDisconnect,
		Block: [][]byte{[]byte("HTTP/1.1 200 OK\r\n\r\n"), []byte("hello")}})
	appendRecord(t, e, &Record{Type: Revisit, ID: ID{3}, Date: testDate(1), TargetURI: []byte("http://example.com/c"),
		ConcurrentTo: ID{1, 2},
		RefersTo:     ID{1, 2}, RefersToURI: "http://example.com/a?b", RefersToDate: testDate(0), PayloadDigest: &digest,
		Block: [][]byte{[]byte("HTTP/1.1 200 OK\r\n\r\n")}})
	e.Group().stamp(ID{9})
	const want = `WARC/1.1
WARC-Warcinfo-ID: <urn:uuid:09000000-0000-0000-0000-000000000000>
WARC-Type: response
WARC-Record-ID: <urn:uuid:01020000-0000-0000-0000-000000000000>
WARC-Date: 2026-11-21T12:00:00.123456Z
WARC-Target-URI: http://example.com/a?b
WARC-IP-Address: 192.0.2.1
WARC-Truncated: disconnect
WARC-Block-Digest: sha1:IORUMWLIBUO53GZZJS7FEOU3IDD3AFBH
Content-Type: application/http;msgtype=response
Content-Length: 24

HTTP/1.1 200 OK

hello

WARC/1.1
WARC-Warcinfo-ID: <urn:uuid:09000000-0000-0000-0000-000000000000>
WARC-Type: revisit
WARC-Record-ID: <urn:uuid:03000000-0000-0000-0000-000000000000>
WARC-Date: 2026-11-21T12:00:01.623456Z
WARC-Target-URI: http://example.com/c
WARC-Concurrent-To: <urn:uuid:01020000-0000-0000-0000-000000000000>
WARC-Profile: http://netpreserve.org/warc/1.1/revisit/identical-payload-digest
WARC-Refers-To: <urn:uuid:01020000-0000-0000-0000-000000000000>
WARC-Refers-To-Target-URI: http://example.com/a?b
WARC-Refers-To-Date: 2026-11-21T12:00:00.123456Z
WARC-Truncated: length
WARC-Payload-Digest: sha1:VL2MMHO4YXUKFWV63YHTWSBM3GXKSQ2N
WARC-Block-Digest: sha1:OP3ZUEAEIGC5QPO47I7DR5X4KB6IV5TP
Content-Type: application/http;msgtype=response
Content-Length: 19

HTTP/1.1 200 OK



`
	if got := strings.ReplaceAll(string(e.Group().Bytes()), "\r\n", "\n"); got != want {
		t.Errorf("got:\n%s", got)
	}
}

// No value from a web server adds a line to a header or to the index.
func TestHostile_U09_aRecordKeepsItsHeaderAndItsIndexLine(t *testing.T) {
	e := newTestEncoder(t, None)
	evil := "x\r\nWARC-Type: warcinfo\r\n\r\nWARC/1.1 <>\x00\x1b[31m"
	appendRecord(t, e, &Record{Type: Resource, Date: testDate(0), TargetURI: []byte("http://e/" + evil), ContentType: evil,
		RefersToURI: evil, Profile: evil, Extra: []Field{{"X-Extra", evil}}, Index: &IndexInfo{MIME: []byte(evil)}})
	appendRecord(t, e, &Record{Type: Revisit, Date: testDate(0), TargetURI: []byte(evil), RefersToURI: evil,
		Profile: evil})
	recs, faults := readAll(t, e.Group().Bytes(), ReaderOptions{Syntax: Fail})
	if len(faults) > 0 || len(recs) != 2 {
		t.Fatal(len(recs), faults)
	}
	for i := range recs {
		for _, f := range recs[i].Fields {
			if strings.ContainsAny(f.Value, "\r\n\x00\x1b") || f.Name == "WARC-Type" && f.Value == "warcinfo" {
				t.Errorf("%q", f)
			}
		}
	}
	key, _, _ := bytes.Cut(e.index, []byte(" 20261121120000 {"))
	if bytes.ContainsAny(e.index, "\r\n\x00\x1b") || bytes.ContainsAny(key, " {") {
		t.Errorf("%q", e.index)
	}
	for _, name := range []string{"", "a b", "a:", "a\r\nb", "é"} {
		err := e.Append(&Record{Type: Resource, Date: testDate(0), TargetURI: []byte("http://e/"),
			Extra: []Field{{name, "v"}}})
		if !errors.Is(err, ErrRecord) {
			t.Errorf("name %q: %v", name, err)
		}
	}
	if n := e.Group().Len(); n != 2 {
		t.Errorf("a refused record changed the group: %d", n)
	}
}

// After warm-up, packing and appending a page does not allocate.
func TestNoAllocations(t *testing.T) {
	if invariants.Race {
		t.Skip("the race detector allocates")
	}
	for _, c := range []Compression{Gzip, Zstd, None} {
		e := newTestEncoder(t, c)
		body := text(1, 16<<10)
		digest := sha1Of(body)
		uri := []byte("http://example.com/")
		head, request := []byte("HTTP/1.1 200 OK\r\n\r\n"), []byte("GET / HTTP/1.1\r\n\r\n")
		block, ask := [][]byte{head, body}, [][]byte{request}
		info := IndexInfo{Status: 200, MIME: []byte("text/html")}
		var r, q Record
		run := func() {
			e.Reset()
			r = Record{Type: Response, Date: testDate(0), TargetURI: uri, PayloadDigest: &digest, Block: block, Index: &info}
			q = Record{Type: Request, Date: testDate(0), TargetURI: uri, Block: ask}
			if e.Append(&r) != nil || e.Append(&q) != nil {
				t.Fatal("append")
			}
			e.Group().stamp(r.ID)
		}
		run()
		if n := testing.AllocsPerRun(100, run); n > 0 {
			t.Errorf("%s: %v allocations", c, n)
		}
	}
}

// The encoder refuses a block that is longer than readers accept: see BlockMax.
func TestEncoder_aBlockThatNoReaderTakesIsRefused(t *testing.T) {
	e := newTestEncoder(t, Gzip)
	piece := make([]byte, 1<<20)
	digest := sha1Of(piece)
	r := Record{Type: Response, Date: testDate(0), TargetURI: []byte("http://example.com/"), BlockDigest: &digest,
		Block: [][]byte{{0}}}
	for range BlockMax >> 20 {
		r.Block = append(r.Block, piece)
	}
	if err := e.Append(&r); !errors.Is(err, ErrRecord) {
		t.Errorf("a block of %d bytes: %v", BlockMax+1, err)
	}
}
