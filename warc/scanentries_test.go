package warc

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// exchangeRecord is a record with a number, which names another one unless that is 0.
func exchangeRecord(kind string, id, concurrent int, path, block string) string {
	fields := fmt.Sprintf("WARC-Type: %s\r\nWARC-Record-ID: <urn:uuid:00000000-0000-4000-8000-%012d>\r\n"+
		"WARC-Date: 2026-01-02T03:04:%02dZ\r\nWARC-Target-URI: http://a.test%s\r\nContent-Type: application/http\r\n",
		kind, id, id, path)
	if concurrent > 0 {
		fields += fmt.Sprintf("WARC-Concurrent-To: <urn:uuid:00000000-0000-4000-8000-%012d>\r\n", concurrent)
	}
	return fmt.Sprintf("WARC/1.1\r\n%sContent-Length: %d\r\n\r\n%s\r\n\r\n", fields, len(block), block)
}

// An answer to a form is not the page of its address: its key has the method and the fields. The request lies before or
// behind the answer, and one of them names the other.
func TestIndexOfAnswersToForms(t *testing.T) {
	const answer = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<p>"
	request := func(method, body string) string {
		return method + " /f HTTP/1.1\r\nHost: a.test\r\nCONTENT-TYPE: application/x-www-form-urlencoded\r\n\r\n" + body
	}
	file := exchangeRecord("warcinfo", 1, 0, "/", "") +
		exchangeRecord("response", 2, 0, "/f", answer) + exchangeRecord("request", 3, 2, "/f", request("GET", "")) +
		exchangeRecord("response", 4, 0, "/f", answer) + exchangeRecord("request", 5, 4, "/f", request("POST", "a=1")) +
		exchangeRecord("request", 6, 0, "/f", request("PUT", "a=2")) + exchangeRecord("response", 7, 6, "/f", answer) +
		exchangeRecord("request", 8, 9, "/f", request("HEAD", "")) + exchangeRecord("response", 9, 0, "/f", answer) +
		// None of these belong together: another address, another record between them, no name, no request.
		exchangeRecord("response", 10, 0, "/g", answer) + exchangeRecord("request", 11, 10, "/f", request("POST", "a=3")) +
		exchangeRecord("metadata", 12, 10, "/g", "x: y") + exchangeRecord("response", 13, 11, "/f", answer) +
		exchangeRecord("request", 14, 0, "/f", request("POST", "a=4")) + exchangeRecord("response", 15, 0, "/f", answer) +
		exchangeRecord("request", 16, 17, "/f", "\x16\x03\x01 no request") + exchangeRecord("response", 17, 0, "/f", answer)
	var index bytes.Buffer
	z := NewReader(strings.NewReader(file), ReaderOptions{Name: "a.warc"})
	defer z.Close()
	if err := WriteIndex(&index, z, "a.warc", StopAtDamage); err != nil {
		t.Fatal(err)
	}
	var got []string
	for line := range strings.Lines(index.String()) {
		key, _, _ := strings.Cut(line, " {")
		got = append(got, strings.Replace(key, " 202601020304", " ", 1))
	}
	want := []string{
		"test,a)/f 02", "test,a)/f 13", "test,a)/f 15", "test,a)/f 17", "test,a)/f?__wb_method=head 09",
		"test,a)/f?__wb_method=post&a=1 04", "test,a)/f?__wb_method=put&a=2 07", "test,a)/g 10",
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
