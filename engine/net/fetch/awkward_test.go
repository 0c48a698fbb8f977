package fetch

import (
	"crypto/sha1"
	"slices"
	"strings"
	"testing"

	"orbweaver/internal/outcome"
	"orbweaver/internal/sha1pair"
	"orbweaver/warc"
)

// awkward is one response that a server may send, and the expected result, however it is split into packets. A name
// begins with a family and a number, the same in all tests of the package: H for the message, N for the connection, Z
// for the compression of the body.
type awkward struct {
	name     string
	response string
	outcome  outcome.Outcome
	status   int
	payload  string
	complete bool
	cut      warc.Truncation
	flags    Flags
	raw      string // "" if Raw must be the whole response
}

func awkwardResponses() []awkward {
	return slices.Concat(awkwardLengths(), awkwardChunks(), awkwardStatusLines(), awkwardHeads())
}

// awkwardLengths are responses whose body is framed by Content-Length or the close.
func awkwardLengths() []awkward {
	const (
		ok   = "HTTP/1.1 200 OK\r\n"
		five = ok + "Content-Length: 5\r\n\r\n"
	)
	return []awkward{
		{name: "until close", response: ok + "\r\nhello", outcome: outcome.OK, status: 200, payload: "hello", complete: true},
		{name: "no body", response: ok + "Content-Length: 0\r\n\r\n", outcome: outcome.OK, status: 200, complete: true},
		{
			name: "H08 short body", response: five + "hel",
			outcome: outcome.TruncatedDisconnect, status: 200, payload: "hel", cut: warc.TruncatedDisconnect,
		},
		{
			name: "H08 short body of an error", response: "HTTP/1.1 404 Gone\r\nContent-Length: 5\r\n\r\nhel",
			outcome: outcome.ClientError, status: 404, payload: "hel", cut: warc.TruncatedDisconnect,
		},
		{
			name: "H10 plus", response: ok + "Content-Length: +5\r\n\r\nhello",
			outcome: outcome.OK, status: 200, payload: "hello", complete: true, flags: FlagLenient,
		},
		{
			name: "H10 negative", response: ok + "Content-Length: -5\r\n\r\nhello",
			outcome: outcome.OK, status: 200, payload: "hello", complete: true, flags: FlagLenient,
		},
		{
			name: "H10 hex", response: ok + "Content-Length: 0x5\r\n\r\nhello",
			outcome: outcome.OK, status: 200, payload: "hello", complete: true, flags: FlagLenient,
		},
		{
			name: "H10 2^64", response: ok + "Content-Length: 18446744073709551616\r\n\r\nhello",
			outcome: outcome.Protocol, status: 200, payload: "hello", cut: warc.TruncatedUnspecified,
			flags: FlagLenient | FlagBadLength,
		},
		{
			name: "H10 empty", response: ok + "Content-Length: \r\n\r\nhello",
			outcome: outcome.OK, status: 200, payload: "hello", complete: true, flags: FlagLenient,
		},
		{
			name: "H10 equal in a list", response: ok + "Content-Length: 5, 5\r\n\r\nhello",
			outcome: outcome.OK, status: 200, payload: "hello", complete: true, flags: FlagLenient,
		},
		{
			name: "H10 equal twice", response: ok + "Content-Length: 5\r\nContent-Length: 5\r\n\r\nhello",
			outcome: outcome.OK, status: 200, payload: "hello", complete: true, flags: FlagLenient,
		},
		{
			name: "H10 different", response: ok + "Content-Length: 5, 6\r\n\r\nhello",
			outcome: outcome.Protocol, status: 200, payload: "hello", cut: warc.TruncatedUnspecified,
			flags: FlagLenient | FlagBadLength,
		},
		{
			name: "H10 different fields", response: ok + "Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello",
			outcome: outcome.Protocol, status: 200, payload: "hello", cut: warc.TruncatedUnspecified,
			flags: FlagLenient | FlagBadLength,
		},
		{
			name: "H10 spaces", response: ok + "Content-Length:   5  \r\n\r\nhello",
			outcome: outcome.OK, status: 200, payload: "hello", complete: true,
		},
	}
}

