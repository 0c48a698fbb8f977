package robots

import "encoding/binary"

// rule is one Allow or Disallow line.
type rule struct {
	pattern []byte // canonical, never empty
	text    []byte // the line as written; nil if appendPlain gives the same
	line    uint64
	allow   bool
}

// lineText returns the line's text.
func (r rule) lineText() string {
	if len(r.text) > 0 {
		return string(r.text)
	}
	return string(r.appendPlain(nil))
}

// appendPlain appends the usual spelling of the rule to dst.
func (r rule) appendPlain(dst []byte) []byte {
	key := "Disallow: "
	if r.allow {
		key = "Allow: "
	}
	dst = append(dst, key...)
	for _, c := range r.pattern {
		switch c {
		case opAny:
			c = '*'
		case opEnd:
			c = '$'
		}
		dst = append(dst, c)
	}
	return dst
}

// append appends the encoded form to dst.
func (r rule) append(dst []byte) []byte {
	head := uint64(len(r.pattern)) << ruleBits
	if r.allow {
		head |= ruleAllow
	}
	if len(r.text) > 0 {
		head |= ruleText
	}
	dst = binary.AppendUvarint(dst, head)
	dst = binary.AppendUvarint(dst, r.line)
	dst = append(dst, r.pattern...)
	if len(r.text) > 0 {
		dst = appendBytes(dst, r.text)
	}
	return dst
}

// cutRule cuts one encoded rule off b and checks it.
func cutRule(b []byte) (r rule, rest []byte, ok bool) {
	head, rest, ok := cutUvarint(b)
	if !ok {
		return r, nil, false
	}
	if r.line, rest, ok = cutUvarint(rest); !ok {
		return r, nil, false
	}
	n := head >> ruleBits
	if n == 0 || n > uint64(len(rest)) || r.line > bodyMax {
		return r, nil, false
	}
	r.allow = head&ruleAllow != 0
	r.pattern, rest = rest[:n], rest[n:]
	if head&ruleText != 0 {
		r.text, rest, ok = cutBytes(rest)
	}
	return r, rest, ok
}

func appendBytes(dst, s []byte) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(s))), s...)
}

func cutUvarint(b []byte) (n uint64, rest []byte, ok bool) {
	n, size := binary.Uvarint(b)
	if size <= 0 {
		return 0, nil, false
	}
	return n, b[size:], true
}

func cutBytes(b []byte) (s, rest []byte, ok bool) {
	n, b, ok := cutUvarint(b)
	if !ok || n > uint64(len(b)) {
		return nil, nil, false
	}
	return b[:n], b[n:], true
}
