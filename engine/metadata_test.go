package engine

import (
	"bytes"
	"crypto/tls"
	"strings"
	"testing"
	"time"

	"orbweaver/engine/fetch"
	"orbweaver/engine/parse"
	"orbweaver/engine/seen"
	"orbweaver/warc"
)

// fieldsOf is the metadata block of a page that was fetched so, without the time that it took.
func fieldsOf(t *testing.T, c WARCConfig, p *fetch.Page, f *flight) string {
	t.Helper()
	w := &parseWorker{tells: tellsOf(&c), finder: newLinkFinder(linkOptions{tell: c.tellsKinds()})}
	p.Started = time.Unix(1e9, 0)
	p.Ended = p.Started.Add(12 * time.Millisecond)
	w.finder.budget.open(0, 0)
	w.finder.resolve([]byte("http://a.test/"), []byte("b c"), parse.Anchor, false)
	w.finder.resolve([]byte("http://a.test/"), []byte("x.png"), parse.Image, false)
	b := w.appendFields(nil, p, f)
	rest, ok := strings.CutSuffix(strings.Replace(string(b), "fetchTimeMs: 12\r\n", "", 1), "\r\n")
	if len(b) > 0 && (!ok || !bytes.Contains(b, []byte("fetchTimeMs: 12\r\n"))) {
		t.Errorf("%q has no time, or does not end as a line does", b)
	}
	return strings.ReplaceAll(rest, "\r\n", "|")
}

func TestMetadataTellsWhatTheOtherRecordsDoNot(t *testing.T) {
	f := func(what string, c WARCConfig, p *fetch.Page, fl *flight, want string) {
		t.Helper()
		if got := fieldsOf(t, c, p, fl); got != want {
			t.Errorf("%s:\n got %s\nwant %s", what, got, want)
		}
	}
	auto, all, none := WARCConfig{}, WARCConfig{Metadata: MetadataAll}, WARCConfig{Metadata: MetadataNone}
	plain := func() *fetch.Page { return &fetch.Page{} }
	f("nothing to tell", auto, plain(), &flight{depth: 2}, "")
	f("nothing wanted", none, plain(), &flight{seed: true, rule: []byte("1 Allow: /")}, "")
	f("all", all, plain(), &flight{depth: 2, hops: 1, try: 1}, "hopsFromSeed: LLR|attempt: 2")
	f("a seed", auto, plain(), &flight{seed: true}, "seed: ")
	f("a rule", auto, plain(), &flight{depth: 1, rule: []byte("3 Allow: /a\x00b")}, "hopsFromSeed: L|robots-allowed-by-line: 3 Allow: /a b")
	f("robots.txt", all, plain(), &flight{robots: true}, "hopsFromSeed: P")
	f("where it came from", WARCConfig{Via: true}, plain(), &flight{depth: 1, way: []byte("E"), via: []byte("http://v.test/")},
		"via: http://v.test/|hopsFromSeed: E")
	f("half known", WARCConfig{Via: true}, plain(), &flight{depth: 1, via: []byte("http://v.test/")}, "via: http://v.test/")
	f("outlinks", WARCConfig{Outlinks: true}, plain(), &flight{depth: 1},
		"hopsFromSeed: L|outlink: http://a.test/b%20c L a/@href|outlink: http://a.test/x.png E img/@src")
	f("early hints", auto, &fetch.Page{Interim: []byte("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n")}, &flight{depth: 1},
		"hopsFromSeed: L|interim-response: HTTP/1.1 103 Early Hints|interim-response: Link: </a>")
	f("TLS", auto, &fetch.Page{TLS: &fetch.TLSFacts{
		Version: tls.VersionTLS13, Cipher: tls.TLS_AES_128_GCM_SHA256, Fault: "expired", Chain: [32]byte{0xab, 31: 0xcd},
	}}, &flight{depth: 1}, "hopsFromSeed: L|tls-version: TLS 1.3|tls-cipher-suite: TLS_AES_128_GCM_SHA256|"+
		"tls-certificate-chain: sha256:ab"+strings.Repeat("00", 30)+"cd|tls-certificate-fault: expired")
}

// The usual page costs no allocation, and neither does one with a rule and TLS.
func TestMetadataAllocatesNothing(t *testing.T) {
	w := &parseWorker{finder: newLinkFinder(linkOptions{tell: false}), tells: tellsOf(&WARCConfig{})}
	fl := &flight{depth: 3, rule: []byte("3 Allow: /a")}
	p := &fetch.Page{TLS: &fetch.TLSFacts{Version: tls.VersionTLS13, Cipher: tls.TLS_AES_128_GCM_SHA256}}
	b := make([]byte, 0, 4096)
	if n := testing.AllocsPerRun(100, func() { b = w.appendFields(b[:0], p, fl) }); n != 0 || len(b) == 0 {
		t.Errorf("%v allocations for %q", n, b)
	}
}

