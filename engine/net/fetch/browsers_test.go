package fetch

import (
	"strings"
	"testing"

	"orbweaver/internal/outcome"
)

// A body of 42 bytes with Content-Length in every form of web-platform-tests (fetch/content-length): browsers read this
// many bytes, or report a network error, here -1.
func TestContentLength_isReadAsBrowsersDo(t *testing.T) {
	body := strings.Repeat("x", 42)
	for fields, want := range map[string]int{
		"42": 42, "42,42": 42, "42|42": 42, "42|42,42": 42, "30": 30, "30,30": 30, "30|30": 30, "30|30,30": 30,
		"42,30": -1, "30,42": -1, "42|30": -1, "30|42": -1, "30,": -1, ",30": -1, "30|\t": -1, "|30": -1,
		"aaaah|nah": -1, "aaaah, nah": -1, "aaaah|aaaah": 42, "aaaah, aaaah": 42, "aaaah": 42, "42s": 42, "30s": 42,
		"-1": 42, "0x20": 42,
		"030": 30, "030|30": -1, "030, 30": -1,
	} {
		head := "HTTP/1.1 200 OK\r\n"
		for value := range strings.SplitSeq(fields, "|") {
			head += "Content-Length: " + value + "\r\n"
		}
		for _, piece := range []int{0, 1} {
			fetchOnce(t, testOptions(), answer(head+"\r\n"+body, piece), testTarget(), func(p *Page) {
				if want < 0 {
					if p.Complete || p.Outcome != outcome.Protocol {
						t.Errorf("%q: outcome %v, complete %v; want an error", fields, p.Outcome, p.Complete)
					}
				} else if !p.Complete || p.Outcome != outcome.OK || p.PayloadLen != int64(want) {
					t.Errorf("%q: outcome %v, %d bytes; want %d", fields, p.Outcome, p.PayloadLen, want)
				}
			})
		}
	}
}

// Status lines and stray carriage returns from web-platform-tests (fetch/h1-parsing); -1 is a network error. Where
// browsers read more than these tests allow, the browsers count: a bare line feed or carriage return ends a line.
func TestStatusLine_isReadAsBrowsersDo(t *testing.T) {
	for response, want := range map[string]int{
		"HTTP/1.1 \r\n": -1, "HTTP/1.1 BLAH\r\n": -1, "HTTP/1.1 0 OK\r\n": 0, "HTTP/1.1 1 OK\r\n": 1,
		"HTTP/1.1 99 NOT OK\r\n": 99,
		"HTTP/1.1 099 HELLO\r\n": 99, "HTTP/1.1 999 DOES IT MATTER\r\n": 999, "HTTP/1.1 1000 BOO\r\n": -1,
		"HTTP/1.1 65736 NO\r\n":  -1,
		"HTTP/1.1 131072 HI\r\n": -1,
		"HTTP/1.1\r200 OK\n":     -1, "HTTP/1.1 200\rOK\n": 200, "HTTP/1.1 200 OK\n\rHeader: Value\n": 200,
		"HTTP/1.1 200 OK\nHeader\r: Value\n": 200,
		"HTTP/1.1 200 OK\nHeader:\r Value\n": 200, "HTTP/1.1 200 OK\nHeader: Value\r\r": 200,
		"HTTP/1.1 200 OK\nHeader: Value\rHeader2: Value2\n": 200,
	} {
		fetchOnce(t, testOptions(), answer(response+"Header-Parsing: is sad\n\nBODY", 0), testTarget(), func(p *Page) {
			switch {
			case want < 0 && p.Outcome != outcome.Protocol:
				t.Errorf("%q: outcome %v, want an error", response, p.Outcome)
			case want >= 0 && (p.Status != want || !p.Complete || string(p.Head().Value("header-parsing")) != "is sad"):
				t.Errorf("%q: status %d, complete %v, %q", response, p.Status, p.Complete, p.Head().Value("header-parsing"))
			}
		})
	}
	for _, tail := range []string{"\t", " ", "\f", "\r"} { // the head ends without a line end
		fetchOnce(t, testOptions(), answer("HTTP/1.1 200 OKAYISH\nheader: value"+tail, 0), testTarget(), func(p *Page) {
			if p.Complete || p.HasHead() {
				t.Errorf("%q: half a head is taken for a whole one", tail)
			}
		})
	}
}
