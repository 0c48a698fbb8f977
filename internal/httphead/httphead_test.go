package httphead

import (
	"bytes"
	"maps"
	"strings"
	"testing"
)

// Heads as servers send them, with what Chromium reads (net/http: HttpUtil, HttpResponseHeaders). The field wanted is
// Type. A status of -1 means that there is none: Chromium takes 200 then, but Firefox and the tests of Fetch do not.
func TestHead_isReadAsBrowsersDo(t *testing.T) {
	const ok, field = "HTTP/1.1 200 OK", "Type: a/b"
	for head, want := range map[string]struct {
		status, version int
		value           string
	}{
		ok + "\r\nType: a/b\r\n\r\n":                           {200, 11, "a/b"},
		ok + "\nType: a/b\n\n":                                 {200, 11, "a/b"},
		ok + "\r\nType: a/b\n\r\n":                             {200, 11, "a/b"},
		"http/1.1 200 ok\r\ntYPE:a/b\r\n\r\n":                  {200, 11, "a/b"},
		"HTTP/1.1 200\r\nType: a/b\r\n\r\n":                    {200, 11, "a/b"},
		"HTTP/1.1  404   Not here\r\nType: a/b\r\n\r\n":        {404, 11, "a/b"},
		"HTTP/1.1\t404\tNot here\r\nType: a/b\r\n\r\n":         {404, 11, "a/b"},
		"HTTP/1.1 200OK\r\nType: a/b\r\n\r\n":                  {200, 11, "a/b"},
		"HTTP/1.0 200 OK\r\nType: a/b\r\n\r\n":                 {200, 10, "a/b"},
		"HTTP/3.7 200 OK\r\nType: a/b\r\n\r\n":                 {200, 37, "a/b"},
		"ICY 200 OK\r\nType: a/b\r\n\r\n":                      {200, 10, "a/b"},
		"HTTP 200 OK\r\nType: a/b\r\n\r\n":                     {200, 10, "a/b"},
		"HTTP/ 200 OK\r\nType: a/b\r\n\r\n":                    {200, 10, "a/b"},
		"HTTP/1 200 OK\r\nType: a/b\r\n\r\n":                   {200, 10, "a/b"},
		"HTTP1.1 200 OK\r\nType: a/b\r\n\r\n":                  {200, 10, "a/b"},
		"\xef\xbb\xbf" + ok + "\r\nType: a/b\r\n\r\n":          {200, 11, "a/b"},
		"\xef\xbb\xbfHTTP 302\nType: a/b\n\n":                  {302, 10, "a/b"},
		"\xff\xfe" + ok + "\r\nType: a/b\r\n\r\n":              {200, 11, "a/b"},
		"1234" + ok + "\r\nType: a/b\r\n\r\n":                  {200, 11, "a/b"},
		"a\n\n\n" + ok + "\r\nType: a/b\r\n\r\n":               {200, 11, "a/b"},
		" HtTp/1.1 200\nType: a/b\n\n":                         {200, 11, "a/b"},
		"HTTP/1.1 200 OK\r\nno colon\r\nType: a/b\r\n\r\n":     {200, 11, "a/b"},
		"HTTP/1.1 200 OK\r\n: no name\r\nType: a/b\r\n\r\n":    {200, 11, "a/b"},
		"HTTP/1.1 200 OK\r\nType : a/b\r\n\r\n":                {200, 11, "a/b"},
		"HTTP/1.1 200 OK\r\nType\t:\ta/b \t\r\n\r\n":           {200, 11, "a/b"},
		"HTTP/1.1 200 OK\r\nType: a/\r\n b\r\n\r\n":            {200, 11, "a/ b"},
		"HTTP/1.1 200 OK\r\nType:\r\n\ta/b\r\n \r\n\r\n":       {200, 11, "a/b"},
		"HTTP/1.1 200 OK\r\n Type: a/b\r\nX: y\r\n\r\n":        {200, 11, ""},
		"HTTP/1.1 200 OK\r\nX: y\rType: a/b\r\n\r\n":           {200, 11, "a/b"},
		"HTTP/1.1 200 OK\r\nType: a/b\rX: y\r\n\r\n":           {200, 11, "a/b"},
		"HTTP/1.1 200 OK\r\nType: a/b\r\r\n\r\n":               {200, 11, "a/b"},
		"HTTP/1.1 200 OK\r\nX: y\r\r\nType: a/b\r\n\r\n":       {200, 11, "a/b"},
		"HTTP/1.1 200 OK\r\nX: y\n\r\rType: a/b\r\n\r\n":       {200, 11, "a/b"},
		"HTTP/1.1 200 OK\r\nType:\r a/b\r\n\r\n":               {200, 11, "a/b"},
		"HTTP/1.1 200 OK\r\nType\r: a/b\r\n\r\n":               {200, 11, ""},
		"HTTP/1.1 200\rOK\nType: a/b\n\n":                      {200, 11, "a/b"},
		"HTTP/1.1 200 OK\rType: a/b\n\n":                       {200, 11, "a/b"},
		"HTTP/1.1\r200 OK\nType: a/b\n\n":                      {-1, 11, "a/b"},
		"HTTP/1.1\r\nType: a/b\r\n\r\n":                        {-1, 11, "a/b"},
		"HTTP/1.1 \r\nType: a/b\r\n\r\n":                       {-1, 11, "a/b"},
		"HTTP/1.1 OK\r\nType: a/b\r\n\r\n":                     {-1, 11, "a/b"},
		"HTTP/1.1 -200 OK\r\nType: a/b\r\n\r\n":                {-1, 11, "a/b"},
		"HTTP/1.1 2000 OK\r\nType: a/b\r\n\r\n":                {-1, 11, "a/b"},
		"HTTP/1.1 0200 OK\r\nType: a/b\r\n\r\n":                {-1, 11, "a/b"},
		"HTTP/1.1 007 x\r\nType: a/b\r\n\r\n":                  {7, 11, "a/b"},
		"HTTP/1.1 200 HTTP/1.0 404\r\nType: a/b\r\n\r\n":       {200, 11, "a/b"},
		"HTTP/1.1 200 OK\r\nType: a/b\r\nType: c/d\r\n\r\n":    {200, 11, "a/b"},
		"\r\n\r\n" + ok + "\r\nType: a/b\r\n\r\n":              {200, 11, "a/b"},
		"HTTP/1.1 200 OK\r\nX\r\n Type: a/b\r\n\r\n":           {200, 11, ""},
		"HTTP/1.1 200 OK\r\nX: " + field + "\r\n\r\n":          {200, 11, ""},
		"HTTP/1.1 200 OK\r\nType: a/b\rX\r\n y: z\r\n\r\n":     {200, 11, "a/b"},
		"HTTP/1.1 200 OK\r\nX: \xef\xbb\xbf\rType:a/b\r\n\r\n": {200, 11, "a/b"},
	} {
		if n := Length([]byte(head + "body: x\r\n\r\n")); n != len(head) {
			t.Errorf("%q: a head of %d bytes, want %d", head, n, len(head))
		}
		line, fields := Split([]byte(head))
		status, isStatus := Status(line)
		if !isStatus {
			status = -1
		}
		value := ""
		for name, v := range Fields(fields) {
			if EqualFold(name, "type") && value == "" {
				value = string(v)
			}
		}
		if status != want.status || Version(line) != want.version || value != want.value {
			t.Errorf("%q: status %d, version %d, %q", head, status, Version(line), value)
		}
	}
}

