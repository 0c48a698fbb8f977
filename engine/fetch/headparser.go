package fetch

import (
	"bufio"
	"bytes"
	"iter"
	"math"
	"slices"
	"sync"

	"github.com/valyala/fasthttp"
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
	if len(head) > codecHeadMax || len(head) < 9 || !hasPrefixFold(head, "http/1.") || (head[7] != '0' && head[7] != '1') {
		return headInfo{}, false
	}
	c.src.Reset(head)
	c.buf.Reset(&c.src)
	if err := c.h.Read(c.buf); err != nil || c.src.Len()+c.buf.Buffered() > 0 {
		return headInfo{}, false
	}
	info := headInfo{status: c.h.StatusCode(), length: -1}
	if status, ok := parseStatus(head[len("http/1.1"):]); !ok || status != info.status {
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
	if hasControl(head) {
		return headInfo{length: -1}, causeControl // the codec accepts some of them
	}
	c := s.takeCodec()
	info, ok := c.parse(head)
	s.returnCodec(c)
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
	causeControl    = "NUL or bare CR in the header"
	causeStatusLine = "no status code in the status line"
	causeLength     = "Content-Length makes no sense"
)

// parseLenient parses a head like browsers: lines may end in LF, lines without a colon are ignored, equal
// Content-Length fields count once, and ICY counts as HTTP.
func parseLenient(head []byte) (headInfo, string) {
	info := headInfo{length: -1}
	line, rest := cutLine(head)
	var version int
	switch {
	case hasPrefixFold(line, "http/"):
		line = line[len("http/"):]
		version, line = parseVersion(line)
	case hasPrefixFold(line, "icy "):
		version, line = 10, line[len("icy "):]
	default:
		return info, causeStatusLine
	}
	status, ok := parseStatus(line)
	if !ok {
		return info, causeStatusLine
	}
	info.status = status
	parseLengths(rest, version, &info)
	return info, ""
}

// parseVersion reads "1.1" and what follows, as tens and ones. What is not a version counts as 1.0, which allows less.
func parseVersion(b []byte) (version int, rest []byte) {
	i := bytes.IndexAny(b, " \t")
	if i < 0 {
		return 10, nil
	}
	if i == 3 && isDigit(b[0]) && b[1] == '.' && isDigit(b[2]) {
		return int(b[0]-'0')*10 + int(b[2]-'0'), b[i:]
	}
	return 10, b[i:]
}

// parseStatus reads the number after spaces: up to three digits, and no fourth.
func parseStatus(b []byte) (int, bool) {
	b = bytes.TrimLeft(b, " \t")
	n, digits := 0, 0
	for digits < len(b) && isDigit(b[digits]) {
		n = n*10 + int(b[digits]-'0')
		if digits++; digits > 3 {
			return 0, false
		}
	}
	return n, digits > 0
}

// parseLengths reads what the fields say about the length of the body. Content-Length is read as in the Fetch standard
// (https://fetch.spec.whatwg.org/#ref-for-extract-a-length): different values are an error, even if they differ only in
// a leading zero or one is empty. A value that is no number is ignored.
func parseLengths(fields []byte, version int, info *headInfo) {
	var first []byte
	seen := false
	for name, value := range fieldsOf(fields) {
		switch {
		case equalFold(name, "transfer-encoding"):
			if version > 10 && equalFold(lastToken(value), "chunked") {
				info.chunked = true
			}
		case equalFold(name, "content-length"):
			for more := true; more; {
				var token []byte
				token, value, more = bytes.Cut(value, []byte{','})
				token = trimSpace(token)
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

// hasControl says whether b holds a NUL, or a CR that does not end a line.
func hasControl(b []byte) bool {
	if bytes.IndexByte(b, 0) >= 0 {
		return true
	}
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

// fieldsOf iterates over the fields of a head without its first line: name as sent, and value without outer spaces. It
// is lenient: lines without a colon or a name are skipped, and a folded value is joined with single spaces.
func fieldsOf(fields []byte) iter.Seq2[[]byte, []byte] {
	return func(yield func(name, value []byte) bool) {
		for len(fields) > 0 {
			var line []byte
			line, fields = cutLine(fields)
			if len(line) == 0 {
				return
			}
			folded := false
			end := len(line)
			for len(fields) > 0 && isSpace(fields[0]) {
				var more []byte
				more, fields = cutLine(fields)
				line, folded = joinFold(line[:end], folded, more), true
				end = len(line)
			}
			colon := bytes.IndexByte(line, ':')
			if colon <= 0 || isSpace(line[0]) {
				continue
			}
			name := trimSpace(line[:colon])
			if len(name) > 0 && !yield(name, trimSpace(line[colon+1:])) {
				return
			}
		}
	}
}

// joinFold appends a continuation to a line; the first time to a copy, since the line is the page's.
func joinFold(line []byte, copied bool, more []byte) []byte {
	if !copied {
		line = append(make([]byte, 0, len(line)+len(more)+1), line...)
	}
	line = append(line, ' ')
	return append(line, trimSpace(more)...)
}

// joinValues returns all values of name among fields, joined by ", ", or nil. It aliases fields if there is one.
func joinValues(fields []byte, name string) []byte {
	var all []byte
	n := 0
	for field, value := range fieldsOf(fields) {
		if !equalFold(field, name) {
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
	for field, value := range fieldsOf(fields) {
		if equalFold(field, name) {
			return value
		}
	}
	return nil
}

// cutLine splits b after its first line and takes off the line end, LF or CRLF.
func cutLine(b []byte) (line, rest []byte) {
	i := bytes.IndexByte(b, '\n')
	if i < 0 {
		return b, nil
	}
	line, rest = b[:i], b[i+1:]
	if i > 0 && line[i-1] == '\r' {
		line = line[:i-1]
	}
	return line, rest
}

// lastToken returns the last of comma-separated tokens, without spaces and parameters.
func lastToken(value []byte) []byte {
	value = value[bytes.LastIndexByte(value, ',')+1:]
	value, _, _ = bytes.Cut(value, []byte{';'})
	return trimSpace(value)
}

func trimSpace(b []byte) []byte {
	for len(b) > 0 && isSpace(b[0]) {
		b = b[1:]
	}
	for len(b) > 0 && isSpace(b[len(b)-1]) {
		b = b[:len(b)-1]
	}
	return b
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' }

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// equalFold compares in ASCII, whatever the case.
func equalFold(b []byte, s string) bool {
	return len(b) == len(s) && hasPrefixFold(b, s)
}

// hasPrefixFold says whether b starts with s in ASCII, whatever the case of either.
func hasPrefixFold(b []byte, s string) bool {
	if len(b) < len(s) {
		return false
	}
	for i := range len(s) {
		if lower(b[i]) != lower(s[i]) {
			return false
		}
	}
	return true
}

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}

// headScan is how far the search for the end of a head has come.
type headScan struct {
	at    int // bytes looked at
	line  int // start of the line at hand
	lines int
	blank int // bytes of line ends dropped before the status line
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
	if s.line == 0 && !httpPrefix(raw) {
		return 0, headForeign
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

// httpPrefix says whether raw is, or can become, the start of a response.
func httpPrefix(raw []byte) bool {
	return startsLike(raw, "http/") || startsLike(raw, "icy ")
}

func startsLike(raw []byte, prefix string) bool {
	n := min(len(raw), len(prefix))
	return hasPrefixFold(raw[:n], prefix[:n])
}

// blankLines counts the bytes of line ends that b starts with, up to most.
func blankLines(b []byte, most int) int {
	n := 0
	for n < min(len(b), most) && (b[n] == '\r' || b[n] == '\n') {
		n++
	}
	return n
}
