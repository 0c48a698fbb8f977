package cdxj

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
)

func TestParseLine(t *testing.T) {
	const head = `com,example)/ 20260102030405 `
	f := func(object, want string) {
		t.Helper()
		l, err := ParseLine([]byte(head + object + "\n"))
		got := fmt.Sprintf("%s %d %v %d", l.URL, l.Status, l.Revisit, l.Offset)
		if err != nil {
			if got = "fault"; !errors.Is(err, ErrLine) {
				t.Errorf("%s: %v", object, err)
			}
		}
		if got != want {
			t.Errorf("%s: %s, want %s", object, got, want)
		}
	}
	f(`{"url":"http://example.com/","mime":"text/html","status":"200","digest":"A",`+
		`"length":"12","offset":"345","filename":"x.warc.gz"}`,
		"http://example.com/ 200 false 345")
	f(`{"url":"http://example.com/a","mime":"warc/revisit","status":"304","length":"12","offset":"0","filename":"x"}`,
		"http://example.com/a 304 true 0")
	f(`{"url":"http://example.com/\"","offset":"7"}`, `http://example.com/" 0 false 7`)
	f(`{"url": "http://example.com/b", "status": "200", "offset": "7"}`, "http://example.com/b 200 false 7")
	// of Browsertrix, ArchiveWeb.page, pywb and others
	f(`{"url":"http://example.com/","status":200,"length":12,"offset":7}`, "http://example.com/ 200 false 7")
	f(`{"url": "http://example.com/", "status": "-", "length": "-", "offset": 7, "mime": null, "cookies": {"a": [1]}, `+
		`"isNew": true}`, "http://example.com/ 0 false 7")
	f(`{"url":"http://example.com/","offset":[7]}`, "fault")
	f(`{"url":"http://example.com/","status":"200"}`, "fault")
	f(`{"url":"http://example.com/","status":"2x","offset":"7"}`, "fault")
	f(`{"url":"http://example.com/","offset":"7"`, "fault")
	f(`{"url":"http://exam`, "fault")
	f(`{"offset":"7"}`, "fault")
	f(`{}`, "fault")
	f(``, "fault")
	if _, err := ParseLine([]byte(strings.Repeat("{", 9))); err == nil {
		t.Error("nothing but braces is no line")
	}
}

func TestScanLinesPassesDamagedLines(t *testing.T) {
	good := `com,a)/ 20260101000000 {"url":"http://a.com/","offset":"7","filename":"x"}` + "\n"
	long := strings.Repeat("x", LineMax) + "\n"
	scan := func(text string) (got string) {
		t.Helper()
		passed := strings.Count(text, long) * len(long)
		err := ScanLines(strings.NewReader(text), func(line []byte, said *Line, damage error) error {
			passed += len(line)
			switch {
			case damage == nil && said.Offset == 7:
				got += "+"
			case errors.Is(damage, ErrLine):
				got += "-"
			default:
				t.Errorf("%q: %v", line, damage)
			}
			return nil
		})
		if err != nil || passed != len(text) {
			t.Errorf("%d of %d bytes: %v", passed, len(text), err)
		}
		return got
	}
	for _, c := range []struct{ text, want string }{
		{"", ""},
		{good + good, "++"},
		{good + "no line\n" + good, "+-+"},
		{good + "\n" + good, "+-+"},
		{good + good[:len(good)-1], "+-"},
		{good + long + good, "+-+"},
		{good + long[1:] + good, "+-+"},
		{good + long[:len(long)-1], "+-"},
		{long[:100] + "\n" + good + long + long, "-+--"},
	} {
		if got := scan(c.text); got != c.want {
			t.Errorf("%.200q: %s, want %s", c.text, got, c.want)
		}
	}
}

// For any bytes the scan ends, and passes all of them.
func FuzzScanLines(f *testing.F) {
	good := `com,a)/ 20260101000000 {"url":"http://a.com/","offset":"7"}`
	for _, text := range []string{"", "no line\n", good + "\n", good, "{\n{", "\n\n"} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		passed := 0
		err := ScanLines(bytes.NewReader(b), func(line []byte, _ *Line, damage error) error {
			passed += len(line)
			if damage == nil && line[len(line)-1] != '\n' {
				t.Errorf("a line without an end: %.100q", line)
			}
			return nil
		})
		if err != nil || passed != len(b) {
			t.Fatalf("%d of %d bytes: %v", passed, len(b), err)
		}
	})
}