// Five bytes that are not the beginning of a status line are enough to know that there is none; fewer may precede one.
func TestStart_isFoundInTheFirstBytes(t *testing.T) {
	for in, want := range map[string]int{
		"HTTP/1.1 200": 0, "http ": 0, "HTTP1": 0, "ICY 200": 0, "\xef\xbb\xbfHTTP/": 3, "1234HTTP/": 4, "HHTTP/": 1,
		"12345HTTP/": -1, "<html>": -1, "\xef\xbb\xbf<html": -1, "GET http://a.example/ HTTP/1.1": -1, "https://a/": -1,
		"httpd 1.0": -1, "SSH-2.0": -1, "{\"http\":1}": -1, "1234ICY 200": -1,
	} {
		if got := Start([]byte(in)); got != want || MayStart([]byte(in)) != (want >= 0) {
			t.Errorf("%q: %d, want %d; may start: %v", in, got, want, MayStart([]byte(in)))
		}
		for i := range len(in) {
			if want >= 0 && Start([]byte(in[:i])) < 0 && !MayStart([]byte(in[:i])) {
				t.Errorf("%q is refused, and %q is not", in[:i], in)
			}
		}
	}
	for _, in := range []string{"", "H", "http", "ic", "\xef\xbb\xbf", "1234", "1234htt"} {
		if Start([]byte(in)) >= 0 || !MayStart([]byte(in)) {
			t.Errorf("%q can become the start of a response", in)
		}
	}
	for _, in := range []string{"12345", "<html", "1234http:"} {
		if MayStart([]byte(in)) {
			t.Errorf("%q cannot become the start of a response", in)
		}
	}
}

func TestLength_isZeroWithoutAnEnd(t *testing.T) {
	for _, in := range []string{
		"", "\r\n", "HTTP/1.1 200 OK", "HTTP/1.1 200 OK\r\n", "HTTP/1.1 200 OK\r\nA: b\r\n", "a\n\n",
		"HTTP/1.1 200 OK\r\n\r", "HTTP/1.1 200 OK\r\rA: b\r\r", "HTTP/1.1 200 OK\r\nA: b\n\r\r\n",
	} {
		if n := Length([]byte(in)); n != 0 {
			t.Errorf("%q has a head of %d bytes", in, n)
		}
	}
	if request := "GET http://a.example/ HTTP/1.1\r\nHost: a.example\r\n\r\n"; Length([]byte(request)) != len(request) {
		t.Errorf("%q has a head of %d bytes", request, Length([]byte(request)))
	}
}

// No bytes make the functions panic or read beyond the head, and the results do not depend on what follows it.
func FuzzHead(f *testing.F) {
	f.Add([]byte("\xef\xbb\xbfHTTP/1.1 200 OK\r\nA: b\rC: d\r\n e\r\n\r\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		n := Length(b)
		if n == 0 || Start(b) < 0 { // a request may begin like the bytes before a status line
			return
		}
		head := bytes.Clone(b[:n])
		if Length(head) != n {
			t.Fatalf("%q: %d bytes, and of these %d", b, n, Length(head))
		}
		line, fields := Split(head)
		Status(line)
		Version(line)
		all := maps.Collect(func(yield func(name, value string) bool) {
			for name, value := range Fields(fields) {
				if !yield(string(name), string(value)) {
					return
				}
			}
		})
		for name, value := range all {
			if name == "" || strings.ContainsAny(name+value, "\r\n") {
				t.Fatalf("%q: a field %q with %q", head, name, value)
			}
		}
		if !bytes.Equal(head, b[:n]) {
			t.Fatal("the head was changed")
		}
	})
}
