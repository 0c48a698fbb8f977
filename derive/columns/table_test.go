package columns

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"

	"orbweaver/derive"
	"orbweaver/derive/derivetest"
	"orbweaver/internal/vfs"
	"orbweaver/warc"
)

// table makes the table of one WARC file, and returns the rows of each Parquet file.
func table(t *testing.T, content []byte, o Options) map[string][]Row {
	t.Helper()
	fsys := vfs.NewMem(1)
	derivetest.Put(t, fsys, "x.warc.gz", content)
	_, err := derive.Run(t.Context(), fsys, []string{"x.warc.gz"}, derive.Options{
		Dir: "out", Crawl: "C", Products: []derive.Product{New(o)}, NewLanguageDetector: derivetest.Detector{}.New,
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := fsys.Size("out/parquet/_SUCCESS"); err != nil {
		t.Error(err)
	}
	found := map[string][]Row{}
	for subset := range subsets {
		dir := "out/parquet/crawl=C/subset=" + subsetName(subset)
		names, _ := fsys.List(dir) // a subset without records has no directory
		for _, name := range names {
			b := derivetest.Get(t, fsys, dir+"/"+name)
			rows, err := parquet.Read[Row](bytes.NewReader(b), int64(len(b)))
			if err != nil {
				t.Fatal(err)
			}
			if !slices.IsSortedFunc(rows, func(a, b Row) int { return strings.Compare(a.SURTKey, b.SURTKey) }) {
				t.Errorf("%s is not sorted", name)
			}
			found[subsetName(subset)+"/"+name] = rows
		}
	}
	return found
}

// indexLine is what a row has in common with a line of the index.
type indexLine struct {
	key, stamp                                          string
	URL, MIME, Status, Digest, Length, Offset, Filename string
}

// mixed is an archive with all that an index line can have.
func mixed() *derivetest.Archive {
	var a derivetest.Archive
	a.Record("warcinfo", "", "application/warc-fields", "software: x\r\n")
	a.Response("http://www.example.co.uk:8080/b?x=1&a=2", 200, "text/html; charset=utf-8", "<title>b</title>")
	a.Response("https://example.org/a", 301, "text/plain", "", "Location: ../c d")
	a.Response("https://example.org/robots.txt", 200, "text/plain", "User-agent: *\n")
	a.Response("https://example.org/robots.txt?x", 404, "text/plain", "no")
	a.Response("http://192.0.2.7/p", 200, "image/png", "\x89PNG\r\n\x1a\n....")
	a.Response("http://[2001:db8::1]/", 200, "IMAGE/gif ;x", "text")
	a.Response("http://b\xfccher.test/\xff", 200, "text/\xe9", "x")
	a.Record("revisit", "http://example.org/", "application/http;msgtype=response",
		"HTTP/1.1 304 Not Modified\r\nContent-Type: text/html\r\n\r\n", "WARC-Profile: x",
		"WARC-Payload-Digest: SHA-256:ABC")
	a.Record("resource", "urn:pageinfo:http://x.test/", "application/json", "{}", "WARC-Truncated: length")
	a.Record("metadata", "http://example.org/", "application/warc-fields", "a: b\r\n")
	a.Record("response", "dns:example.org", "text/dns", "example.org. 1 A 192.0.2.1\n")
	a.Record("response", "http://half.test/", "application/http;msgtype=response", "HTTP/1.1 200 OK\r\nContent-Type: a/b")
	a.Record("response", "ftp://f.test/x", "application/octet-stream", "x")
	a.Record("response", "http://empty.test/", "application/http;msgtype=response", "")
	return &a
}

// Each row is a line of the CDXJ index, and each line a row.
func TestTable_equalsTheIndex(t *testing.T) {
	content := mixed().Bytes()
	var index bytes.Buffer
	z := warc.NewReader(bytes.NewReader(content), warc.ReaderOptions{})
	defer z.Close()
	if err := warc.WriteIndex(&index, z, "x.warc.gz", warc.StopAtDamage); err != nil {
		t.Fatal(err)
	}
	var want, got []indexLine
	for line := range strings.Lines(index.String()) {
		key, rest, _ := strings.Cut(line, " ")
		stamp, text, _ := strings.Cut(rest, " ")
		l := indexLine{key: validText([]byte(key)), stamp: stamp} // a text column is UTF-8
		if err := json.Unmarshal([]byte(text), &l); err != nil {
			t.Fatal(err)
		}
		want = append(want, l)
	}
	for _, rows := range table(t, content, Options{}) {
		for _, r := range rows {
			l := indexLine{
				key: r.SURTKey, stamp: time.UnixMilli(r.Time).UTC().Format("20060102150405"), URL: r.URL, MIME: r.MIMEType,
				Digest: r.Digest, Filename: r.File, Length: strconv.Itoa(int(r.Length)), Offset: strconv.Itoa(int(r.Offset)),
			}
			if r.Status >= 0 {
				l.Status = strconv.Itoa(int(r.Status))
			}
			got = append(got, l)
		}
	}
	order := func(a, b indexLine) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) }
	slices.SortFunc(want, order)
	slices.SortFunc(got, order)
	if d := cmp.Diff(want, got, cmp.AllowUnexported(indexLine{})); d != "" || len(want) != 12 {
		t.Errorf("%d lines of the index, %d rows:\n%s", len(want), len(got), d)
	}
}

