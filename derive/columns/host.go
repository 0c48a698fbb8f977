package columns

import (
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/publicsuffix"

	"orbweaver/internal/urlx"
)

// urlParts are the parts of a URI as it is written.
type urlParts struct {
	scheme, host, path, query string
	port                      int32 // 0 if the URL has none
}

// splitURL splits any URI. It never fails: a URI without an authority has no host.
func splitURL(uri string) (p urlParts) {
	uri, _, _ = strings.Cut(uri, "#")
	scheme, rest, found := strings.Cut(uri, ":")
	if !found {
		p.path = uri
		return p
	}
	p.scheme = strings.ToLower(scheme)
	if authority, isWeb := strings.CutPrefix(rest, "//"); isWeb {
		end := strings.IndexAny(authority, "/?")
		if end < 0 {
			end = len(authority)
		}
		authority, rest = authority[:end], authority[end:]
		if at := strings.LastIndexByte(authority, '@'); at >= 0 {
			authority = authority[at+1:]
		}
		if colon := strings.LastIndexByte(authority, ':'); colon > strings.LastIndexByte(authority, ']') {
			if port, err := strconv.ParseUint(authority[colon+1:], 10, 16); err == nil {
				p.port = int32(port)
			}
			authority = authority[:colon]
		}
		p.host = strings.ToLower(authority)
	}
	p.path, p.query, _ = strings.Cut(rest, "?")
	return p
}

// hostParts are the columns of a host.
type hostParts struct {
	name, reversed                   string
	parts                            [5]string // from the right
	registrySuffix, registeredDomain string
	privateSuffix, privateDomain     string
}

// describeHost returns the columns of a host. Addresses have a name alone.
func describeHost(host string) (h hostParts) {
	h.name = host
	if host == "" {
		return h
	}
	if _, err := netip.ParseAddr(strings.Trim(host, "[]")); err == nil {
		return h
	}
	if !isASCII(host) || strings.Contains(host, "%") {
		if normal, err := urlx.Normalize(nil, []byte("http://"+host+"/")); err == nil {
			h.name = string(urlx.Host(normal))
		}
	}
	h.name = strings.TrimSuffix(h.name, ".")
	labels := strings.Split(h.name, ".")
	slices.Reverse(labels)
	copy(h.parts[:], labels)
	h.reversed = strings.Join(labels, ".")
	h.privateSuffix, h.privateDomain = suffixOf(h.name, false)
	h.registrySuffix, h.registeredDomain = suffixOf(h.name, true)
	return h
}

func isASCII(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r >= 0x80 }) < 0
}

// suffixOf returns the public suffix of a host and the domain one level below it. registry leaves out the suffixes of
// private operators. Both are "" if the top-level domain is not managed; a suffix has no domain.
func suffixOf(host string, registry bool) (suffix, domain string) {
	suffix, icann := publicsuffix.PublicSuffix(host)
	for registry && !icann && strings.Contains(suffix, ".") {
		_, parent, _ := strings.Cut(suffix, ".")
		suffix, icann = publicsuffix.PublicSuffix(parent)
	}
	if !icann && !strings.Contains(suffix, ".") {
		return "", ""
	}
	below, found := strings.CutSuffix(host, "."+suffix)
	if !found || below == "" {
		return suffix, ""
	}
	return suffix, below[strings.LastIndexByte(below, '.')+1:] + "." + suffix
}
