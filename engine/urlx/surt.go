package urlx

import "bytes"

// SURT appends to dst the sort-friendly key of a normal form, as it begins a line of a CDXJ index: the host's labels in
// reverse order, joined by commas, then ")", path and query, as in "com,example)/a?b=1". It borrows url.
//
// The key is the one that the tools around pywb compute when they index (cdxj-indexer) and when they look up, since a
// key that differs is a page that is not found. It is coarser than the normal form:
//
//   - the scheme, a leading "www." ("www2." ...), the default port and an empty query are dropped;
//   - IPv4 addresses are reversed like names, IPv6 addresses lose their brackets;
//   - escapes are undone, over and over, and what must be escaped is escaped once;
//   - empty and dot segments go, and so does the slash at the end of a path that is not "/" alone;
//   - the parameters of the query are sorted; well-known session identifiers are cut out of path and query;
//   - everything is lower-case.
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

// appendHostKey appends the labels of a host in reverse order.
func appendHostKey(dst, host []byte) []byte {
	if n := len(host); n >= 2 && host[0] == '[' {
		return append(dst, host[1:n-1]...)
	}
	if bytes.Contains(host, []byte("..")) {
		host = bytes.ReplaceAll(host, []byte(".."), []byte("."))
	}
	host = cutWWW(bytes.Trim(host, "."))
	for {
		dot := bytes.LastIndexByte(host, '.')
		dst = append(dst, host[dot+1:]...)
		if dot < 0 {
			return dst
		}
		dst = append(dst, ',')
		host = host[:dot]
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

// span is a part of a slice.
type span struct{ from, to int }

// appendPathKey appends the key of a path, which begins with a slash.
func appendPathKey(dst, path []byte) []byte {
	var scratch [512]byte
	path = unescapeAll(append(scratch[:0], '/'), path[min(1, len(path)):])
	var few [32]span // offsets, since slices of the scratch would drive it to the heap
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

// unescapeAll appends s to dst with escapes undone until none is left. What an escape becomes may complete another one
// with what stands before it, which is looked at at once, or with what comes, which is looked at then: so one pass does.
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

// appendKeyEncoded appends s in lower case, with escapes, in lower case too, for all but printable ASCII, and for "#"
// and "%".
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
