package extracts

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"orbweaver/derive"
	"orbweaver/derive/derivetest"
	"orbweaver/internal/vfs"
	"orbweaver/warc"
)

// made makes both files of one WARC file, and checks that they are valid archives.
func made(t *testing.T, a *derivetest.Archive) (wet, wat []byte) {
	t.Helper()
	fsys := vfs.NewMem(1)
	derivetest.Put(t, fsys, "x.warc.gz", a.Bytes())
	o := Options{Software: "orbweaver/1", Now: time.Date(2026, 2, 3, 4, 5, 6, 0, time.UTC)}
	_, err := derive.Run(t.Context(), fsys, []string{"x.warc.gz"}, derive.Options{
		Dir: "out", Products: []derive.Product{WET(o), WAT(o)},
	})
	if err != nil {
		t.Fatal(err)
	}
	wet = derivetest.Get(t, fsys, "out/wet/x.warc.wet.gz")
	wat = derivetest.Get(t, fsys, "out/wat/x.warc.wat.gz")
	for name, b := range map[string][]byte{"wet": wet, "wat": wat} {
		eachRecord(t, b, func(*warc.RecordRead) {}, func(f *warc.Fault) { t.Errorf("%s: %v", name, f) })
	}
	return wet, wat
}

// eachRecord reads an archive strictly.
func eachRecord(t *testing.T, b []byte, f func(*warc.RecordRead), fault func(*warc.Fault)) {
	t.Helper()
	z := warc.NewReader(bytes.NewReader(b), warc.ReaderOptions{
		Syntax: warc.Warn, Spec: warc.Warn, Block: warc.Warn, OnFault: fault,
	})
	defer z.Close()
	err := warc.ScanRecords(z, func(rec *warc.RecordRead) error {
		if _, err := rec.ReadBlock(1 << 20); err != nil {
			return err
		}
		f(rec)
		return nil
	}, warc.StopAtDamage)
	if err != nil {
		t.Fatal(err)
	}
}

// sample is an archive with a page, and records that have no text.
func sample() *derivetest.Archive {
	var a derivetest.Archive
	a.Record("warcinfo", "", "application/warc-fields", "software: x\r\nisPartOf: C\r\nhostname: h\r\n",
		"WARC-Filename: f")
	a.Record("request", "http://a.test/", "application/http;msgtype=request", "GET /p HTTP/1.1\r\nHost: a.test\r\n\r\n")
	a.Response("http://a.test/", 200, "text/html", "<html><head><base href=/b/><title>T</title><link rel=icon href=i>"+
		"<meta property=og:title content='A &lt; B'><script src=s></script></head>"+
		"<p>One<p>Two<a href='u&amp;v' rel=nofollow>x</a></html>", "X-A: 1", "X-A: 2")
	a.Response("http://a.test/gone", 404, "text/html", "<p>not here")
	a.Response("http://a.test/i.png", 200, "image/png", "\x89PNG")
	a.Record("metadata", "http://a.test/", "application/warc-fields", "via: x\r\nhops: L\r\n")
	return &a
}

// A WET file has the page alone. The lines of its header are where CCNet counts them.
func TestWET(t *testing.T) {
	wet, _ := made(t, sample())
	var heads []string
	eachRecord(t, wet, func(rec *warc.RecordRead) {
		text := ""
		for _, f := range rec.Fields {
			text += f.Name + ": " + f.Value + "\n"
		}
		heads = append(heads, text+"\n"+string(rec.Block))
	}, func(*warc.Fault) {})
	if len(heads) != 2 {
		t.Fatalf("%d records", len(heads))
	}
	if !strings.Contains(heads[0], "isPartOf: C") || strings.Contains(heads[0], "hostname") {
		t.Error(heads[0])
	}
	lines := strings.Split(heads[1], "\n")
	want := []string{
		"WARC-Type: conversion", "WARC-Target-URI: http://a.test/", "WARC-Date: 2026-01-02T03:04:03Z", lines[3],
		"WARC-Refers-To: <urn:uuid:00000000-0000-4000-8000-000000000003>", lines[5], "Content-Type: text/plain",
		"Content-Length: 11", "WARC-Payload-Digest" + strings.TrimPrefix(lines[5], "WARC-Block-Digest"),
		"", "T", "One", "Twox", "",
	}
	if d := cmp.Diff(want, lines); d != "" || !strings.HasPrefix(lines[5], "WARC-Block-Digest: sha1:") {
		t.Error(d)
	}
}

