package urlx

import "bytes"

// SURT appends the sort-friendly key of a normal form, as it stands in CDXJ indexes: host labels reversed and joined by
// commas, then ")" and path and query, all lower-case, default port dropped, for example "com,example)/a?b=1".
//
// A leading "www." (also "www1.", "www27.") is dropped, as the canonicalisation of pywb and warcio's cdxj-indexer does,
// so that both spellings of a site are found by one look-up. Addresses are not reversed.
func SURT(dst, url []byte) []byte {
	site, path := Split(url)
	host, port := hostPort(site)
	host = stripWWW(host)
	if isAddress(host) {
		dst = append(dst, host...)
	} else {
		dst = appendReversed(dst, host)
	}
	if len(port) > 0 {
		dst = append(append(dst, ':'), port...)
	}
	dst = append(dst, ')')
	start := len(dst)
	dst = append(dst, path...)
	for i := start; i < len(dst); i++ {
		dst[i] = lower(dst[i])
	}
	return dst
}

func stripWWW(host []byte) []byte {
	rest, ok := bytes.CutPrefix(host, []byte("www"))
	if !ok {
		return host
	}
	for len(rest) > 0 && rest[0] >= '0' && rest[0] <= '9' {
		rest = rest[1:]
	}
	if len(rest) > 1 && rest[0] == '.' {
		return rest[1:]
	}
	return host
}

// isAddress says whether a normalised host is an IPv4 or IPv6 address: only addresses end in a digit label or a bracket.
func isAddress(host []byte) bool {
	if len(host) == 0 || host[0] == '[' {
		return true
	}
	last := host[bytes.LastIndexByte(host, '.')+1:]
	if len(last) == 0 {
		return false
	}
	for _, c := range last {
		if c < '0' || c > '9' {
			return false
		}
	}
	return true
}

func appendReversed(dst, host []byte) []byte {
	host = bytes.TrimSuffix(host, []byte("."))
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

func lower(c byte) byte {
	if c >= 'A' && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}