func TestTheWayOfAPageIsReadBackFromItsRecord(t *testing.T) {
	group := []warc.RecordRead{
		{Type: warc.Response, Block: []byte("HTTP/1.1 200 OK\r\nhopsFromSeed: X\r\n\r\n")},
		{Type: warc.Request},
		{Type: warc.Metadata, Block: []byte("via: http://v.test/\r\nhopsFromSeed: LER\r\n")},
	}
	if way := wayOf(group); string(way) != "LER" {
		t.Errorf("%q", way)
	}
	if way := wayOf(group[:2]); way != nil {
		t.Errorf("%q", way)
	}
}

func TestAVeryLongWayLosesItsOldestLetters(t *testing.T) {
	way := []byte("R")
	for range wayMax - 1 {
		way = appendHop(way, parse.Anchor)
	}
	if len(way) != wayMax || way[0] != 'R' {
		t.Fatalf("%d letters, %c first", len(way), way[0])
	}
	if way = appendHop(way, parse.Redirect); len(way) != wayMax || way[0] != 'L' || way[wayMax-1] != 'R' {
		t.Errorf("%d letters, %c first, %c last", len(way), way[0], way[wayMax-1])
	}
}

func TestItemsCarryWhereTheyCameFrom(t *testing.T) {
	for _, it := range []Item{
		{Seed: true, Rest: []byte("http://a.test/")},
		{Depth: 300, Via: []byte("http://v.test/"), Way: []byte("LL"), Rest: []byte("/a")},
		{Depth: 1, Via: []byte{}, Way: []byte{}, Rest: []byte("/a")},
		{Hops: 2, RobotsOf: []byte("http://o.test"), Via: []byte("http://v.test/"), Way: []byte("P"), Rest: []byte("/robots.txt")},
	} {
		b := appendItem(nil, &it)
		got, ok := decodeItem(b)
		if !ok || string(got.Via) != string(it.Via) || (got.Via == nil) != (it.Via == nil) || string(got.Way) != string(it.Way) ||
			string(got.Rest) != string(it.Rest) || string(got.RobotsOf) != string(it.RobotsOf) || got.Depth != it.Depth || got.Seed != it.Seed {
			t.Errorf("%+v became %+v (%v)", it, got, ok)
		}
		for n := range b {
			if short, ok := decodeItem(b[:n]); ok && len(short.Via) > len(it.Via) {
				t.Errorf("%d bytes of %x gave %+v", n, b, short)
			}
		}
	}
}

// The answer to a conditional request that says "unchanged" is stored as a revisit of what the request was about.
func TestAnUnchangedPageIsARevisit(t *testing.T) {
	enc, err := warc.NewEncoder(warc.EncoderOptions{Compression: warc.None})
	if err != nil {
		t.Fatal(err)
	}
	page, ok := fetch.Stored([]byte("http://a.test/"), []byte("HTTP/1.1 304 Not Modified\r\nETag: \"7\"\r\n\r\n"))
	if !ok {
		t.Fatal("no page")
	}
	page.Started = time.Unix(2e9, 0)
	digest := seen.Digest{1, 2, 3}
	before := earlier{First: seen.First{RecordID: [16]byte{1, 2, 3}, URI: "http://a.test/", Date: time.Unix(1e9, 0)}, digest: &digest}
	pack := func(before earlier) (*warc.RecordRead, recordPlan) {
		t.Helper()
		enc.Reset()
		w := &parseWorker{encoder: enc, finder: newLinkFinder(linkOptions{tell: false})}
		f := &flight{url: page.URL, before: before}
		plan := recordPlan{unchanged: isUnchanged(page, f)}
		if err := w.pack(page, f, &plan); err != nil {
			t.Fatal(err)
		}
		recs := readGroup(t, enc)
		return recs, plan
	}
	rec, plan := pack(before)
	if rec.Type != warc.Revisit || rec.Get("WARC-Profile") != warc.ProfileNotModified || plan.annotation() == "" ||
		rec.Get("WARC-Refers-To") != "<"+warc.ID(before.RecordID).String()+">" || rec.Get("WARC-Refers-To-Target-URI") != before.URI ||
		rec.Get("WARC-Refers-To-Date") != "2001-09-09T01:46:40.000000Z" || rec.Get("WARC-Truncated") != "" ||
		rec.PayloadDigest == nil || seen.Digest(*rec.PayloadDigest) != digest {
		t.Errorf("%+v", rec.Fields)
	}
	if c := ReadCapture(rec); c.Status != 304 || c.Page == nil || string(c.Page.Header("etag")) != `"7"` {
		t.Errorf("read back: %+v", c)
	}
	if rec, _ = pack(earlier{}); rec.Type != warc.Response {
		t.Errorf("a 304 that nobody asked for is a %s", rec.Type)
	}
}

// readGroup reads the first record that was packed, as if it were a file.
func readGroup(t *testing.T, enc *warc.Encoder) *warc.RecordRead {
	t.Helper()
	z := warc.NewReader(bytes.NewReader(enc.Group().Bytes()), warc.ReaderOptions{Syntax: warc.Fail, Spec: warc.Fail, Block: warc.Fail})
	defer z.Close()
	rec, err := z.Next()
	if err == nil {
		_, err = rec.ReadBlock(1 << 20)
	}
	if err != nil {
		t.Fatal(err)
	}
	return rec
}
