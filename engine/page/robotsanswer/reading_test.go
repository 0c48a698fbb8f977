package robotsanswer

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"maps"
	"os"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/andybalholm/brotli"

	"orbweaver/engine/net/fetch"
	"orbweaver/engine/net/fetch/coding"
	"orbweaver/engine/net/robots"
	"orbweaver/internal/outcome"
)

const (
	rulesText = "User-agent: *\r\nDisallow: /private\r\n"
	ok        = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n"
	chunked   = ok + "Transfer-Encoding: chunked\r\n\r\n"
)

// row is a row of the table in docs/robots.md.
type row struct{ answer, verdict, annotation string }

// tableOfDocs reads the table.
func tableOfDocs(t *testing.T) (rows []row) {
	t.Helper()
	page, err := os.ReadFile("../../../docs/robots.md")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(page)) {
		cells := strings.Split(line, "|")
		if len(cells) != 6 || strings.HasPrefix(line, "|---") || strings.HasPrefix(line, "| answer") {
			continue
		}
		rows = append(rows, row{
			strings.TrimSpace(cells[1]), strings.TrimSpace(cells[2]),
			strings.TrimPrefix(strings.Trim(cells[3], " `"), "robots:"),
		})
	}
	return rows
}

// an exchange gives a ruling: it is made of the bytes that a server sends before it closes the connection.
func sent(answer string) func(t *testing.T) Ruling {
	return func(t *testing.T) Ruling {
		t.Helper()
		p, isHTTP := fetch.Stored([]byte("http://a.test/robots.txt"), []byte(answer))
		if !isHTTP {
			p = &fetch.Page{Flags: fetch.FlagNotHTTP, Outcome: outcome.Protocol}
		}
		return Of(p, p.Outcome, 0, coding.New(coding.Options{}))
	}
}

// ended is an exchange that ended in a way that its bytes do not show.
func ended(answer string, o outcome.Outcome, redirects int) func(t *testing.T) Ruling {
	return func(t *testing.T) Ruling {
		t.Helper()
		p, _ := fetch.Stored([]byte("http://a.test/robots.txt"), []byte(answer))
		if p == nil {
			p = new(fetch.Page)
		}
		return Of(p, o, redirects, coding.New(coding.Options{}))
	}
}

func packed(text string) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = w.Write([]byte(text))
	_ = w.Close()
	return b.String()
}

func brotlied(text string) string {
	var b bytes.Buffer
	w := brotli.NewWriter(&b)
	_, _ = w.Write([]byte(text))
	_ = w.Close()
	return b.String()
}

func inUTF16(text string) string {
	b := []byte{0xff, 0xfe}
	for _, unit := range utf16.Encode([]rune(text)) {
		b = binary.LittleEndian.AppendUint16(b, unit)
	}
	return string(b)
}

func coded(name, body string) func(t *testing.T) Ruling {
	return sent(ok + "Content-Encoding: " + name + "\r\n\r\n" + body)
}

func withStatus(statuses ...string) (exchanges []func(t *testing.T) Ruling) {
	for _, s := range statuses {
		exchanges = append(exchanges, sent("HTTP/1.1 "+s+"\r\nContent-Length: 0\r\n\r\n"))
	}
	return exchanges
}

type list = []func(t *testing.T) Ruling

// exchanges has what servers send for each row of the table.
func exchanges() map[string]list {
	all := statuses()
	maps.Copy(all, framings())
	maps.Copy(all, codings())
	return all
}

