package fetch

import (
	"bufio"
	"bytes"
	"math"
	"slices"
	"sync"

	"github.com/valyala/fasthttp"

	"orbweaver/internal/httphead"
)

// headInfo is what a head says about the body.
type headInfo struct {
	status  int
	length  int64 // -1 if there is no Content-Length
	chunked bool
	flags   Flags
}

// interim reports whether another head follows this one. After 101 none does: the rest is another protocol.
func (i *headInfo) interim() bool { return i.status >= 100 && i.status <= 199 && i.status != 101 }

// codecHeadMax is the largest head for the codec, in bytes; larger heads are rare and read by the lenient parser.
const codecHeadMax = 16 << 10

// codec is fasthttp's response parser with its buffers. It works on a copy of the head, because it joins folded lines
// in place.
type codec struct {
	src bytes.Reader
	buf *bufio.Reader
	h   fasthttp.ResponseHeader
}

func newCodec() *codec {
	c := &codec{buf: bufio.NewReaderSize(nil, codecHeadMax)}
	c.h.DisableNormalizing()
	c.h.SetNoDefaultContentType(true)
	return c
}

// parse parses a complete head. It returns false if the codec refuses it, or would read it differently from a browser.
func (c *codec) parse(head []byte) (headInfo, bool) {
	if len(head) > codecHeadMax || len(head) < 9 || !httphead.HasPrefix(head, "http/1.") ||
		(head[7] != '0' && head[7] != '1') {
		return headInfo{}, false
	}
	c.src.Reset(head)
	c.buf.Reset(&c.src)
	if err := c.h.Read(c.buf); err != nil || c.src.Len()+c.buf.Buffered() > 0 {
		return headInfo{}, false
	}
	info := headInfo{status: c.h.StatusCode(), length: -1}
	line, _ := httphead.CutLine(head)
	if status, ok := httphead.Status(line); !ok || status != info.status {
		return headInfo{}, false // the codec reads 000 as 200
	}
	switch n := c.h.ContentLength(); {
	case n == -1:
		info.chunked = true
	case n >= 0:
		info.length = int64(n)
	}
	return info, true
}

// codecs is a stack of parsers. Parsing never waits, so at most as many are in use as there are processors.
type codecs struct {
	mu   sync.Mutex // held for a few instructions
	free []*codec
}

func (s *codecs) takeCodec() *codec {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := len(s.free)
	if n == 0 {
		return newCodec()
	}
	c := s.free[n-1]
	s.free = s.free[:n-1]
	return c
}

func (s *codecs) returnCodec(c *codec) {
	s.mu.Lock()
	s.free = append(s.free, c)
	s.mu.Unlock()
}

// parseHead parses a complete head with the codec, and leniently if the codec refuses. cause is "" unless both refuse.
func (s *codecs) parseHead(head []byte) (info headInfo, cause string) {
	if bytes.IndexByte(head, 0) >= 0 {
		return headInfo{length: -1}, causeNUL // browsers refuse it, and the codec accepts some
	}
	ok := false
	if !hasBareCR(head) { // which the codec does not take for the end of a line
		c := s.takeCodec()
		info, ok = c.parse(head)
		s.returnCodec(c)
	}
	if !ok {
		info, cause = parseLenient(head)
		info.flags |= FlagLenient
		return info, cause
	}
	if info.chunked && len(firstValue(head, "content-length")) > 0 {
		info.flags |= FlagBothLengths
	}
	return info, ""
}

// Causes of refused heads; they go to the log.
const (
	causeNUL        = "NUL in the header"
	causeStatusLine = "no status code in the status line"
	causeLength     = "Content-Length makes no sense"
)

// parseLenient parses a head like browsers, as package httphead reads it. Equal Content-Length fields count once.
func parseLenient(head []byte) (headInfo, string) {
	info := headInfo{length: -1}
	line, fields := httphead.Split(head)
	var ok bool
	if info.status, ok = httphead.Status(line); !ok {
		return info, causeStatusLine
	}
	parseLengths(fields, httphead.Version(line), &info)
	return info, ""
}

