package urlx

import (
	"fmt"
	"math/big"
	"net/netip"
	"strings"
	"unicode/utf8"
)

// oracle is the standard's URL parser as a literal state machine over runes, with the path as a list. It is slow, and
// shares nothing with the package except the IDNA tables. It reads valid UTF-8 and the schemes http and https only.
type oracle struct {
	scheme, host, query string
	port                int // -1: none
	path                []string
	hasQuery            bool
}

func (o *oracle) String() string {
	s := o.scheme + "://" + o.host
	if o.port >= 0 {
		s += fmt.Sprintf(":%d", o.port)
	}
	for _, p := range o.path {
		s += "/" + p
	}
	if o.hasQuery {
		s += "?" + o.query
	}
	return s
}

// oracleResolve returns the normal form, or false.
func oracleResolve(base *oracle, input string) (*oracle, bool) {
	input = strings.TrimFunc(input, func(r rune) bool { return r <= ' ' })
	input = strings.NewReplacer("\t", "", "\n", "", "\r", "").Replace(input)
	u := &oracle{port: -1}
	colon := strings.IndexByte(input, ':')
	var state string
	rest := input
	if colon > 0 && isScheme(input[:colon]) {
		u.scheme = strings.ToLower(input[:colon])
		rest = input[colon+1:]
		switch {
		case u.scheme != "http" && u.scheme != "https":
			return nil, false
		case base != nil && base.scheme == u.scheme && !strings.HasPrefix(rest, "//"):
			state = "relative"
		default:
			state = "slashes"
		}
	} else if base == nil {
		return nil, false
	} else {
		state = "relative"
	}
	if state == "relative" {
		u.scheme = base.scheme
		rest = strings.ReplaceAll(cutAny(rest), "\\", "/") + rest[len(cutAny(rest)):]
		if !strings.HasPrefix(rest, "//") {
			return u.relative(base, rest), true
		}
	}
	rest = strings.TrimLeft(rest, "/\\")
	authority := rest
	if end := strings.IndexAny(rest, "/\\?#"); end >= 0 {
		authority = rest[:end]
	}
	rest = rest[len(authority):]
	if !u.readAuthority(authority[strings.LastIndexByte(authority, '@')+1:]) {
		return nil, false
	}
	if rest != "" && (rest[0] == '/' || rest[0] == '\\') {
		rest = rest[1:]
	}
	u.readPath(rest)
	return u, true
}

// cutAny returns the part of s before its query or fragment.
func cutAny(s string) string {
	if end := strings.IndexAny(s, "?#"); end >= 0 {
		return s[:end]
	}
	return s
}

func isScheme(s string) bool {
	for i, r := range strings.ToLower(s) {
		if (r < 'a' || r > 'z') && (i == 0 || !strings.ContainsRune("0123456789+-.", r)) {
			return false
		}
	}
	return true
}

func (o *oracle) relative(base *oracle, rest string) *oracle {
	o.host, o.port = base.host, base.port
	switch {
	case strings.HasPrefix(rest, "/"):
		o.readPath(rest[1:])
		return o
	case rest == "" || rest[0] == '#':
		o.path, o.query, o.hasQuery = base.path, base.query, base.hasQuery
		return o
	}
	o.path = append([]string(nil), base.path...)
	if rest[0] == '?' {
		o.readQuery(rest)
		return o
	}
	o.path = o.path[:len(o.path)-1]
	o.readPath(rest)
	return o
}

// readPath is the standard's path state; it adds segments to the existing ones.
func (o *oracle) readPath(rest string) {
	buffer := ""
	for i, r := range rest + "\x00" {
		end := i == len(rest)
		slash := !end && (r == '/' || r == '\\')
		if !end && !slash && r != '?' && r != '#' {
			buffer += encodeRune(r, "\"<>`{}^")
			continue
		}
		switch strings.ReplaceAll(strings.ToLower(buffer), "%2e", ".") {
		case "..":
			if len(o.path) > 0 {
				o.path = o.path[:len(o.path)-1]
			}
			if !slash {
				o.path = append(o.path, "")
			}
		case ".":
			if !slash {
				o.path = append(o.path, "")
			}
		default:
			o.path = append(o.path, buffer)
		}
		buffer = ""
		if r == '?' || r == '#' {
			o.readQuery(rest[i:])
			return
		}
	}
}

