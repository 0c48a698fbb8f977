package parsers

import (
	"bytes"
	"crypto/tls"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"orbweaver/engine/net/fetch"
	"orbweaver/engine/page/parse"
	"orbweaver/engine/records/capture"
	"orbweaver/engine/records/dedup"
	"orbweaver/engine/records/neardup"
	"orbweaver/engine/state/attempt"
	"orbweaver/engine/state/queued"
	"orbweaver/internal/urlx"
	"orbweaver/warc"
)

// inForce returns rules that are in force.
func inForce(r Rules) *atomic.Pointer[Rules] {
	p := new(atomic.Pointer[Rules])
	p.Store(&r)
	return p
}

// newTestWriter returns a metadataWriter and the extractor that it takes links from.
func newTestWriter(o MetadataOptions) (metadataWriter, *extractor) {
	x := newExtractor(&Crawl{Near: neardup.None{}, Rules: inForce(Rules{})})
	return newMetadataWriter(o, x), x
}

// fieldsOf returns the metadata block of a page, without fetchTimeMs and with | for line ends.
func fieldsOf(t *testing.T, o MetadataOptions, p *fetch.Page, a *attempt.Attempt) string {
	t.Helper()
	w, x := newTestWriter(o)
	p.Times.Started = time.Unix(1e9, 0)
	p.Times.Ended = p.Times.Started.Add(12 * time.Millisecond)
	x.finder.Budget.Open(0, 0)
	x.finder.Resolve([]byte("http://a.test/"), []byte("b c"), parse.Anchor, false)
	x.finder.Resolve([]byte("http://a.test/"), []byte("x.png"), parse.Image, false)
	x.finder.AddMined([]byte("http://a.test/mined")) // no page has it
	b := w.appendFields(nil, p, a)
	rest, ok := strings.CutSuffix(strings.Replace(string(b), "fetchTimeMs: 12\r\n", "", 1), "\r\n")
	if len(b) > 0 && (!ok || !bytes.Contains(b, []byte("fetchTimeMs: 12\r\n"))) {
		t.Errorf("%q has no time, or does not end as a line does", b)
	}
	return strings.ReplaceAll(rest, "\r\n", "|")
}

func TestMetadataContainsWhatOtherRecordsLack(t *testing.T) {
	f := func(what string, o MetadataOptions, p *fetch.Page, a *attempt.Attempt, want string) {
		t.Helper()
		if got := fieldsOf(t, o, p, a); got != want {
			t.Errorf("%s:\n got %s\nwant %s", what, got, want)
		}
	}
	auto, all, none := MetadataOptions{}, MetadataOptions{Mode: MetadataAll}, MetadataOptions{Mode: MetadataNone}
	plain := func() *fetch.Page { return &fetch.Page{} }
	f("nothing to tell", auto, plain(), &attempt.Attempt{Hops: queued.Hops{Depth: 2}}, "")
	f("nothing wanted", none, plain(), &attempt.Attempt{Seed: true, RobotsRule: []byte("1 Allow: /")}, "")
	f("all", all, plain(), &attempt.Attempt{Hops: queued.Hops{Depth: 2, Redirects: 1}, Tries: 1},
		"hopsFromSeed: LLR|attempt: 2")
	f("a seed", auto, plain(), &attempt.Attempt{Seed: true}, "seed: ")
	f("a rule", auto, plain(), &attempt.Attempt{Hops: queued.Hops{Depth: 1}, RobotsRule: []byte("3 Allow: /a\x00b")},
		"hopsFromSeed: L|robots-allowed-by-line: 3 Allow: /a b")
	f("robots.txt", all, plain(), &attempt.Attempt{IsRobots: true}, "hopsFromSeed: P")
	f("where it came from", MetadataOptions{Via: true}, plain(),
		&attempt.Attempt{Hops: queued.Hops{Depth: 1}, HopPath: []byte("E"), Via: []byte("http://v.test/")},
		"via: http://v.test/|hopsFromSeed: E")
	f("half known", MetadataOptions{Via: true}, plain(),
		&attempt.Attempt{Hops: queued.Hops{Depth: 1}, Via: []byte("http://v.test/")}, "via: http://v.test/")
	f("outlinks", MetadataOptions{Outlinks: true}, plain(), &attempt.Attempt{Hops: queued.Hops{Depth: 1}},
		"hopsFromSeed: L|outlink: http://a.test/b%20c L a/@href|outlink: http://a.test/x.png E img/@src")
	f("early hints", auto, &fetch.Page{Interim: []byte("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n")},
		&attempt.Attempt{Hops: queued.Hops{Depth: 1}},
		"hopsFromSeed: L|interim-response: HTTP/1.1 103 Early Hints|interim-response: Link: </a>")
	f("TLS", auto, &fetch.Page{Connection: fetch.Connection{Secure: true, TLS: fetch.TLSFacts{
		Version: tls.VersionTLS13, Cipher: tls.TLS_AES_128_GCM_SHA256, Resumed: true, Fault: "expired",
		Chain: [32]byte{0xab, 31: 0xcd},
	}}}, &attempt.Attempt{Hops: queued.Hops{Depth: 1}},
		"hopsFromSeed: L|tls-version: TLS 1.3|tls-cipher-suite: TLS_AES_128_GCM_SHA256|"+
			"tls-certificate-chain: sha256:ab"+strings.Repeat("00", 30)+"cd|tls-session: resumed|tls-certificate-fault: expired")
}