func statuses() map[string]list {
	moved := func(to string) string {
		return "HTTP/1.1 302 Found\r\nLocation: " + to + "\r\nContent-Length: 0\r\n\r\n"
	}
	return map[string]list{
		"2xx, read whole": {
			sent(ok + "\r\n" + rulesText), sent(ok + "Content-Length: 35\r\n\r\n" + rulesText),
		},
		"2xx without a body, 204":     withStatus("200 OK", "204 No Content"),
		"2xx with HTML or other text": {sent(ok + "\r\n<!doctype html><p>Page\xe9 not found")},
		"2xx with text in UTF-16, or with a few control bytes": {
			sent(ok + "\r\n" + inUTF16(rulesText)), sent(ok + "\r\n# \x01\x02\r\n" + rulesText),
		},
		"2xx with a body that is not text": {
			sent(ok + "\r\n\x00\x01\x02binary"), sent(ok + "\r\n" + brotlied(rulesText)),
		},
		"2xx with an image or another file that its first bytes show": {
			sent(ok + "\r\nGIF89a\x01\x00\x01\x00\x80\x00\x00"), sent(ok + "\r\n\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR"),
		},
		"206": {sent("HTTP/1.1 206 Partial Content\r\n\r\n" + rulesText)},
		"3xx to another URL, up to five times": {
			ended(moved("/other"), outcome.Redirect, 4),
		},
		"3xx, the sixth in a row": {
			ended(moved("/other"), outcome.Redirect, 5),
		},
		"3xx to an address that is no http or https URL": {
			sent(moved("ftp://a.test/robots.txt")),
		},
		"3xx to a site that fails, or that --allow-net or --allow-port refuse": {
			ended("", outcome.NameNotFound, 1), ended("", outcome.BlockedPort, 1), ended("", outcome.BlockedAddress, 1),
		},
		"3xx without Location, 300, 304": withStatus(
			"302 Found", "300 Multiple Choices", "304 Not Modified", "305 Use Proxy"),
		"4xx, however its body ends": append(withStatus("400 Bad", "401 Unauthorized", "403 Forbidden", "404 Not Found",
			"410 Gone", "451 Unavailable For Legal Reasons"),
			sent("HTTP/1.1 404 Not Found\r\nTransfer-Encoding: chunked\r\n\r\nnot here"),
			sent("HTTP/1.1 404 Not Found\r\nContent-Length: 99\r\n\r\nnot here")),
		"408, 425": withStatus("408 Request Timeout", "425 Too Early"),
		"429":      withStatus("429 Too Many Requests"),
		"5xx":      withStatus("500 Error", "502 Bad Gateway", "503 Busy", "521 Down"),
		"1xx as the last answer, 600 and above, 999": append(withStatus("600 Odd", "999 Request denied"),
			sent("HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\n\r\n"+rulesText)),
		"no head of HTTP, HTTP/0.9": {sent(rulesText)},
		"head that is too large or does not end": {
			ended("", outcome.HeaderTooLarge, 0), ended("", outcome.HeaderTimeout, 0), ended("", outcome.Reset, 0),
		},
	}
}

func framings() map[string]list {
	long := strings.Repeat("Disallow: /some/path\n", 24_400) // 512,400 bytes
	length := func(n int, body string) string { return ok + fmt.Sprintf("Content-Length: %d\r\n\r\n", n) + body }
	return map[string]list{
		"chunked, with a body without chunks or with an invalid size": {
			sent(chunked + rulesText), sent(chunked + "23\r\n" + rulesText + "\r\nzzz\r\n"),
			sent(chunked + "5\r\n" + rulesText + "\r\n0\r\n\r\n"), sent(chunked + "0x23\r\n" + rulesText + "\r\n0\r\n\r\n"),
			sent(chunked + "fffffffffffffffff\r\n" + rulesText), sent(chunked + "-23\r\n" + rulesText + "\r\n0\r\n\r\n"),
		},
		"chunked, without the last chunk": {sent(chunked + "23\r\n" + rulesText + "\r\n"), sent(chunked)},
		"chunked, and Content-Length as well": {
			sent(ok + "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n23\r\n" + rulesText + "\r\n0\r\n\r\n"),
		},
		"shorter than Content-Length":                   {sent(length(100, rulesText))},
		"longer than Content-Length":                    {sent(length(5, rulesText)), sent(length(0, rulesText))},
		"longer than Content-Length by line ends alone": {sent(length(len(rulesText), rulesText+"\r\n"))},
		"several Content-Length that differ, or one beyond all numbers": {
			sent(ok + "Content-Length: 5\r\nContent-Length: 35\r\n\r\n" + rulesText),
			sent(ok + "Content-Length: 5, 35\r\n\r\n" + rulesText),
			sent(ok + "Content-Length: 99999999999999999999\r\n\r\n" + rulesText),
		},
		"longer than 500 KiB": {
			ended(ok+"\r\n"+rulesText+long[:fetch.RobotsBodyMax-len(rulesText)], outcome.TruncatedLength, 0),
		},
		"beyond --exchange-timeout, or too slow": {ended(ok+"\r\n"+rulesText, outcome.TruncatedTime, 0)},
	}
}

