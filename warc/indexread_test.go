package warc_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"orbweaver/warc"
)

func TestParseIndexLine(t *testing.T) {
	const head = `com,example)/ 20260102030405 `
	f := func(object, want string) {
		t.Helper()
		l, err := warc.ParseIndexLine([]byte(head + object + "\n"))
		got := fmt.Sprintf("%s %d %v %d", l.URL, l.Status, l.Revisit, l.Offset)
		if err != nil {
			if got = "fault"; !errors.Is(err, warc.ErrField) {
				t.Errorf("%s: %v", object, err)
			}
		}
		if got != want {
			t.Errorf("%s: %s, want %s", object, got, want)
		}
	}
	f(`{"url":"http://example.com/","mime":"text/html","status":"200","digest":"A","length":"12","offset":"345","filename":"x.warc.gz"}`,
		"http://example.com/ 200 false 345")
	f(`{"url":"http://example.com/a","mime":"warc/revisit","status":"304","length":"12","offset":"0","filename":"x"}`,
		"http://example.com/a 304 true 0")
	f(`{"url":"http://example.com/\"","offset":"7"}`, `http://example.com/" 0 false 7`)
	f(`{"url": "http://example.com/b", "status": "200", "offset": "7"}`, "http://example.com/b 200 false 7")
	f(`{"url":"http://example.com/","status":"200"}`, "fault")
	f(`{"url":"http://example.com/","status":"2x","offset":"7"}`, "fault")
	f(`{"url":"http://example.com/","offset":"7"`, "fault")
	f(`{"url":"http://exam`, "fault")
	f(`{"offset":"7"}`, "fault")
	f(`{}`, "fault")
	f(``, "fault")
	if _, err := warc.ParseIndexLine([]byte(strings.Repeat("{", 9))); err == nil {
		t.Error("nothing but braces is no line")
	}
}
