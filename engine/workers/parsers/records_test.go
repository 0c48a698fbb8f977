package parsers

import (
	"crypto/tls"
	"strings"
	"testing"
	"time"

	"orbweaver/engine/net/fetch"
	"orbweaver/engine/net/politeness"
	"orbweaver/engine/page/filter"
	"orbweaver/engine/records/dedup"
	"orbweaver/engine/records/neardup"
	"orbweaver/engine/state/attempt"
	"orbweaver/engine/state/cluster"
	"orbweaver/engine/store/journal"
	"orbweaver/engine/store/otherarchives"
	"orbweaver/internal/vfs"
	"orbweaver/warc"
)

// recordRig builds records for pages of a crawl with a store filter.
func recordRig(t *testing.T, store string) *recordBuilder {
	t.Helper()
	disk := vfs.NewMem(1)
	for _, dir := range []string{"seen", "warc"} {
		if err := disk.MkdirAll(dir); err != nil {
			t.Fatal(err)
		}
	}
	filters, err := filter.CompileStore(store, new(filter.Seeds))
	if err != nil {
		t.Fatal(err)
	}
	j := journal.NewStore()
	if j.Seen, err = dedup.Open(disk, dedup.Options{Dir: "seen", MemoryBytes: 1 << 16}, nil); err != nil {
		t.Fatal(err)
	}
	if j.Writer, err = warc.OpenWriter(disk, warc.Options{Dir: "warc", Prefix: "t"}, nil); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = j.Writer.Abandon(), j.Seen.Close() })
	enc, err := warc.NewEncoder(warc.EncoderOptions{Compression: warc.None})
	if err != nil {
		t.Fatal(err)
	}
	c := &Crawl{
		Journal: j, Others: otherarchives.None{}, Agents: cluster.Alone{}, Near: neardup.None{},
		Rules: inForce(Rules{Store: filters}),
	}
	b := newRecordBuilder(c, enc, newExtractor(c), &nearFinder{known: c.Near})
	return &b
}

// What the plan of a page decides stands in crawl.log, so that the operator sees why a page has no payload in the
// archive.
func TestPlan_saysInTheLogWhyAPageHasNoPayload(t *testing.T) {
	const head = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"
	for _, c := range []struct {
		name       string
		store      string
		isKnown    bool // an equal payload is in the archive
		isAsked    bool // with a condition, since an earlier capture is in the archive
		response   string
		annotation string
		hasPayload bool
	}{
		{"a new page", "all", false, false, head + "text", "", true},
		{"a page that the filter does not store", "none", false, false, head + "text", "notStored", false},
		{"an equal payload", "all", true, false, head + "text", "duplicate:digest", false},
		{"an equal payload that the filter does not store", "none", true, false, head + "text", "notStored", false},
		{
			"an unchanged page", "all", false, true, "HTTP/1.1 304 Not Modified\r\n\r\n", "duplicate:server-not-modified",
			false,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := recordRig(t, c.store)
			p, ok := fetch.Stored([]byte("http://a.test/"), []byte(c.response))
			if !ok {
				t.Fatal("no page")
			}
			p.Digest = [20]byte{1, 2, 3}
			if c.isKnown {
				if _, _, err := b.crawl.Journal.Seen.Insert(p.Digest, dedup.First{URI: "http://b.test/"}); err != nil {
					t.Fatal(err)
				}
			}
			a := &attempt.Attempt{URL: p.URL}
			if c.isAsked {
				a.Previous = attempt.PreviousCapture{First: dedup.First{RecordID: [16]byte{1}}}
			}
			plan, err := b.plan(t.Context(), p, p, a)
			if err != nil {
				t.Fatal(err)
			}
			if plan.annotation != c.annotation || plan.hasPayload != c.hasPayload {
				t.Errorf("annotation %q, payload %v", plan.annotation, plan.hasPayload)
			}
		})
	}
}