func codings() map[string]list {
	return map[string]list{
		"gzip, deflate, brotli or zstd, as Content-Encoding says": {
			coded("gzip", packed(rulesText)), coded("br", brotlied(rulesText)),
		},
		"gzip or zstd that Content-Encoding does not name, or names once for two": {
			sent(ok + "\r\n" + packed(rulesText)), coded("gzip", packed(packed(rulesText))), coded("x-foo", packed(rulesText)),
			coded("gzip,aws-chunked", packed(rulesText)),
		},
		"gzip named twice": {
			coded("gzip, gzip", packed(packed(rulesText))), coded("gzip, gzip", packed(rulesText)),
			coded("gzip\r\nContent-Encoding: gzip", packed(packed(rulesText))),
		},
		"text, though Content-Encoding names a coding, known or not": {
			coded("gzip", rulesText), coded("utf-8", rulesText), coded("br", rulesText), coded("gzip, gzip", rulesText),
		},
		"coded, but cut or damaged": {
			coded("gzip", packed(rulesText)[:30]), sent(ok + "\r\n" + packed(rulesText)[:30]),
			coded("gzip", packed(rulesText)[:12]+"\xff\xff\xff\xff\xff"+packed(rulesText)[17:]),
		},
		"coded otherwise than Content-Encoding says, or in an unknown way": {
			coded("gzip", brotlied(rulesText)), coded("x-foo", brotlied(rulesText)),
		},
		"no connection, TLS refused, no name, closed without an answer": {
			ended("", outcome.Refused, 0), ended("", outcome.ConnectTimeout, 0), ended("", outcome.TLSFault, 0),
			ended("", outcome.NameNotFound, 0), ended("", outcome.NameFault, 0), ended("", outcome.Reset, 0),
		},
		"an answer of the proxy, or of another gateway":       {ended("", outcome.ProxyFault, 0)},
		"no memory of this crawler for the body or the rules": {ended(ok+"\r\n"+rulesText, outcome.NoMemory, 0)},
	}
}

// The page that users read is what the crawler does: each row of its table has answers that were really sent, and each
// of them gets the verdict and the annotation of the row. A body whose rules hold forbids /private, unless the row is
// about a file without rules.
func TestTable_ofTheDocs(t *testing.T) {
	withoutRules := []string{"2xx without a body, 204", "2xx with HTML or other text"}
	tried, rows := exchanges(), tableOfDocs(t)
	for _, r := range rows {
		if len(tried[r.answer]) == 0 {
			t.Errorf("the row %q is not tried", r.answer)
		}
		for i, exchange := range tried[r.answer] {
			got := exchange(t)
			want := r.verdict
			if want == "followed" { // the caller does that, and asks again if it cannot
				continue
			}
			if got.Verdict.String() != want || got.Fault.String() != r.annotation {
				t.Errorf("%s (%d): %q, annotation %q; want %q, %q", r.answer, i, got.Verdict, got.Fault, want, r.annotation)
			}
			hasRules := got.Verdict == Rules && !strings.Contains(strings.Join(withoutRules, "\n"), r.answer)
			if rules := robots.Parse(got.Body, robots.Token); hasRules && rules.Allowed([]byte("/private")) {
				t.Errorf("%s (%d): its rules were not read: %.60q", r.answer, i, got.Body)
			}
		}
	}
	if len(rows) != len(tried) {
		t.Errorf("%d rows, %d are tried", len(rows), len(tried))
	}
}

// A file that is longer than what is read of it ends in the middle of a line. What is left of that line says something
// else: "Allow: /" is not "Allow: /public".
func TestOf_halfALineIsNoRule(t *testing.T) {
	text := "User-agent: *\nDisallow: /private\nAllow: /"
	got := ended(ok+"\r\n"+text, outcome.TruncatedLength, 0)(t)
	if want := "User-agent: *\nDisallow: /private\n"; got.Verdict != Rules || string(got.Body) != want {
		t.Errorf("%v: %q", got.Verdict, got.Body)
	}
}