func (o *oracle) readQuery(rest string) {
	rest, _, _ = strings.Cut(rest, "#")
	if rest == "" {
		return
	}
	o.hasQuery = true
	for _, r := range rest[1:] {
		o.query += encodeRune(r, "\"<>'")
	}
}

func encodeRune(r rune, special string) string {
	if r > ' ' && r < 0x7f && !strings.ContainsRune(special, r) {
		return string(r)
	}
	s := ""
	for _, c := range []byte(string(r)) {
		s += fmt.Sprintf("%%%02X", c)
	}
	return s
}

func (o *oracle) readAuthority(s string) bool {
	host, port, bracket := s, "", false
	for i, r := range s {
		if r == ':' && !bracket {
			host, port = s[:i], s[i+1:]
			break
		}
		if r == '[' || r == ']' {
			bracket = r == '['
		}
	}
	if port != "" {
		n, ok := new(big.Int).SetString(port, 10)
		if !ok || strings.Trim(port, "0123456789") != "" || n.Cmp(big.NewInt(65535)) > 0 {
			return false
		}
		o.port = int(n.Int64())
	}
	if o.port == map[string]int{"http": 80, "https": 443}[o.scheme] {
		o.port = -1
	}
	var ok bool
	o.host, ok = oracleHost(host)
	return ok
}

func oracleHost(host string) (string, bool) {
	if strings.HasPrefix(host, "[") {
		inner, ok := strings.CutSuffix(host[1:], "]")
		a, err := netip.ParseAddr(inner)
		if !ok || err != nil || !a.Is6() || a.Zone() != "" {
			return "", false
		}
		if a.Is4In6() { // netip writes these with dots, the standard does not
			b := a.As16()
			return fmt.Sprintf("[::ffff:%x:%x]", int(b[12])<<8|int(b[13]), int(b[14])<<8|int(b[15])), true
		}
		return "[" + a.String() + "]", true
	}
	var octets []byte
	for i := 0; i < len(host); i++ {
		var c byte
		if n, _ := fmt.Sscanf(host[i:min(i+3, len(host))], "%%%02x", &c); n == 1 && i+2 < len(host) &&
			strings.Trim(host[i+1:i+3], "0123456789abcdefABCDEF") == "" {
			octets = append(octets, c)
			i += 2
			continue
		}
		octets = append(octets, host[i])
	}
	if !utf8.Valid(octets) {
		return "", false
	}
	name := strings.ToLower(string(octets))
	if strings.ContainsFunc(name, func(r rune) bool { return r >= 0x80 }) || !isASCII(octets) {
		var err error
		if name, err = toASCII(string(octets)); err != nil {
			return "", false
		}
	}
	if name == "" || strings.ContainsFunc(name, func(r rune) bool {
		return r <= ' ' || r == 0x7f || strings.ContainsRune("#/:<>?@[\\]^|%", r)
	}) {
		return "", false
	}
	return oracleIPv4(name)
}

// oracleIPv4 returns name, or the address if name is one.
func oracleIPv4(name string) (string, bool) {
	parts := strings.Split(name, ".")
	if len(parts) > 1 && parts[len(parts)-1] == "" {
		parts = parts[:len(parts)-1]
	}
	last := parts[len(parts)-1]
	if _, ok := oracleNumber(last); !ok && (last == "" || strings.Trim(last, "0123456789") != "") {
		return name, true
	}
	if len(parts) > 4 {
		return "", false
	}
	sum := new(big.Int)
	for i, p := range parts {
		n, ok := oracleNumber(p)
		limit, shift := big.NewInt(256), uint(8*(3-i))
		if i == len(parts)-1 {
			limit, shift = new(big.Int).Lsh(big.NewInt(1), uint(8*(4-i))), 0
		}
		if !ok || n.Cmp(limit) >= 0 {
			return "", false
		}
		sum.Add(sum, n.Lsh(n, shift))
	}
	v := sum.Uint64()
	return fmt.Sprintf("%d.%d.%d.%d", v>>24, v>>16&255, v>>8&255, v&255), true
}

func oracleNumber(s string) (*big.Int, bool) {
	digits, base := s, 10
	if strings.HasPrefix(s, "0x") {
		digits, base = s[2:], 16
	} else if len(s) > 1 && s[0] == '0' {
		digits, base = s[1:], 8
	}
	if s == "" || strings.Trim(digits, "0123456789abcdef") != "" {
		return nil, false
	}
	if digits == "" {
		return new(big.Int), true
	}
	return new(big.Int).SetString(digits, base)
}
