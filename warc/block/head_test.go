package block

import (
	"testing"

	"orbweaver/internal/httphead"
)

// The head of a stored message, in several real spellings.
func TestHead(t *testing.T) {
	for in, want := range map[string]struct {
		status  int
		mime    string
		chunked bool
		body    string
	}{
		"HTTP/1.1 200 OK\r\nContent-Type: a/b\r\n\r\nbody":                                    {200, "a/b", false, "body"},
		"HTTP/1.0 404\ncontent-type:a/b\n\nbody":                                              {404, "a/b", false, "body"},
		"ICY 200 OK\r\n\r\n":                                                                  {200, "", false, ""},
		"HTTP/1.1 200 OK\r\nX: y\r\n z\r\nTransfer-Encoding: gzip, Chunked\r\n\r\n1\r\na\r\n": {200, "", true, "1\r\na\r\n"},
		"HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n":                               {200, "", false, ""},
		"HTTP 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n":                                   {200, "", false, ""},
		"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n":                      {0, "", true, "0\r\n\r\n"},
		"\xef\xbb\xbfHTTP/1.1 200\rOK\nX: y\rContent-Type: a/b\r\n\r\r\n\r\nbody":             {200, "a/b", false, "body"},
		"1\n\n4HTTP 404\nContent-Type: a/b\n\nbody":                                           {404, "a/b", false, "body"},
		"HTTP/1.1 abc\r\nno colon\r\n: x\r\nContent-Type:\r\n\r\nb":                           {0, "", false, "b"},
		"GET / HTTP/1.1\r\nHost: x\r\n\r\n":                                                   {0, "", false, ""},
	} {
		n := httphead.Length([]byte(in))
		h := ParseHead([]byte(in[:n]))
		if h.Status != want.status || h.Get("content-TYPE") != want.mime || h.Chunked() != want.chunked ||
			in[n:] != want.body {
			t.Errorf("%q: %+v %q", in, h, in[n:])
		}
	}
	for _, in := range []string{"", "HTTP/1.1 200 OK", "HTTP/1.1 200 OK\r\nA: b\r\n", "\r\n"} {
		if n := httphead.Length([]byte(in)); n != 0 {
			t.Errorf("%q has a head of %d bytes", in, n)
		}
	}
}
