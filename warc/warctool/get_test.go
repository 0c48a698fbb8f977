package warctool

import (
	"errors"
	"strings"
	"testing"

	"orbweaver/warc/lookup"
)

// get returns what Get writes to both outputs.
func get(t *testing.T, o GetOptions, json bool) (out, said string, err error) {
	t.Helper()
	fsys, name, _ := archive(t)
	var stdout, stderr strings.Builder
	tool := &Tool{FS: fsys, Out: &stdout, Err: &stderr, JSON: json}
	err = Get(t.Context(), tool, lookup.New(lookup.NewFiles(lookup.Options{FS: fsys, Files: []string{name}})), o)
	return stdout.String(), stderr.String(), err
}

// Get writes the part of a capture that was asked for, and says what its reader should know.
func TestGet_writesEachPart(t *testing.T) {
	at, err := lookup.ParseTime("2026")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		o    GetOptions
		out  string
		said string
	}{
		{GetOptions{URL: "http://e/0"}, "hello", ""},
		{GetOptions{URL: "http://e/2"}, "hello gzip", ""},
		{GetOptions{URL: "http://e/0", Part: Headers}, "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n", ""},
		{GetOptions{URL: "https://www.e/0/"}, "hello", "this is http://e/0, which has the same key in the index: e)/0\n"},
		{GetOptions{URL: "http://e/1"}, "", "the server answered with status 404\n"},
		{GetOptions{URL: "http://e/0", At: at}, "hello", "the closest capture is of 2026-01-02T03:04:00Z\n"},
	} {
		if out, said, err := get(t, c.o, false); err != nil || out != c.out || said != c.said {
			t.Errorf("%+v: %q %q, %v", c.o, out, said, err)
		}
	}
	out, _, err := get(t, GetOptions{URL: "http://e/2", Part: EncodedPayload}, false)
	if err != nil || !strings.HasPrefix(out, "\x1f\x8b") {
		t.Errorf("encoded: %q, %v", out, err)
	}
	out, _, err = get(t, GetOptions{URL: "http://e/0", Part: WholeRecord}, false)
	if err != nil || !strings.HasPrefix(out, "WARC/1.1\r\n") || !strings.HasSuffix(out, "\r\n\r\nhello\r\n\r\n") {
		t.Errorf("record: %q, %v", out, err)
	}
	out, _, err = get(t, GetOptions{URL: "http://e/2"}, true)
	if err != nil || !strings.Contains(out, `"timestamp":"20260102030402","status":200,`) ||
		!strings.Contains(out, `"encoding":"utf-8","payload":"hello gzip"}`) {
		t.Errorf("%s, %v", out, err)
	}
}

// Without a capture, or with more than may be written, there is an error that says so.
func TestGet_saysWhyNot(t *testing.T) {
	if out, _, err := get(t, GetOptions{URL: "http://e/"}, false); !errors.Is(err, lookup.ErrNoCapture) || out != "" ||
		!strings.Contains(err.Error(), "near it are:\n  http://e/0\n  http://e/1") {
		t.Errorf("%q, %v", out, err)
	}
	if _, _, err := get(t, GetOptions{URL: "http://f/"}, false); !errors.Is(err, lookup.ErrNoCapture) ||
		!strings.HasSuffix(err.Error(), "nor of its host") {
		t.Error(err)
	}
	if out, _, err := get(t, GetOptions{URL: "http://e/2", SizeMax: 5}, false); err == nil || out != "hello" {
		t.Errorf("%q, %v", out, err)
	}
}
