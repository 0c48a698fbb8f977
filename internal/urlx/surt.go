package urlx

import "bytes"

// SURT appends to dst the sort-friendly key of a normal form (Sort-friendly URI Reordering Transform), the first field
// of a CDXJ line. It has the host's labels in reverse order, joined by commas, then ")", path and query, as in
// "com,example)/a?b=1". It borrows url.
//
// The key must equal that of pywb and cdxj-indexer: with another key, a lookup does not find the page. It is coarser
// than the normal form:
//
//   - the scheme, a leading "www." ("www2." ...), the default port and an empty query are dropped;
//   - IPv4 addresses are reversed like names, IPv6 addresses lose their brackets;
//   - escapes are decoded repeatedly, and then encoded once where necessary;
//   - empty and dot segments are removed, and so is a slash at the end of the path, except in "/";
//   - query parameters are sorted; well-known session identifiers are removed from path and query;
//   - everything is in lower case.
func SURT(dst, url []byte) []byte {
	site, path := Split(url)
	host, port := hostPort(site)
	dst = appendHostKey(dst, host)
	if len(port) > 0 && string(port) != "0" {
		dst = append(append(dst, ':'), port...)
	}
	dst = append(dst, ')')
	path, query, _ := bytes.Cut(path, []byte("?"))
	dst = appendPathKey(dst, path)
	if len(query) > 0 {
		dst = appendQueryKey(dst, query)
	}
	return dst
}

// OpaqueKey appends to dst the key of a URI without a host and without a fragment, such as "urn:text:http://h/A?b":
// the scheme as it is, then path and query as in SURT. The path is no list of segments here: dots and empty ones stay.
func OpaqueKey(dst, uri []byte) []byte {
	scheme, rest, _ := bytes.Cut(uri, []byte(":"))
	path, query, _ := bytes.Cut(rest, []byte("?"))
	dst = append(append(dst, scheme...), ':')
	start := len(dst)
	dst = appendKeyEncoded(dst, unescapeAll(nil, path))
	dst = append(dst[:start], cutPathSession(dst[start:])...)
	if n := len(dst); n > start+1 && dst[n-1] == '/' {
		dst = dst[:n-1]
	}
	if len(query) == 0 {
		return dst
	}
	if len(dst) == start {
		dst = append(dst, '/')
	}
	return appendQueryKey(dst, query)
}

// appendHostKey appends the labels of a host in reverse order.
func appendHostKey(dst, host []byte) []byte {
	if n := len(host); n >= 2 && host[0] == '[' {
		return append(dst, host[1:n-1]...)
	}
	if bytes.Contains(host, []byte("..")) {
		host = bytes.ReplaceAll(host, []byte(".."), []byte("."))
	}
	return AppendReversed(dst, cutWWW(bytes.Trim(host, ".")), ',')
}

// AppendReversed appends the labels of a host name in reverse order, with separator between them.
func AppendReversed(dst, name []byte, separator byte) []byte {
	for {
		dot := bytes.LastIndexByte(name, '.')
		dst = append(dst, name[dot+1:]...)
		if dot < 0 {
			return dst
		}
		dst = append(dst, separator)
		name = name[:dot]
	}
}

// cutWWW cuts "www." or "www17." off a host.
func cutWWW(host []byte) []byte {
	rest, ok := bytes.CutPrefix(host, []byte("www"))
	if !ok {
		return host
	}
	for len(rest) > 0 && rest[0] >= '0' && rest[0] <= '9' {
		rest = rest[1:]
	}
	if after, ok := bytes.CutPrefix(rest, []byte(".")); ok {
		return after
	}
	return host
}

// span is a part of a slice, as offsets.
type span struct{ from, to int }

// appendPathKey appends the key of a path, which begins with a slash.
func appendPathKey(dst, path []byte) []byte {
	var scratch [512]byte
	path = unescapeAll(append(scratch[:0], '/'), path[min(1, len(path)):])
	var few [32]span // offsets and not slices, so that scratch can stay on the stack
	kept := few[:0]
	for from := 1; from <= len(path); {
		to := from
		for to < len(path) && path[to] != '/' {
			to++
		}
		switch segment := path[from:to]; {
		case string(segment) == ".":
		case string(segment) == ".." && len(kept) > 0:
			kept = kept[:len(kept)-1]
		default:
			kept = append(kept, span{from, to})
		}
		from = to + 1
	}
	start := len(dst)
	dst = append(dst, '/')
	for i, segment := range kept {
		dst = appendKeyEncoded(dst, path[segment.from:segment.to])
		if segment.from < segment.to && i < len(kept)-1 {
			dst = append(dst, '/')
		}
	}
	dst = append(dst[:start], cutPathSession(dst[start:])...)
	if n := len(dst); n > start+1 && dst[n-1] == '/' {
		dst = dst[:n-1]
	}
	return dst
}

// unescapeAll appends s to dst and decodes escapes until none is left. A decoded byte may complete another escape with
// the bytes before it, which is checked at once. With later bytes it is checked when they come. So one pass is enough.
func unescapeAll(dst, s []byte) []byte {
	start := len(dst)
	for _, c := range s {
		dst = append(dst, c)
		for n := len(dst); n-start >= 3 && dst[n-3] == '%'; n = len(dst) {
			hi, lo := hexValue(dst[n-2]), hexValue(dst[n-1])
			if hi > 15 || lo > 15 {
				break
			}
			dst = append(dst[:n-3], hi<<4|lo)
		}
	}
	return dst
}

// appendKeyEncoded appends s in lower case. It percent-encodes, also in lower case, all except printable ASCII, and
// also "#" and "%".
func appendKeyEncoded(dst, s []byte) []byte {
	const hex = "0123456789abcdef"
	for _, c := range s {
		if c <= ' ' || c >= 0x7f || c == '#' || c == '%' {
			dst = append(dst, '%', hex[c>>4], hex[c&15])
		} else {
			dst = append(dst, lower(c))
		}
	}
	return dst
}

func lower(c byte) byte {
	if c >= 'A' && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}