// awkwardChunks are responses whose body is chunked.
func awkwardChunks() []awkward {
	const (
		ok    = "HTTP/1.1 200 OK\r\n"
		chunk = ok + "Transfer-Encoding: chunked\r\n\r\n"
	)
	return []awkward{
		{
			name: "chunked", response: chunk + "5\r\nhello\r\n0\r\n\r\n",
			outcome: outcome.OK, status: 200, payload: "hello", complete: true,
		},
		{
			name: "chunks", response: chunk + "2\r\nhe\r\n3;x=y\r\nllo\r\n0\r\n\r\n",
			outcome: outcome.OK, status: 200, payload: "hello", complete: true,
		},
		{
			name: "chunks padded", response: chunk + "0002  \r\nhe\r\n03\nllo\n000\nX: y\n\n",
			outcome: outcome.OK, status: 200, payload: "hello", complete: true,
		},
		{
			name: "chunks with trailer", response: chunk + "5\r\nhello\r\n0\r\nX: y\r\nZ: z\r\n\r\n",
			outcome: outcome.OK, status: 200, payload: "hello", complete: true,
		},
		{name: "no chunks", response: chunk + "0\r\n\r\n", outcome: outcome.OK, status: 200, complete: true},
		{
			name: "H11 both", response: ok + "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
			outcome: outcome.OK, status: 200, payload: "hello", complete: true, flags: FlagBothLengths,
		},
		{
			name: "H12 overflow", response: chunk + "2\r\nhe\r\nFFFFFFFFFFFFFFFFF\r\nllo",
			outcome: outcome.Protocol, status: 200, payload: "he", cut: warc.TruncatedUnspecified, raw: chunk +
				"2\r\nhe\r\nFFFFFFFFFFFFFFFF",
		},
		{
			name: "H12 negative", response: chunk + "-5\r\nhello\r\n",
			outcome: outcome.Protocol, status: 200, cut: warc.TruncatedUnspecified, raw: chunk + "-",
		},
		{
			name: "H12 empty", response: chunk + "\r\nhello\r\n",
			outcome: outcome.Protocol, status: 200, cut: warc.TruncatedUnspecified, raw: chunk + "\r",
		},
		{
			name: "H12 no line end", response: chunk + "5\r\nhelloworld",
			outcome: outcome.Protocol, status: 200, payload: "hello", cut: warc.TruncatedUnspecified,
			raw: chunk + "5\r\nhellow",
		},
		{
			name: "H14 no last chunk", response: chunk + "5\r\nhello\r\n",
			outcome: outcome.TruncatedDisconnect, status: 200, payload: "hello", cut: warc.TruncatedDisconnect,
		},
		{
			name: "H14 no end of trailer", response: chunk + "5\r\nhello\r\n0\r\n",
			outcome: outcome.TruncatedDisconnect, status: 200, payload: "hello", cut: warc.TruncatedDisconnect,
		},
		{
			name: "H14 garbage trailer", response: chunk + "0\r\nno colon\r\n\x00\r\n\r\n",
			outcome: outcome.OK, status: 200, complete: true,
		},
	}
}

// awkwardStatusLines are responses with an unusual status line.
func awkwardStatusLines() []awkward {
	return []awkward{
		{
			name: "H15 no status line", response: "<html>hello</html>\n",
			outcome: outcome.Protocol, cut: warc.TruncatedUnspecified, flags: FlagNotHTTP, payload: "<html>hello</html>\n",
		},
		{
			name: "H16 no reason", response: "HTTP/1.1 200\r\nContent-Length: 1\r\n\r\nx",
			outcome: outcome.OK, status: 200, payload: "x", complete: true,
		},
		{
			name: "H16 two spaces", response: "HTTP/1.1  200 OK\r\nContent-Length: 1\r\n\r\nx",
			outcome: outcome.OK, status: 200, payload: "x", complete: true,
		},
		{
			name: "H16 ICY", response: "ICY 200 OK\r\nContent-Length: 1\r\n\r\nx",
			outcome: outcome.OK, status: 200, payload: "x", complete: true, flags: FlagLenient,
		},
		{
			name: "H16 HTTP/3.7", response: "HTTP/3.7 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n",
			outcome: outcome.OK, status: 200, payload: "x", complete: true, flags: FlagLenient,
		},
		{
			name: "H16 no version", response: "HTTP 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n",
			outcome: outcome.OK, status: 200, payload: "1\r\nx\r\n0\r\n\r\n", complete: true, flags: FlagLenient,
		},
		{
			name: "H16 byte order mark", response: "\xef\xbb\xbfHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx",
			outcome: outcome.OK, status: 200, payload: "x", complete: true, flags: FlagLenient,
		},
		{
			name: "H16 four bytes before", response: "1\n\n4http/1.1 200\r\nContent-Length: 1\r\n\r\nx",
			outcome: outcome.OK, status: 200, payload: "x", complete: true, flags: FlagLenient,
		},
		{
			name: "H16 five bytes before", response: "12345HTTP/1.1 200 OK\r\n\r\nx", outcome: outcome.Protocol,
			cut: warc.TruncatedUnspecified, flags: FlagNotHTTP, payload: "12345HTTP/1.1 200 OK\r\n\r\nx",
		},
		{
			name: "H15 three bytes", response: "no\n", outcome: outcome.Protocol, cut: warc.TruncatedUnspecified,
			flags: FlagNotHTTP, payload: "no\n",
		},
		{name: "H16 no status", response: "HTTP/1.1 OK\r\n\r\nx", outcome: outcome.Protocol},
		{name: "H16 four digits", response: "HTTP/1.1 2000 OK\r\n\r\nx", outcome: outcome.Protocol},
		{
			name: "H17 000", response: "HTTP/1.1 000 x\r\n\r\nx",
			outcome: outcome.OtherStatus, status: 0, payload: "x", complete: true, flags: FlagLenient,
		},
		{
			name: "H17 20", response: "HTTP/1.1 20 x\r\n\r\nx",
			outcome: outcome.OtherStatus, status: 20, payload: "x", complete: true, flags: FlagLenient,
		},
		{
			name: "H17 99", response: "HTTP/1.1 99 x\r\n\r\nx",
			outcome: outcome.OtherStatus, status: 99, payload: "x", complete: true, flags: FlagLenient,
		},
		{
			name: "H17 600", response: "HTTP/1.1 600 x\r\n\r\nx",
			outcome: outcome.OtherStatus, status: 600, payload: "x", complete: true,
		},
		{
			name: "H17 999", response: "HTTP/1.1 999 x\r\n\r\nx",
			outcome: outcome.OtherStatus, status: 999, payload: "x", complete: true,
		},
	}
}