// A capture says how long its exchange took and how long its site had been left alone. It says the delays only if they
// are not those of the warcinfo record.
func TestAppendExchange_saysWhatTheDatesDoNot(t *testing.T) {
	start := time.Unix(1e9, 0)
	stated := MetadataOptions{Policy: politeness.Policy{HostDelay: 4 * time.Second, IPDelay: time.Second / 2}}
	const delay = 4 * time.Second
	for want, d := range map[string]attempt.Delays{
		"took=0.048212":                      {Host: delay, IP: time.Second / 2, Idle: -1, IPIdle: -1},
		"took=0.048212 idle=4.003":           {Host: delay, IP: time.Second / 2, Idle: 4003e6, IPIdle: -1},
		"took=0.048212 idle=0 ip-idle=0.512": {Host: delay, IP: time.Second / 2, IPIdle: 512345 * time.Microsecond},
		"took=0.048212 host-delay=0.25":      {Host: time.Second / 4, IP: time.Second / 2, Idle: -1, IPIdle: -1},
		"took=0.048212 crawl-delay-max=60": {
			Host: delay, IP: time.Second / 2, Idle: -1, IPIdle: -1, CrawlMax: time.Minute,
		},
		"took=0.048212 group=farm ip-delay=10":  {Host: delay, IP: 10 * time.Second, Idle: -1, IPIdle: -1, Group: "farm"},
		"took=0.048212 host-delay=9 ip-delay=0": {Host: 9 * time.Second, Idle: -1, IPIdle: -1},
	} {
		p := &fetch.Page{Times: fetch.Times{Started: start, Ended: start.Add(48211001 * time.Nanosecond)}}
		got := string(stated.appendExchange(nil, p, &attempt.Attempt{Delays: d}))
		if got != "Orbweaver-Exchange: "+want+"\r\n" {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// A page that was requested only because a robots.txt redirects there says so. A robots.txt itself needs no word.
func TestAppendExchange_saysThatARobotsFileRedirectsThere(t *testing.T) {
	for url, want := range map[string]string{
		"http://a.test/robots.txt":  "took=0",
		"http://a.test/rules":       "took=0 for=robots.txt",
		"http://a.test/robots.txt?": "took=0 for=robots.txt",
	} {
		a := &attempt.Attempt{URL: []byte(url), IsRobots: true, Delays: attempt.Delays{Idle: -1, IPIdle: -1}}
		got := string((&MetadataOptions{}).appendExchange(nil, &fetch.Page{}, a))
		if got != "Orbweaver-Exchange: "+want+"\r\n" {
			t.Errorf("%s: %q, want %q", url, got, want)
		}
	}
}

func BenchmarkAppendExchange(b *testing.B) {
	start := time.Unix(1e9, 0)
	p := &fetch.Page{Times: fetch.Times{Started: start, Ended: start.Add(48211001 * time.Nanosecond)}}
	a := &attempt.Attempt{Delays: attempt.Delays{Host: 4e9, IP: 5e8, Idle: 4003e6, IPIdle: 512345e3}}
	m := MetadataOptions{Policy: politeness.Policy{HostDelay: 4e9, IPDelay: 5e8}}
	var dst []byte
	b.ReportAllocs()
	for b.Loop() {
		dst = m.appendExchange(dst[:0], p, a)
	}
}

// A capture says how it was transferred, and which media type its bytes have. A revisit has no bytes to identify.
func TestCaptureFields(t *testing.T) {
	w, _ := newTestWriter(MetadataOptions{})
	page := func(text string) *fetch.Page {
		p, ok := fetch.Stored([]byte("http://a.test/"), []byte(text))
		if !ok {
			t.Fatal("no page")
		}
		return p
	}
	none := new(attempt.Attempt)
	f := func(p *fetch.Page, body, want string) {
		t.Helper()
		got := string(appendPayloadType(w.appendConnection(nil, p), p, none, []byte(body)))
		if got != strings.ReplaceAll(want, "|", "\r\n") {
			t.Errorf("%q, want %q", got, want)
		}
	}
	f(page("HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\n<html></html"), "",
		"WARC-Protocol: http/1.1|WARC-Identified-Payload-Type: text/html|")
	f(page("HTTP/1.0 200 OK\r\nContent-Encoding: gzip\r\n\r\n\x1f\x8b\x08"), "<p>",
		"WARC-Protocol: http/1.0|WARC-Identified-Payload-Type: text/html|")
	f(page("HTTP/1.0 200 OK\r\nContent-Encoding: gzip\r\n\r\n\x1f\x8b\x08"), "", "WARC-Protocol: http/1.0|")
	f(page("HTTP/1.1 204 No\r\n\r\n"), "", "WARC-Protocol: http/1.1|")
	const typed = "HTTP/1.1 200 OK\r\nContent-Type: Text/HTML; charset=windows-1251\r\n\r\n"
	f(page(typed+"<p>\xcf"), "<p>\xcf", "WARC-Protocol: http/1.1|") // the header alone has the character set
	f(page(typed+"<p>"), "<META Charset=windows-1251><p>\xcf",
		"WARC-Protocol: http/1.1|WARC-Identified-Payload-Type: text/html|")
	f(page(typed+"%PDF-"), "", "WARC-Protocol: http/1.1|WARC-Identified-Payload-Type: application/pdf|")
	p := page("HTTP/1.1 404 No\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n%P\r\n3\r\nDF-\r\n0\r\n\r\n")
	p.Connection.Secure = true
	p.Connection.TLS.Version, p.Connection.TLS.Cipher = tls.VersionTLS13, tls.TLS_AES_256_GCM_SHA384
	f(p, "", "WARC-Protocol: http/1.1|WARC-Protocol: tls/1.3|WARC-Cipher-Suite: TLS_AES_256_GCM_SHA384|"+
		"WARC-Identified-Payload-Type: application/pdf|")
	var b []byte
	if n := testing.AllocsPerRun(100, func() {
		b = appendPayloadType(w.appendConnection(b[:0], p), p, none, nil)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkCaptureFields(b *testing.B) {
	w, _ := newTestWriter(MetadataOptions{})
	p, _ := fetch.Stored([]byte("http://a.test/"),
		[]byte("HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n\r\n<!DOCTYPE html>\n<html><title>a</title>"))
	var dst []byte
	none := new(attempt.Attempt)
	b.ReportAllocs()
	for b.Loop() {
		dst = appendPayloadType(w.appendConnection(dst[:0], p), p, none, p.Payload())
	}
}
