package cdxj

import (
	"strings"
	"testing"
	"time"
)

// What bodies become is what the tests of pywb 2.9 and cdxj-indexer 1.4.6 state.
func TestRequestQuery(t *testing.T) {
	const form, octets = "foo=bar&dir=%2Fbaz", "\x816l`L\xa04P\x0e\xe0r\x02\xb5\x89\x19\x00fP\xdb\x0e\xb0\x02,"
	part := "--B\r\nContent-Disposition: form-data;name=\"ts\"\r\n\r\n17\r\n" +
		"--B\r\nContent-Disposition: form-data; name=\"post_0\"; filename=\"blob\"\r\n\r\n\x9c\r\n--B--\r\n"
	for _, c := range []struct{ kind, body, want string }{
		{"application/x-www-form-urlencoded", form, "foo=bar&dir=/baz"},
		{"application/x-www-form-urlencoded; charset=UTF-8", form[:len(form)-4], "foo=bar&dir=%2"},
		{"application/x-www-form-urlencoded", "a=1+2&b=%zz", "a=1 2&b=%zz"},
		{"application/x-www-form-urlencoded", octets, "__wb_post_data=gTZsYEygNFAO4HICtYkZAGZQ2w6wAiw="},
		{"application/json", `{"a": "b", "c": {"a": 2}, "d": "e"}`, "a=b&a.2_=2&d=e"},
		{"application/json", `[{"a": "b", "c": {"a": 2}}, {"d": "e"}, "ignored", false, null, 0]`, "a=b&a.2_=2&d=e"},
		{"application/json", "{\"a\": \"b\"}\n{\"c\": {\"a\": 2}, \"d\": \"e\"}", "a=b&a.2_=2&d=e"},
		{"application/json", `{"yes": true, "no": false, "none": null, "text": "a b&c"}`,
			"yes=true&no=false&none=null&text=a+b%26c"},
		{"application/json", `{"a": "b", "c": {"a": 2}, "d": "e", "f": true, "g": [false, null]}`,
			"a=b&a.2_=2&d=e&f=true&g=false&g.2_=null"},
		{"application/json", `{"type": "event", "id": 44.0, "float": 35.7, "values": [true, false, null], "source": ` +
			`{"type": "component", "id": "a+b&c= d", "values": [3, 4]}}`,
			"type=event&id=44&float=35.7&values=true&values.2_=false&values.3_=null&type.2_=component&id.2_=a%2Bb%26c%3D+d" +
				"&values.4_=3&values.5_=4"},
		{"application/json", `{"big": 1e3, "id": 12345678901234567890}`, "big=1000&id=12345678901234567890"},
		{"application/json", `{"a": `, ""},
		{"application/json", strings.Repeat("[", 100_000), ""},
		{"text/plain", `{"a": 1}`, "a=1"},
		{"text/plain", form, "__wb_post_data=Zm9vPWJhciZkaXI9JTJGYmF6"},
		{"application/octet-stream", form, "__wb_post_data=Zm9vPWJhciZkaXI9JTJGYmF6"},
		{"", form, "__wb_post_data=Zm9vPWJhciZkaXI9JTJGYmF6"},
		{"multipart/form-data; boundary=B", part, "ts=17&post_0=%9C"},
		{"multipart/form-data", form, "__wb_post_data=Zm9vPWJhciZkaXI9JTJGYmF6"},
		{"application/x-www-form-urlencoded", "", ""},
		{"", "", ""},
	} {
		if got := RequestQuery(c.kind, []byte(c.body)); got != c.want {
			t.Errorf("%s, %.60q: %q, want %q", c.kind, c.body, got, c.want)
		}
	}
	if n := len(RequestQuery("", make([]byte, 1<<20))); n != requestQueryMost {
		t.Errorf("%d bytes", n)
	}
}

// The key of an answer has the method, and what the body was.
func TestEntryOfARequestThatIsNotGET(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for _, c := range []struct{ uri, method, request, want string }{
		{"http://a.test/f", "POST", "b=2&a=/x", "test,a)/f?__wb_method=post&a=/x&b=2 20260102030405 {"},
		{"http://a.test/f?x=1", "PUT", "b=2", "test,a)/f?__wb_method=put&b=2&x=1 20260102030405 {"},
		{"http://a.test/f", "HEAD", "", "test,a)/f?__wb_method=head 20260102030405 {"},
		{"http://a.test/f", "POST", "a=1 2\r\n#", "test,a)/f?__wb_method=post&a=1%202%23 20260102030405 {"},
	} {
		e := Entry{Date: at, URI: []byte(c.uri), Method: c.method, Request: c.request}
		line := string(e.Append(nil))
		said, err := ParseLine([]byte(line + `"length":"1","offset":"0","filename":"x"}`))
		if !strings.HasPrefix(line, c.want) || err != nil || string(said.Method) != c.method || string(said.URL) != c.uri {
			t.Errorf("%s: %+v, %v", line, said, err)
		}
	}
}

func FuzzRequestQuery(f *testing.F) {
	for _, kind := range []string{"application/json", "multipart/form-data; boundary=B", "text/plain", ""} {
		f.Add(kind, []byte(`{"a": ["b", {"a": 2}]}`))
		f.Add(kind, []byte("--B\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n1\r\n--B--"))
	}
	f.Fuzz(func(t *testing.T, kind string, body []byte) {
		query := RequestQuery(kind, body)
		e := Entry{URI: []byte("http://a.test/"), Method: "POST", Request: query}
		line := e.Append(nil)
		isOne := !strings.ContainsAny(string(line), "\r\n") && strings.Count(string(line), " {") == 1
		if len(query) > requestQueryMost || !isOne {
			t.Errorf("%q: %q", query, line)
		}
	})
}

// A body costs time by its length alone, whatever it says.
func BenchmarkRequestQuery(b *testing.B) {
	for name, c := range map[string]struct{ kind, unit string }{
		"parts": {"multipart/form-data; boundary=B", "--B\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n1\r\n"},
		"heads": {"multipart/form-data; boundary=B", "--B\r\nA: b\r\n"},
		"lines": {"application/json", "{\"a\": 1}\n"},
		"list":  {"application/json", "[[[[[]]]]]"},
		"form":  {"application/x-www-form-urlencoded", "%41+%"},
		"bytes": {"", "\xff"},
	} {
		body := []byte(strings.Repeat(c.unit, RequestMost/len(c.unit)))
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(body)))
			for b.Loop() {
				RequestQuery(c.kind, body)
			}
		})
	}
}
