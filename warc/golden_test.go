package warc_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"slices"
	"testing"
	"time"

	"orbweaver/internal/golden"
	"orbweaver/warc"
	"orbweaver/warc/cdxj"
)

// goldenRecords are a capture of each kind.
func goldenRecords() []*warc.Record {
	at := time.Date(2026, 2, 3, 4, 5, 6, 789000, time.UTC)
	id := func(n byte) warc.ID { return warc.ID{0: n, 6: 0x40, 8: 0x80, 15: n} }
	digest := [20]byte{1, 2, 3}
	uri := []byte("http://a.test/p\u00e4ge?q=1")
	ip := netip.MustParseAddr("2001:db8::1")
	return []*warc.Record{
		{Type: warc.Warcinfo, ID: id(1), Date: at, Filename: "golden", Block: [][]byte{[]byte("software: orbweaver\r\n")}},
		{Type: warc.Response, ID: id(2), Date: at, TargetURI: uri, IP: ip, PayloadDigest: &digest,
			Truncated: warc.TruncatedTime,
			Extra:     []warc.Field{{Name: "WARC-Protocol", Value: "http/1.1"}},
			Block: [][]byte{[]byte("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"),
				bytes.Repeat([]byte("<p>text</p>\n"), 50)}},
		{Type: warc.Request, ID: id(3), Date: at, TargetURI: uri, IP: ip, ConcurrentTo: id(2),
			Block: [][]byte{[]byte("GET /p HTTP/1.1\r\nHost: a.test\r\n\r\n")}},
		{Type: warc.Metadata, ID: id(4), Date: at, TargetURI: uri, ConcurrentTo: id(2),
			Block: [][]byte{[]byte("via: http://a.test/\r\n")}},
		{Type: warc.Revisit, ID: id(5), Date: at.Add(time.Hour), TargetURI: uri, IP: ip, PayloadDigest: &digest,
			RefersTo: id(2), RefersToURI: string(uri),
			RefersToDate: at, Block: [][]byte{[]byte("HTTP/1.1 200 OK\r\n\r\n")}},
		{Type: warc.Revisit, ID: id(6), Date: at.Add(2 * time.Hour), TargetURI: uri, IP: ip,
			Profile: warc.ProfileNotModified, RefersTo: id(2), RefersToURI: string(uri),
			RefersToDate: at, Block: [][]byte{[]byte("HTTP/1.1 304 Not Modified\r\n\r\n")}},
	}
}

// encode packs the golden records.
func encode(t *testing.T, c warc.Compression) []byte {
	t.Helper()
	e, err := warc.NewEncoder(warc.EncoderOptions{Compression: c})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range goldenRecords() {
		if err := e.Append(r); err != nil {
			t.Fatal(err)
		}
	}
	return slices.Clone(e.Group().Bytes())
}

// contents returns the fields and the blocks of the records of a file.
func contents(t *testing.T, file []byte) (all []string) {
	t.Helper()
	o := warc.ReaderOptions{Name: "golden", Syntax: warc.Fail, Spec: warc.Fail, Block: warc.Fail}
	z := warc.NewReader(bytes.NewReader(file), o)
	defer z.Close()
	for {
		rec, err := z.Next()
		if errors.Is(err, io.EOF) {
			return all
		}
		var block []byte
		if err == nil {
			block, err = rec.ReadBlock(1 << 20)
		}
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, fmt.Sprintf("%s %v %q", rec.Type, rec.Fields, block))
	}
}

// Uncompressed records have the checked-in bytes. Compressed files depend on the compressor, so they are only read. All
// files have the same records, and the checked-in indexes.
func TestGolden_recordsAndIndex(t *testing.T) {
	plain := golden.Compare(t, "records-1.warc", "288412eae890a49a02a79b792a1c7a7704b99c0ac32c1e0dedbdaa5aa0f2cfdc",
		encode(t, warc.None))
	want := contents(t, plain)
	if len(want) != len(goldenRecords()) {
		t.Errorf("%d records of %d", len(want), len(goldenRecords()))
	}
	if golden.Writing() {
		golden.Add(t, "records-1.warc.gz", encode(t, warc.Gzip))
		golden.Add(t, "records-1.warc.zst", encode(t, warc.Zstd))
	}
	index := func(name string, file []byte) []byte {
		var b bytes.Buffer
		z := warc.NewReader(bytes.NewReader(file), warc.ReaderOptions{Name: name})
		defer z.Close()
		if err := warc.WriteIndex(&b, z, name, warc.StopAtDamage); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	packed := golden.Read(t, "records-1.warc.gz", "983ca63abd5d5eed01e3df6aa80facec2e916860c48e85a6e0ee12f8be749bfe")
	frames := golden.Read(t, "records-1.warc.zst", "ab3f30bd4e66d581b8eab425b7871243e426b1857670444138c8a441faa2c2ef")
	for name, file := range map[string][]byte{
		"gzip": packed, "zstd": frames, "gzip now": encode(t, warc.Gzip), "zstd now": encode(t, warc.Zstd),
	} {
		if got := contents(t, file); !slices.Equal(got, want) {
			t.Errorf("%s: the records are\n%q, not\n%q", name, got, want)
		}
	}
	lines := golden.Compare(t, "records-1.cdxj", "0b210945fc35cdf407122ffeba69ff67d1f2ff6bd38b0f1e42867e669744b65d",
		index("records-1.warc", plain))
	golden.Compare(t, "records-1-gz.cdxj", "43c751c1573622f1b238a353f3cf8bdf2c7805339363ac7d36788655fbd33776",
		index("records-1.warc.gz", packed))
	golden.Compare(t, "records-1-zst.cdxj", "526a13b1422ad2be6ea66a060b9d641c62217211fd575f5f57ad89e333dcd97a",
		index("records-1.warc.zst", frames))
	revisits := 0
	for line := range bytes.Lines(lines) {
		l, err := cdxj.ParseLine(line)
		if err != nil || string(l.File) != "records-1.warc" || l.Length == 0 || l.Status != 200 && l.Status != 304 {
			t.Errorf("%+v, %v", l, err)
		}
		if l.Revisit {
			revisits++
		}
	}
	if revisits != 2 {
		t.Errorf("%d revisits in the index", revisits)
	}
}