// awkwardHeads are responses with unusual fields, or a status that matters.
func awkwardHeads() []awkward {
	const (
		ok   = "HTTP/1.1 200 OK\r\n"
		five = ok + "Content-Length: 5\r\n\r\n"
	)
	return []awkward{
		{name: "H18 NUL", response: ok + "A: b\x00c\r\n\r\nx", outcome: outcome.Protocol},
		{
			name: "H18 CR", response: ok + "A: b\rContent-Length: 1\r\n\r\nx",
			outcome: outcome.OK, status: 200, payload: "x", complete: true, flags: FlagLenient,
		},
		{
			name: "H18 LF lines", response: "HTTP/1.1 200 OK\nContent-Length: 5\n\nhello",
			outcome: outcome.OK, status: 200, payload: "hello", complete: true, flags: FlagLenient,
		},
		{
			name: "H18 mixed line ends", response: "HTTP/1.1 200 OK\r\nContent-Length: 5\n\r\nhello",
			outcome: outcome.OK, status: 200, payload: "hello", complete: true, flags: FlagLenient,
		},
		{
			name: "line without colon", response: ok + "nonsense\r\nContent-Length: 1\r\n\r\nx",
			outcome: outcome.OK, status: 200, payload: "x", complete: true, flags: FlagLenient,
		},
		{
			name: "H21 switching protocols", response: "HTTP/1.1 101 Switching\r\nUpgrade: x\r\n\r\n",
			outcome: outcome.Unasked, status: 101, complete: true,
		},
		{name: "H26 nothing", response: "", outcome: outcome.Reset},
		{name: "H26 half a head", response: "HTTP/1.1 200 OK\r\nA: b\r\n", outcome: outcome.Reset},
		{
			name: "blank lines first", response: "\r\n\r\n" + five + "hello",
			outcome: outcome.OK, status: 200, payload: "hello", complete: true, raw: five + "hello",
		},
		{
			name: "HTTP/1.0 is not chunked", response: "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
			outcome: outcome.OK, status: 200, payload: "0\r\n\r\n", complete: true,
		},
		{
			name: "redirect", response: "HTTP/1.1 301 M\r\nLocation: /y\r\nContent-Length: 0\r\n\r\n",
			outcome: outcome.Redirect, status: 301, complete: true,
		},
		{
			name: "redirect to nowhere", response: "HTTP/1.1 301 M\r\nContent-Length: 0\r\n\r\n",
			outcome: outcome.OtherStatus, status: 301, complete: true,
		},
		{
			name: "too many requests", response: "HTTP/1.1 429 T\r\nContent-Length: 0\r\n\r\n",
			outcome: outcome.TooMany, status: 429, complete: true,
		},
		{
			name: "unavailable", response: "HTTP/1.1 503 U\r\nContent-Length: 0\r\n\r\n",
			outcome: outcome.Unavailable, status: 503, complete: true,
		},
		{
			name: "server error", response: "HTTP/1.1 500 E\r\nContent-Length: 0\r\n\r\n",
			outcome: outcome.ServerError, status: 500, complete: true,
		},
		{
			name: "unknown transfer coding", response: ok + "Transfer-Encoding: odd\r\n\r\nhello",
			outcome: outcome.OK, status: 200, payload: "hello", complete: true, flags: FlagLenient,
		},
		{
			name: "gzip inside chunks", response: ok + "Transfer-Encoding: gzip, chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n",
			outcome: outcome.OK, status: 200, payload: "x", complete: true, flags: FlagLenient,
		},
	}
}

