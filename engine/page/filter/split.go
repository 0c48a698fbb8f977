package filter

import (
	"bytes"
	"strconv"
)

// parts are the parts of a normal form; they borrow it.
type parts struct {
	scheme, site, authority, host, port, path, query []byte
	tail                                             []byte // everything after the scheme: authority, path and query
}

// split splits a normal form (scheme://authority/path?query, no user information, no fragment). It returns false for
// other strings and schemes.
func split(url []byte) (p parts, ok bool) {
	scheme := len("http")
	if !bytes.HasPrefix(url, []byte("http://")) {
		if scheme = len("https"); !bytes.HasPrefix(url, []byte("https://")) {
			return parts{}, false
		}
	}
	p.scheme, p.tail = url[:scheme], url[scheme+3:]
	end := 0
	for end < len(p.tail) && p.tail[end] != '/' && p.tail[end] != '?' {
		end++
	}
	p.authority, p.path = p.tail[:end], p.tail[end:]
	if i := bytes.IndexByte(p.path, '?'); i >= 0 {
		p.path, p.query = p.path[:i], p.path[i+1:]
	}
	p.site = url[:scheme+3+end]
	p.host = p.authority
	if i := bytes.LastIndexByte(p.authority, ':'); i >= 0 && i > bytes.LastIndexByte(p.authority, ']') {
		p.host, p.port = p.authority[:i], p.authority[i+1:]
	}
	return p, len(p.host) > 0
}

// hasHost reports whether split would succeed.
func hasHost(url []byte) bool {
	rest, ok := bytes.CutPrefix(url, []byte("http://"))
	if !ok {
		rest, ok = bytes.CutPrefix(url, []byte("https://"))
	}
	switch {
	case !ok || len(rest) == 0 || rest[0] == '/' || rest[0] == '?':
		return false
	case rest[0] == ':':
		_, ok = split(url)
	}
	return ok
}

func (p parts) portNumber() int {
	if len(p.port) == 0 {
		if len(p.scheme) == len("https") {
			return 443
		}
		return 80
	}
	n, err := strconv.ParseUint(string(p.port), 10, 16)
	if err != nil {
		return 0
	}
	return int(n)
}

// isAddress reports whether a host in normal form is an address: [IPv6], or a name that ends in a number.
func isAddress(host []byte) bool {
	if len(host) == 0 {
		return false
	}
	last := host[len(host)-1]
	return last == ']' || '0' <= last && last <= '9' && bytes.IndexFunc(host, func(r rune) bool {
		return r != '.' && (r < '0' || r > '9')
	}) < 0
}