// The languages of a text follow its length: readers by position do not expect them before.
func TestWET_languages(t *testing.T) {
	var a derivetest.Archive
	a.Response("http://a.test/", 200, "text/html", "<p>zwei")
	fsys := vfs.NewMem(1)
	derivetest.Put(t, fsys, "x.warc.gz", a.Bytes())
	_, err := derive.Run(t.Context(), fsys, []string{"x.warc.gz"}, derive.Options{
		Dir: "out", Products: []derive.Product{WET(Options{LanguageModel: "x"})},
		NewLanguageDetector: derivetest.Detector{}.New,
	})
	if err != nil {
		t.Fatal(err)
	}
	var last warc.Field
	eachRecord(t, derivetest.Get(t, fsys, "out/wet/x.warc.wet.gz"), func(rec *warc.RecordRead) {
		last = rec.Fields[len(rec.Fields)-1]
	}, func(f *warc.Fault) { t.Error(f) })
	if last.Name != "WARC-Identified-Content-Language" || last.Value != "eng,deu" {
		t.Error(last)
	}
}

// A WAT file describes every record, with names and spellings of Common Crawl.
func TestWAT(t *testing.T) {
	_, wat := made(t, sample())
	var blocks []map[string]any
	eachRecord(t, wat, func(rec *warc.RecordRead) {
		if rec.Type != warc.Metadata {
			return
		}
		var v map[string]any
		if err := json.Unmarshal(rec.Block, &v); err != nil {
			t.Fatal(err)
		}
		blocks = append(blocks, v)
	}, func(*warc.Fault) {})
	if len(blocks) != 6 {
		t.Fatalf("%d records", len(blocks))
	}
	for _, c := range []struct {
		record int
		path   string
		want   any
	}{
		{0, "Envelope.Payload-Metadata.WARC-Info-Metadata.isPartOf", "C"},
		{1, "Envelope.Payload-Metadata.HTTP-Request-Metadata.Request-Message.Path", "/p"},
		{2, "Container.Filename", "x.warc.gz"},
		{2, "Envelope.WARC-Header-Metadata.WARC-Type", "response"},
		{2, "Envelope.Payload-Metadata.HTTP-Response-Metadata.Response-Message.Status", "200"},
		{2, "Envelope.Payload-Metadata.HTTP-Response-Metadata.Headers.X-A", []any{"1", "2"}},
		{2, "Envelope.Payload-Metadata.HTTP-Response-Metadata.HTML-Metadata.Head", map[string]any{
			"Title": "T", "Base": "/b/", "Link": []any{map[string]any{"path": "LINK@/href", "url": "i", "rel": "icon"}},
			"Scripts": []any{map[string]any{"path": "SCRIPT@/src", "url": "s"}},
			"Metas":   []any{map[string]any{"property": "og:title", "content": "A < B"}},
		}},
		{2, "Envelope.Payload-Metadata.HTTP-Response-Metadata.HTML-Metadata.Links", []any{
			map[string]any{"path": "A@/href", "url": "u&v", "rel": "nofollow", "text": "x"},
		}},
		{4, "Envelope.Payload-Metadata.HTTP-Response-Metadata.Entity-Length", "4"},
		{5, "Envelope.Payload-Metadata.WARC-Metadata-Metadata.Metadata-Records", []any{
			map[string]any{"Name": "via", "Value": "x"}, map[string]any{"Name": "hops", "Value": "L"},
		}},
	} {
		var v any = blocks[c.record]
		for name := range strings.SplitSeq(c.path, ".") {
			o, _ := v.(map[string]any)
			v = o[name]
		}
		if d := cmp.Diff(c.want, v); d != "" {
			t.Errorf("record %d, %s:\n%s", c.record, c.path, d)
		}
	}
}

// A repeated run writes the same bytes, and values of the archive add no line to a header.
func TestProduct_isRepeatable(t *testing.T) {
	a := sample()
	a.Response("http://a.test/\x01\x7f", 200, "text/html", "<p>x")
	wet, wat := made(t, a)
	again, alsoAgain := made(t, a)
	if !bytes.Equal(wet, again) || !bytes.Equal(wat, alsoAgain) {
		t.Error("other bytes")
	}
}
