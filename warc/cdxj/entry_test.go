package cdxj

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// For a record with arbitrary URI, type and digest there is one line. Its key has no spaces or control bytes, its
// fields are JSON, and text is returned unchanged.
func FuzzIndexLine(f *testing.F) {
	f.Add("http://a.test/x?y", "text/html; charset=utf-8", "sha1:AAAA", 200)
	f.Add("http://a.test/\r\n\x1b[2J\"}\n{", "text/\"html\"\n", ":", 999)
	f.Add("dns:a.test", "", "", 0)
	f.Add("http://[::1]/\xff\xfe\u2028</script>", "\x00", "\\", -1)
	f.Add("<urn:uuid:1>", "a/b", "no label", 20)
	f.Add("http://a.test/\u2028\u2029", "0", "0", -1)
	f.Fuzz(func(t *testing.T, uri, mime, digest string, status int) {
		e := Entry{Date: time.Unix(1e9, 0), URI: []byte(uri), Status: status, MIME: []byte(mime), Digest: []byte(digest)}
		var l Lines
		l.Add(e.Append(nil), 12345, 678)
		var out bytes.Buffer
		if err := l.WriteSorted(&out, "file.warc.gz"); err != nil {
			t.Fatal(err)
		}
		line := out.String()
		if strings.Count(line, "\n") != 1 || !strings.HasSuffix(line, "\n") {
			t.Fatalf("not one line: %q", line)
		}
		key, rest, _ := strings.Cut(line, " ")
		stamp, fields, _ := strings.Cut(rest, " ")
		if strings.ContainsFunc(key, func(r rune) bool { return r <= ' ' || r == 0x7f }) || stamp != "20010909014640" {
			t.Errorf("key %q, time %q", key, stamp)
		}
		var got map[string]string
		if err := json.Unmarshal([]byte(fields), &got); err != nil {
			t.Fatalf("%v: %q", err, fields)
		}
		if strings.ContainsFunc(strings.TrimSuffix(fields, "\n"), func(r rune) bool { return r < ' ' }) {
			t.Errorf("control bytes: %q", fields)
		}
		place := got["offset"] == "12345" && got["length"] == "678" && got["filename"] == "file.warc.gz"
		if utf8.ValidString(uri) && got["url"] != uri || !place {
			t.Errorf("%q became %v", uri, got)
		}
	})
}

// The fingerprint of a text is in the line, and nothing else that a foreign record calls so.
func TestSimHash(t *testing.T) {
	for value, want := range map[string]bool{
		"0123456789abcdef": true, "": false, "0123456789abcde": false, "0123456789ABCDEF": false, "0123456789abcde\"": false,
	} {
		c := Entry{URI: []byte("http://h/"), Digest: []byte("sha1:A"), SimHash: []byte(value)}
		if got := bytes.HasSuffix(c.Append(nil), []byte(`"digest":"A","simhash":"`+value+`",`)); got != want {
			t.Errorf("%q: %s", value, c.Append(nil))
		}
	}
}

// How much says that a browser must draw a page is in the line, and nothing else that a foreign record calls so.
func TestRender(t *testing.T) {
	for value, want := range map[string]bool{"4": true, "12": true, "": false, "123": false, "x": false, "1\"": false} {
		c := Entry{URI: []byte("http://h/"), Digest: []byte("sha1:A"), Render: []byte(value)}
		line := c.Append(nil)
		if bytes.HasSuffix(line, []byte(`"digest":"A","needs_render":"`+value+`",`)) != want {
			t.Errorf("%q: %s", value, line)
		}
		whole, err := ParseLine(append(line, `"offset":"1","filename":"f"}`...))
		if whole.Render != want || err != nil {
			t.Errorf("%q is read as %v: %v", value, whole.Render, err)
		}
	}
}

// A Content-Type of 60 KB went whole into the index.
func TestALongMediaTypeIsCut(t *testing.T) {
	c := Entry{URI: []byte("http://h/"), MIME: []byte("a/" + strings.Repeat("b", 60_000) + "; charset=x")}
	if line := c.Append(nil); len(line) > 400 || !bytes.Contains(line, []byte(`"mime":"a/bbb`)) {
		t.Errorf("%d bytes: %.100s", len(line), line)
	}
	if got := MediaType([]byte(strings.Repeat("t", 127) + "/" + strings.Repeat("s", 127))); len(got) != MediaTypeMax {
		t.Errorf("the longest media type has %d bytes, %d are left", MediaTypeMax, len(got))
	}
}

// The keys of URIs that other programs have written are those of package surt of Python, which pywb and cdxj-indexer
// use.
func TestAppendKey_ofForeignURIs(t *testing.T) {
	for uri, want := range map[string]string{
		"http://case.example/":           "example,case)/",
		"http://case.example":            "example,case)/",
		"http://case.example?x=1":        "example,case)/?x=1",
		"http://case.example:80/p":       "example,case)/p",
		"https://case.example:443/p":     "example,case)/p",
		"http://case.example:8080/p":     "example,case:8080)/p",
		"http://Case.Example/U":          "example,case)/u",
		"http://me:secret@case.example/": "example,case)/",
		"HTTP://www.case.example/s":      "example,case)/s",
		"http://b\u00fccher.example/b":   "example,xn--bcher-kva)/b",
		"ftp://www.case.example/a/b":     "example,case)/a/b",
		"whois://whois.case.example/x":   "example,case,whois)/x",
		"dns:case.example":               "dns:case.example",
		"http://case.example/a?b=1#c?d":  "example,case)/a?b=1",
		"urn:text:http://case.example/":  "urn:text:http://case.example",
		"filedesc://foo.arc.gz":          "filedesc://foo.arc.gz",
		"mailto:foo@case.example":        "mailto:foo@case.example",
		"http://":                        "http://",

		"http://3232235777/a":                         "1,1,168,192)/a",
		"http:/case.example/#/route":                  "example,case)/",
		"urn:pageinfo:https://h.example/A/?B=2&a=1#x": "urn:pageinfo:https://h.example/a?a=1&b=2",
		"urn:x:a/../b//c%41%zz":                       "urn:x:a/../b//ca%25zz",
		"urn:?b":                                      "urn:/?b",
		"dns:Case.Example":                            "dns:case.example",
		"warcinfo:///A.warc.gz":                       "warcinfo:/a.warc.gz",
		"file:///etc/Motd":                            "file:/etc/motd",
	} {
		if got := string(AppendKey(nil, []byte(uri))); got != want {
			t.Errorf("%s: %s, want %s", uri, got, want)
		}
	}
}