// The columns of a few records, and their subsets.
func TestTable_columns(t *testing.T) {
	found := table(t, mixed().Bytes(), Options{})
	byURL := map[string]Row{}
	subsetOf := map[string]string{}
	for name, rows := range found {
		for _, r := range rows {
			byURL[r.URL] = r
			subsetOf[r.URL], _, _ = strings.Cut(name, "/")
		}
	}
	got := byURL["http://www.example.co.uk:8080/b?x=1&a=2"]
	want := Row{
		SURTKey: "uk,co,example:8080)/b?a=2&x=1", URL: "http://www.example.co.uk:8080/b?x=1&a=2",
		HostName: "www.example.co.uk", TLD: "uk", SecondLastPart: "co", ThirdLastPart: "example", FourthLastPart: "www",
		RegistrySuffix: "co.uk", RegisteredDomain: "example.co.uk", PrivateSuffix: "co.uk", PrivateDomain: "example.co.uk",
		HostReversed: "uk.co.example.www", Protocol: "http", Port: 8080, Path: "/b", Query: "x=1&a=2",
		Time: time.Date(2026, 1, 2, 3, 4, 2, 0, time.UTC).UnixMilli(), Status: 200, Digest: strings.Repeat("0", 31) + "1",
		MIMEType: "text/html", MIMEDetected: "text/html", Charset: "UTF-8", File: "x.warc.gz", Segment: "C",
		Offset: got.Offset, Length: got.Length,
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	for _, c := range []struct{ what, got, want string }{
		{"target of a redirect", byURL["https://example.org/a"].Redirect, "https://example.org/c%20d"},
		{"TLD of an address", byURL["http://192.0.2.7/p"].TLD, ""},
		{"host of an address", byURL["http://[2001:db8::1]/"].HostName, "[2001:db8::1]"},
		{"media type by content", byURL["http://192.0.2.7/p"].MIMEDetected, "image/png"},
		{"truncation", byURL["urn:pageinfo:http://x.test/"].Truncated, "length"},
		{"subset of a page", subsetOf["http://192.0.2.7/p"], "warc"},
		{"subset of a redirect", subsetOf["https://example.org/a"], "crawldiagnostics"},
		{"subset of a 304", subsetOf["http://example.org/"], "crawldiagnostics"},
		{"subset of robots.txt", subsetOf["https://example.org/robots.txt"], "robotstxt"},
		{"subset of a page like robots.txt", subsetOf["https://example.org/robots.txt?x"], "crawldiagnostics"},
	} {
		if c.got != c.want {
			t.Errorf("%s: %q, want %q", c.what, c.got, c.want)
		}
	}
}

// Languages are those that the record names. With a model they are detected, if the page has enough text.
func TestTable_languages(t *testing.T) {
	var a derivetest.Archive
	a.Response("http://a.test/", 200, "text/html", "<p>zwei")
	a.Record("response", "http://b.test/", "application/http;msgtype=response",
		"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<p>?", "WARC-Identified-Content-Language: fra")
	for model, want := range map[string][]string{"": {"", "fra"}, "x": {"eng,deu", "fra"}} {
		for _, rows := range table(t, a.Bytes(), Options{LanguageModel: model}) {
			if got := []string{rows[0].Languages, rows[1].Languages}; !slices.Equal(got, want) {
				t.Errorf("model %q: %q, want %q", model, got, want)
			}
		}
	}
}

// The rows of a file that need more memory than allowed are in several files, each sorted.
func TestTable_partsInBoundedMemory(t *testing.T) {
	var a derivetest.Archive
	for i := range 500 {
		a.Response(fmt.Sprintf("http://a.test/%d", i*7919%500), 200, "text/html", "x")
	}
	found := table(t, a.Bytes(), Options{Memory: 32 << 10})
	rows := 0
	for _, part := range found {
		rows += len(part)
	}
	if rows != 500 || len(found) < 3 || len(found) > 10 {
		t.Errorf("%d rows in %d files", rows, len(found))
	}
}

// Offsets have 32 bits in the schema: a record beyond has no row, and that is said.
func TestTable_recordBeyond2GiB(t *testing.T) {
	w := writer{source: derive.Source{File: "x.warc.gz"}}
	err := w.Add(&derive.Record{RecordRead: &warc.RecordRead{Offset: 1 << 31}, IsIndexed: true})
	var f *warc.Fault
	if !errors.As(err, &f) || f.Offset != 1<<31 {
		t.Errorf("the error is %v", err)
	}
}

// Names, order, types and nullability are those of cc-index-schema-flat.json of commoncrawl/cc-index-table.
func TestRow_schema(t *testing.T) {
	const want = `url_surtkey string, url string, url_host_name string, url_host_tld string?,
		url_host_2nd_last_part string?,
		url_host_3rd_last_part string?, url_host_4th_last_part string?, url_host_5th_last_part string?,
		url_host_registry_suffix string?, url_host_registered_domain string?, url_host_private_suffix string?,
		url_host_private_domain string?, url_host_name_reversed string?, url_protocol string, url_port integer?,
		url_path string, url_query string?, fetch_time timestamp, fetch_status short, fetch_redirect string?,
		content_digest string?, content_mime_type string?, content_mime_detected string?, content_charset string?,
		content_languages string?, content_truncated string?, warc_filename string, warc_record_offset integer,
		warc_record_length integer, warc_segment string`
	types := map[string]string{
		"STRING": "string", "INT(32,true)": "integer", "INT(16,true)": "short",
		"TIMESTAMP(isAdjustedToUTC=true,unit=MILLIS)": "timestamp",
	}
	var got []string
	for _, f := range parquet.SchemaOf(Row{}).Fields() {
		column := f.Name() + " " + types[f.Type().String()]
		if types[f.Type().String()] == "" {
			column += f.Type().String()
		}
		if f.Optional() {
			column += "?"
		}
		got = append(got, column)
	}
	if d := cmp.Diff(strings.Join(strings.Fields(want), " "), strings.Join(got, ", ")); d != "" {
		t.Error(d)
	}
}

// Suffixes are those of the public suffix list, with and without the names of private operators.
func TestDescribeHost(t *testing.T) {
	for host, want := range map[string]string{
		"www.example.com":         "com example.com com example.com com.example.www",
		"a.b.blogspot.com":        "com blogspot.com blogspot.com b.blogspot.com com.blogspot.b.a",
		"co.uk":                   "co.uk  co.uk  uk.co",
		"host.test":               "    test.host",
		"x.s3.amazonaws.com":      "com amazonaws.com s3.amazonaws.com x.s3.amazonaws.com com.amazonaws.s3.x",
		"example.com.":            "com example.com com example.com com.example",
		"b\u00fccher.example.org": "org example.org org example.org org.example.xn--bcher-kva",
		"10.0.0.1":                "    ",
		"":                        "    ",
	} {
		h := describeHost(host)
		got := strings.Join([]string{h.registrySuffix, h.registeredDomain, h.privateSuffix, h.privateDomain, h.reversed}, " ")
		if got != want {
			t.Errorf("%q: %q, want %q", host, got, want)
		}
	}
}