// parseLengths reads what the fields say about the length of the body. Content-Length is read as in the Fetch standard
// (https://fetch.spec.whatwg.org/#ref-for-extract-a-length): different values are an error, even if they differ only in
// a leading zero or one is empty. A value that is no number is ignored.
func parseLengths(fields []byte, version int, info *headInfo) {
	var first []byte
	seen := false
	for name, value := range httphead.Fields(fields) {
		switch {
		case httphead.EqualFold(name, "transfer-encoding"):
			if version > 10 && httphead.IsChunked(value) {
				info.chunked = true
			}
		case httphead.EqualFold(name, "content-length"):
			for more := true; more; {
				var token []byte
				token, value, more = bytes.Cut(value, []byte{','})
				token = httphead.TrimBlanks(token)
				if seen && !bytes.Equal(token, first) {
					info.flags |= FlagBadLength
				}
				first, seen = token, true
			}
		}
	}
	if info.chunked {
		info.flags &^= FlagBadLength
		if seen {
			info.flags |= FlagBothLengths
		}
		return
	}
	if !seen {
		return
	}
	if info.flags&FlagBadLength != 0 || !isNumber(first) {
		return // not a number: the body ends with the connection
	}
	n, ok := parseDecimal(first)
	if !ok {
		info.flags |= FlagBadLength
		return
	}
	info.length = n
}

// isNumber says that b is digits and nothing else.
func isNumber(b []byte) bool {
	return len(b) > 0 && !slices.ContainsFunc(b, func(c byte) bool { return !isDigit(c) })
}

// parseDecimal reads digits and nothing else, as long as they fit.
func parseDecimal(b []byte) (int64, bool) {
	for len(b) > 1 && b[0] == '0' {
		b = b[1:]
	}
	if len(b) == 0 || len(b) > 19 { // 19 digits fit an unsigned number
		return 0, false
	}
	var n uint64
	for _, c := range b {
		if !isDigit(c) {
			return 0, false
		}
		n = n*10 + uint64(c-'0')
	}
	return int64(n), n <= math.MaxInt64
}

// hasBareCR says whether b holds a CR without an LF behind it.
func hasBareCR(b []byte) bool {
	for {
		i := bytes.IndexByte(b, '\r')
		if i < 0 {
			return false
		}
		if i+1 >= len(b) || b[i+1] != '\n' {
			return true
		}
		b = b[i+1:]
	}
}

func digitsOf(b []byte) int {
	n := 0
	for n < len(b) && isDigit(b[n]) {
		n++
	}
	return n
}

// joinValues returns all values of name among fields, joined by ", ", or nil. It aliases fields if there is one.
func joinValues(fields []byte, name string) []byte {
	var all []byte
	n := 0
	for field, value := range httphead.Fields(fields) {
		if !httphead.EqualFold(field, name) {
			continue
		}
		if n++; n == 1 {
			all = value
			continue
		}
		all = append(append(all[:len(all):len(all)], ", "...), value...)
	}
	return all
}

// firstValue returns the first value of name among fields, or nil.
func firstValue(fields []byte, name string) []byte {
	for field, value := range httphead.Fields(fields) {
		if httphead.EqualFold(field, name) {
			return value
		}
	}
	return nil
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// headScan is how far the search for the end of a head has come.
type headScan struct {
	at       int // bytes looked at
	line     int // start of the line at hand
	lines    int
	blank    int  // bytes of line ends dropped before the status line
	hasStart bool // the status line was found
}

// headState is the result of a look at the bytes so far.
type headState uint8

const (
	headMore headState = iota
	headWhole
	headTooLarge
	headForeign // no HTTP
)

// findEnd searches raw for the end of a head and returns the length of the head if it is whole.
func (s *headScan) findEnd(raw []byte, o *Options) (int, headState) {
	if !s.hasStart {
		start := httphead.Start(raw)
		if start < 0 {
			if httphead.MayStart(raw) {
				return 0, headMore
			}
			return 0, headForeign
		}
		s.at, s.line, s.hasStart = start, start, true
	}
	for {
		i := bytes.IndexByte(raw[s.at:], '\n')
		if i < 0 {
			s.at = len(raw)
			if len(raw)-s.line > o.HeaderLineMax || len(raw) >= o.HeaderMax {
				return 0, headTooLarge
			}
			return 0, headMore
		}
		end := s.at + i
		length := end - s.line
		s.at, s.line = end+1, end+1
		if length == 0 || (length == 1 && raw[end-1] == '\r') {
			if end+1 > o.HeaderMax {
				return 0, headTooLarge
			}
			return end + 1, headWhole
		}
		if s.lines++; length > o.HeaderLineMax || s.lines > o.HeaderCount+1 {
			return 0, headTooLarge
		}
	}
}

// blankLines counts the bytes of line ends that b starts with, up to most.
func blankLines(b []byte, most int) int {
	n := 0
	for n < min(len(b), most) && (b[n] == '\r' || b[n] == '\n') {
		n++
	}
	return n
}