// The usual page costs no allocation, and neither does one with a rule and TLS.
func TestMetadataAllocatesNothing(t *testing.T) {
	w, _ := newTestWriter(MetadataOptions{})
	fl := &attempt.Attempt{Hops: queued.Hops{Depth: 3}, RobotsRule: []byte("3 Allow: /a")}
	p := &fetch.Page{Connection: fetch.Connection{Secure: true, TLS: fetch.TLSFacts{
		Version: tls.VersionTLS13, Cipher: tls.TLS_AES_128_GCM_SHA256,
	}}}
	b := make([]byte, 0, 4096)
	if n := testing.AllocsPerRun(100, func() { b = w.appendFields(b[:0], p, fl) }); n != 0 || len(b) == 0 {
		t.Errorf("%v allocations for %q", n, b)
	}
}

// A 304 to a conditional request is stored as a revisit of the previous capture.
func TestUnchangedPageIsRevisit(t *testing.T) {
	enc, err := warc.NewEncoder(warc.EncoderOptions{Compression: warc.None})
	if err != nil {
		t.Fatal(err)
	}
	page, ok := fetch.Stored([]byte("http://a.test/"), []byte("HTTP/1.1 304 Not Modified\r\nETag: \"7\"\r\n\r\n"))
	if !ok {
		t.Fatal("no page")
	}
	page.Times.Started = time.Unix(2e9, 0)
	digest := dedup.Digest{1, 2, 3}
	previous := attempt.PreviousCapture{
		First:  dedup.First{RecordID: [16]byte{1, 2, 3}, URI: "http://a.test/", Date: time.Unix(1e9, 0)},
		Digest: &digest,
	}
	pack := func(previous attempt.PreviousCapture) (*warc.RecordRead, recordPlan) {
		t.Helper()
		enc.Reset()
		c := &Crawl{Near: neardup.None{}, Rules: inForce(Rules{})}
		b := newRecordBuilder(c, enc, newExtractor(c), &nearFinder{known: c.Near})
		a := &attempt.Attempt{URL: page.URL, Previous: previous}
		plan := recordPlan{isStored: true, isUnchanged: attempt.IsUnchanged(page, a)}
		if err := b.encode(page, a, &plan); err != nil {
			t.Fatal(err)
		}
		recs := readGroup(t, enc)
		return recs, plan
	}
	rec, plan := pack(previous)
	refersTo := "<" + warc.ID(previous.RecordID).String() + ">"
	if rec.Type != warc.Revisit || rec.Get("WARC-Profile") != warc.ProfileNotModified || plan.hasPayload ||
		rec.Get("WARC-Refers-To") != refersTo || rec.Get("WARC-Refers-To-Target-URI") != previous.URI ||
		rec.Get("WARC-Refers-To-Date") != "2001-09-09T01:46:40.000000Z" || rec.Get("WARC-Truncated") != "" ||
		rec.PayloadDigest == nil || dedup.Digest(*rec.PayloadDigest) != digest {
		t.Errorf("%+v", rec.Fields)
	}
	c, err := capture.Read(rec)
	if err != nil || c.Status != 304 || c.Page == nil || string(c.Page.Head().Value("etag")) != `"7"` {
		t.Errorf("read back: %+v", c)
	}
	if rec, _ = pack(attempt.PreviousCapture{}); rec.Type != warc.Response {
		t.Errorf("an unconditional 304 is a %s", rec.Type)
	}
}

// readGroup reads the first record that was packed, as if it were a file.
func readGroup(t *testing.T, enc *warc.Encoder) *warc.RecordRead {
	t.Helper()
	z := warc.NewReader(bytes.NewReader(enc.Group().Bytes()),
		warc.ReaderOptions{Syntax: warc.Fail, Spec: warc.Fail, Block: warc.Fail})
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

// Links that --normal-form has changed are in the record as the page has them, unless an earlier record has them.
func TestMetadataHasTheSpellingsOfLinks(t *testing.T) {
	w, x := newTestWriter(MetadataOptions{})
	x.finder.O.Strip = new(urlx.Params).As(urlx.Sorted)
	x.finder.Budget.Open(1000, 1000)
	x.finder.Resolve([]byte("http://a.test/"), []byte("p?b&a"), parse.Anchor, false)
	a := &attempt.Attempt{Hops: queued.Hops{Depth: 1}}
	got := string(w.appendFields(nil, &fetch.Page{}, a))
	if !strings.HasSuffix(got, "\r\noutlink-spelling: http://a.test/p?a&b http://a.test/p?b&a\r\n") {
		t.Errorf("%q", got)
	}
	w.hasEarlierLinks = true
	if b := w.appendFields(nil, &fetch.Page{}, a); len(b) > 0 {
		t.Errorf("%q", b)
	}
}
