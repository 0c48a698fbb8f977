package cdxserver

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"orbweaver/warc/lookup"
)

// index are lines of an archive, sorted.
type index []string

func (x index) Scan(_ context.Context, want lookup.Range, do func(line []byte) error) error {
	for _, line := range x {
		if line < string(want.From) || line >= string(want.To) {
			continue
		}
		if err := do([]byte(line)); err != nil {
			return err
		}
	}
	return nil
}

func someLines() index {
	line := func(key, stamp, url, more, offset string) string {
		return fmt.Sprintf(`%s %s {"url":"%s",%s"offset":"%s"}`, key, stamp, url, more, offset)
	}
	const root, page, copied = "http://example.com/", `"mime":"text/html","status":"200","digest":"A","length":"9",`,
		`"mime":"warc/revisit","status":"200",`
	return index{
		line("com,example)/", "20250101000000", root, page, "1"),
		line("com,example)/", "20260101000000", root, `"mime":"text/html","status":"404",`, "2"),
		line("com,example)/", "20260301120000", root, copied, "3"),
		line("com,example)/a", "20260101000000", "http://example.com/a", `"mime":"image/png","status":200,`, "4"),
		line("com,example)/a/b", "20260101000000", `http://example.com/a/b \"c\"`, `"mime":"image/gif",`, "5"),
		"com,example)/damaged",
		line("com,example,sub)/", "20260101000000", "http://sub.example.com/", "", "6"),
		line("com,examples)/", "20260101000000", "http://examples.com/", "", "7"),
	}
}

func ask(t *testing.T, query string) (string, error) {
	t.Helper()
	values, err := url.ParseQuery(query)
	if err != nil {
		t.Fatal(err)
	}
	q, err := Parse(values)
	if err != nil {
		return "", err
	}
	var out bytes.Buffer
	err = q.Write(t.Context(), someLines(), &out)
	return out.String(), err
}

// Each form of query of pywb and of the Wayback Machine finds the lines that it finds there.
func TestQuery_findsLines(t *testing.T) {
	for query, want := range map[string]string{
		"url=example.com":                                        "1 2 3",
		"url=https://www.example.com/":                           "1 2 3",
		"url=http://example.com/&limit=2":                        "1 2",
		"url=example.com&from=2026":                              "2 3",
		"url=example.com&to=2025":                                "1",
		"url=example.com&from=202601&to=2026-02":                 "2",
		"url=example.com&sort=reverse":                           "3 2 1",
		"url=example.com&sort=reverse&limit=2":                   "3 2",
		"url=example.com&closest=20260201":                       "3 2 1",
		"url=example.com&closest=20260101120000&limit=1":         "2",
		"url=example.com&closest=2024&sort=closest":              "1 2 3",
		"url=example.com/*":                                      "1 2 3 4 5",
		"url=example.com/a*":                                     "4 5",
		"url=example.com/a/*":                                    "5",
		"url=example.com/a&matchType=prefix":                     "4 5",
		"url=example.com/zzz&matchType=host":                     "1 2 3 4 5",
		"url=example.com&matchType=domain":                       "1 2 3 4 5 6",
		"url=*.example.com":                                      "1 2 3 4 5 6",
		"url=*.example.com&filter=mime:image":                    "4 5",
		"url=*.example.com&filter=!mime:image":                   "1 2 3 6",
		"url=*.example.com&filter=mimetype:image":                "",
		"url=*.example.com&filter=mimetype:image/.*":             "4 5",
		"url=*.example.com&filter=statuscode:200":                "1 3 4",
		"url=*.example.com&filter=!%3Dstatus:200&filter=status:": "2 5 6",
		"url=*.example.com&filter=~url:/a/b|/sub":                "5 6",
		"from-key=com,example)/a&to-key=com,example)/b":          "4 5",
	} {
		got, err := ask(t, query+"&fl=offset&output=text")
		if got = strings.Join(strings.Fields(got), " "); err != nil || got != want {
			t.Errorf("%s: %q, want %q, %v", query, got, want, err)
		}
	}
}

// The lines have the form that was asked for, with the names of fields that the client uses.
func TestQuery_writesEachForm(t *testing.T) {
	lines := someLines()
	for query, want := range map[string]string{
		"url=example.com&to=2025": lines[0],
		"url=example.com&to=2025&output=json": `{"urlkey":"com,example)/","timestamp":"20250101000000",` +
			`"url":"http://example.com/","mime":"text/html","status":"200","digest":"A","length":"9","offset":"1"}`,
		"url=example.com&to=2025&output=text": "com,example)/ 20250101000000 http://example.com/ text/html 200 A 9",
		"url=example.com/a/b&output=text": `com,example)/a/b 20260101000000 http://example.com/a/b%20"c" image/gif ` +
			`- - -`,
		"url=example.com/a&fl=timestamp,original,statuscode": `com,example)/a 20260101000000 ` +
			`{"timestamp":"20260101000000","original":"http://example.com/a","statuscode":"200"}`,
		"url=example.com/a&fl=status,none,mime&output=json":   `{"status":"200","mime":"image/png"}`,
		"url=example.com/a/b&fl=url&output=json":              `{"url":"http://example.com/a/b \"c\""}`,
		"url=nowhere.example&output=json":                     "",
		"url=http://example.com/a&fl=original&output=text":    "http://example.com/a",
		"url=http://example.com/a&fl=url&output=json&limit=0": `{"url":"http://example.com/a"}`,
	} {
		if got, err := ask(t, query); err != nil || strings.TrimSuffix(got, "\n") != want {
			t.Errorf("%s:\n%swant:\n%s, %v", query, got, want, err)
		}
	}
}

// What is not understood is refused, so that no client takes an answer for another.
func TestParse_refuses(t *testing.T) {
	for _, query := range []string{
		"", "url=", "url=http://", "url=a.test&matchType=some", "url=a.test&collapse=digest", "url=a.test&page=2",
		"url=a.test&url=b.test", "url=a.test&limit=x", "url=a.test&limit=-1", "url=a.test&from=yesterday",
		"url=a.test&sort=closest", "url=a.test&closest=x", "url=a.test&sort=up", "url=a.test&sort=reverse&limit=10001",
		"url=a.test&output=xml", "url=a.test&fl=a,,b", "url=a.test&filter=status", "url=a.test&filter=~url:(",
		"url=a.test&filter=:x", "url=a.test" + strings.Repeat("&filter=url:x", 21),
	} {
		if got, err := ask(t, query); !errors.Is(err, ErrQuery) {
			t.Errorf("%s: %q, %v", query, got, err)
		}
	}
}

// The window of a sorted query is bounded, whatever the archive has.
func TestWindow_isBounded(t *testing.T) {
	q, err := Parse(map[string][]string{"url": {"a.test"}, "sort": {"reverse"}, "limit": {"3"}})
	if err != nil {
		t.Fatal(err)
	}
	w := window{query: q}
	for range 1000 {
		if w.add(row{stamp: "20260101000000"}); len(w.rows) >= 2*q.limit {
			t.Fatalf("%d lines", len(w.rows))
		}
	}
}