func TestHostile_H08_H10_H11_H12_H14_H15_H16_H17_H18_H21_awkwardResponses(t *testing.T) {
	for _, c := range awkwardResponses() {
		t.Run(c.name, func(t *testing.T) {
			for _, piece := range []int{0, 1, 7} {
				fetchOnce(t, testOptions(), answer(c.response, piece), testTarget(), func(p *Page) { c.check(t, p, piece) })
			}
		})
	}
}

func (c *awkward) check(t *testing.T, p *Page, piece int) {
	t.Helper()
	want := c.raw
	if want == "" {
		want = c.response
	}
	if p.Outcome != c.outcome || p.Status != c.status || p.Complete != c.complete || p.Truncation != c.cut ||
		p.Flags != c.flags {
		t.Errorf("pieces of %d: outcome %v status %d complete %v cut %q flags %b (%s)", piece, p.Outcome, p.Status,
			p.Complete, p.Truncation, p.Flags, p.Err)
	}
	if (p.Err == "") != (p.Complete) {
		t.Errorf("complete is %v and the cause is %q", p.Complete, p.Err)
	}
	if p.Outcome == outcome.Protocol && !p.HasHead() && p.Flags&FlagNotHTTP == 0 {
		if !strings.HasPrefix(want, string(p.Raw)) || len(p.Raw) == 0 {
			t.Errorf("raw %q is no prefix", p.Raw)
		}
		return
	}
	if string(p.Raw) != want {
		t.Errorf("pieces of %d: raw %q", piece, p.Raw)
	}
	if p.HeadLen == 0 && p.Flags&FlagNotHTTP == 0 {
		return
	}
	if string(p.Payload()) != c.payload || p.PayloadLen != int64(len(c.payload)) {
		t.Errorf("pieces of %d: payload %q, length %d", piece, p.Payload(), p.PayloadLen)
	}
	p.Sum(sha1pair.NewHasher())
	if p.Complete && (p.Digest != sha1.Sum([]byte(c.payload)) || p.BlockDigest != sha1.Sum([]byte(want))) {
		t.Errorf("digests %x, %x", p.Digest, p.BlockDigest)
	}
}

// Bytes after the end of a body are never stored, and flagged if they were seen.
func TestHostile_H09_H22_surplusIsNotKept(t *testing.T) {
	for _, head := range []string{
		"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
		"HTTP/1.1 204 No Content\r\n\r\n",
		"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n",
		"HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n",
	} {
		for _, piece := range []int{0, 1} {
			fetchOnce(t, testOptions(), answer(head+"HTTP/1.1 200 OK\r\n\r\nevil", piece), testTarget(), func(p *Page) {
				if string(p.Raw) != head || !p.Complete || strings.Contains(string(p.Payload()), "evil") {
					t.Errorf("raw %q, complete %v", p.Raw, p.Complete)
				}
				if seen := p.Flags&FlagSurplus != 0; seen != (piece == 0) {
					t.Errorf("pieces of %d: surplus flagged: %v", piece, seen)
				}
			})
		}
	}
}

func TestHostile_H20_interimAnswersAreCounted(t *testing.T) {
	const early = "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"
	const final = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"
	for _, n := range []int{1, 20, 21} {
		for _, piece := range []int{0, 3} {
			fetchOnce(t, testOptions(), answer(strings.Repeat(early, n)+final, piece), testTarget(), func(p *Page) {
				if n > 20 {
					if p.Outcome != outcome.HeaderTooLarge {
						t.Errorf("%d interim responses: %v", n, p.Outcome)
					}
					return
				}
				if p.Outcome != outcome.OK || string(p.Raw) != final || string(p.Interim) != strings.Repeat(early, n) {
					t.Errorf("%d interim responses: %v %q %q", n, p.Outcome, p.Interim, p.Raw)
				}
			})
		}
	}
}
