package urlx

import (
	"bytes"
	"net/netip"
	"strconv"
	"unicode/utf8"
)

// hostRawMax is the longest accepted host before decoding, in bytes. A DNS name has at most 253 bytes; percent-encoded
// with four-byte characters this becomes at most 3 KiB.
const hostRawMax = 4096

// appendAuthority appends the normal form of "host:port" to dst, which ends with "scheme://". The default port is
// omitted.
func appendAuthority(dst, hostPort []byte) ([]byte, error) {
	secure := bytes.HasSuffix(dst, []byte("https://"))
	end, bracket := len(hostPort), false
	for i, c := range hostPort {
		if c == ':' && !bracket {
			end = i
			break
		}
		bracket = c == '[' || bracket && c != ']'
	}
	if end == 0 {
		return dst, ErrHost
	}
	dst, err := appendHost(dst, hostPort[:end])
	if err != nil || end == len(hostPort) {
		return dst, err
	}
	digits, port := hostPort[end+1:], 0
	for _, c := range digits {
		if c < '0' || c > '9' {
			return dst, ErrPort
		}
		if port = port*10 + int(c-'0'); port > 65535 {
			return dst, ErrPort
		}
	}
	if len(digits) == 0 || port == 443 && secure || port == 80 && !secure {
		return dst, nil
	}
	return strconv.AppendInt(append(dst, ':'), int64(port), 10), nil
}

// appendHost appends the normal form of a nonempty host.
func appendHost(dst, host []byte) ([]byte, error) {
	start := len(dst)
	label := 0
	for i, c := range host {
		if octets[c]&inHost == 0 {
			return appendOddHost(dst[:start], host)
		}
		if c == '.' && i < len(host)-1 {
			label = i + 1
		}
		dst = append(dst, lower(c))
	}
	if c := host[label]; c >= '0' && c <= '9' {
		return finishHost(dst, start) // perhaps an IPv4 address, whose parts all begin with a digit
	}
	return dst, nil
}

// appendOddHost is appendHost for hosts with other characters than letters, digits, hyphens, underscores and dots.
func appendOddHost(dst, host []byte) ([]byte, error) {
	if len(host) > hostRawMax {
		return dst, ErrHost
	}
	if host[0] == '[' {
		return appendIPv6(dst, host)
	}
	start := len(dst)
	dst = decodePercent(dst, host)
	name := dst[start:]
	if !utf8.Valid(name) {
		return dst, ErrHost
	}
	if isASCII(name) {
		for i, c := range name {
			name[i] = lower(c)
		}
		return finishHost(dst, start)
	}
	ascii, err := toASCII(string(name))
	if err != nil {
		return dst, err
	}
	return finishHost(append(dst[:start], ascii...), start)
}

func isASCII(s []byte) bool {
	for _, c := range s {
		if c >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// finishHost checks the lower-case ASCII host in dst[start:], and replaces it by its canonical address if it is a
// number.
func finishHost(dst []byte, start int) ([]byte, error) {
	host := dst[start:]
	if len(host) == 0 {
		return dst, ErrHost
	}
	for _, c := range host {
		if c <= ' ' || c == 0x7f || bytes.IndexByte([]byte("#/:<>?@[\\]^|%"), c) >= 0 {
			return dst, ErrHost
		}
	}
	if !endsInNumber(host) {
		return dst, nil
	}
	address, ok := parseIPv4(host)
	if !ok {
		return dst, ErrHost
	}
	return netip.AddrFrom4([4]byte{byte(address >> 24), byte(address >> 16), byte(address >> 8), byte(address)}).
		AppendTo(dst[:start]), nil
}

// endsInNumber reports whether a host must be parsed as an IPv4 address: whether its last label is a number.
func endsInNumber(host []byte) bool {
	host = bytes.TrimSuffix(host, []byte("."))
	last := host[bytes.LastIndexByte(host, '.')+1:]
	if len(last) == 0 {
		return false
	}
	digits := true
	for _, c := range last {
		digits = digits && c >= '0' && c <= '9'
	}
	_, ok := parseNumber(last)
	return digits || ok
}

// parseIPv4 parses an address of one to four numbers, decimal, octal or hexadecimal. The last number fills the
// remaining bytes.
func parseIPv4(host []byte) (address uint64, ok bool) {
	host = bytes.TrimSuffix(host, []byte("."))
	for part := 0; ; part++ {
		label, rest, more := bytes.Cut(host, []byte("."))
		n, ok := parseNumber(label)
		if !ok || part > 3 {
			return 0, false
		}
		if !more {
			return address + n, n < 1<<(8*(4-part))
		}
		if n > 255 {
			return 0, false
		}
		address += n << (8 * (3 - part))
		host = rest
	}
}

// parseNumber parses one number of an IPv4 address. A number of more than 32 bits becomes 1<<32, which is invalid at
// every position.
func parseNumber(s []byte) (n uint64, ok bool) {
	radix := uint64(10)
	switch {
	case len(s) == 0:
		return 0, false
	case len(s) >= 2 && s[0] == '0' && s[1]|0x20 == 'x':
		s, radix = s[2:], 16
	case len(s) >= 2 && s[0] == '0':
		s, radix = s[1:], 8
	}
	for _, c := range s {
		v := uint64(hexValue(c))
		if v >= radix {
			return 0, false
		}
		n = min(n*radix+v, 1<<32)
	}
	return n, true
}

// appendIPv6 appends the normal form of a bracketed IPv6 address.
func appendIPv6(dst, host []byte) ([]byte, error) {
	inner, ok := bytes.CutSuffix(host[1:], []byte("]"))
	if !ok || len(inner) > 45 || bytes.IndexByte(inner, '%') >= 0 { // the longest spelling has 45 bytes
		return dst, ErrHost
	}
	address, err := netip.ParseAddr(string(inner))
	if err != nil || !address.Is6() {
		return dst, ErrHost
	}
	octets := address.As16()
	var pieces [8]uint16
	for i := range pieces {
		pieces[i] = uint16(octets[2*i])<<8 | uint16(octets[2*i+1])
	}
	gap, gapLen := longestZeroes(pieces)
	dst = append(dst, '[')
	for i := 0; i < 8; i++ {
		if i == gap {
			dst = append(dst, ':', ':')
			i += gapLen - 1
			continue
		}
		if i > 0 && i != gap+gapLen {
			dst = append(dst, ':')
		}
		dst = strconv.AppendUint(dst, uint64(pieces[i]), 16)
	}
	return append(dst, ']'), nil
}

// longestZeroes returns the first of the longest runs of two or more zero pieces (RFC 5952). start is -1 if there is
// none.
func longestZeroes(pieces [8]uint16) (start, length int) {
	start, length = -1, 1
	for i := 0; i < 8; {
		n := 0
		for i+n < 8 && pieces[i+n] == 0 {
			n++
		}
		if n > length {
			start, length = i, n
		}
		i += n + 1
	}
	return start, length
}
