package dnsres

import (
	"fmt"
	"net/netip"
	"strings"
	"time"
)

// cleanName returns a host name in lower case and without its trailing dot, or an error. Underscores and hyphens are
// allowed anywhere, because such hosts exist. A name whose last label is a number is refused, as by all resolvers for
// the web.
func cleanName(name string) (string, error) {
	name = strings.TrimSuffix(name, ".")
	if name == "" || len(name) > 253 {
		return "", fmt.Errorf("%w: length %d", ErrName, len(name))
	}
	label, digits, upper := 0, 0, false
	for i := range len(name) {
		c := name[i]
		switch {
		case c == '.':
			if label == 0 {
				return "", fmt.Errorf("%w: empty label", ErrName)
			}
			label, digits = 0, 0
			continue
		case '0' <= c && c <= '9':
			digits++
		case 'A' <= c && c <= 'Z':
			upper = true
		case 'a' <= c && c <= 'z' || c == '-' || c == '_':
		default:
			return "", fmt.Errorf("%w: byte %q", ErrName, c)
		}
		if label++; label > 63 {
			return "", fmt.Errorf("%w: label over 63 bytes", ErrName)
		}
	}
	if label == 0 || label == digits {
		return "", fmt.Errorf("%w: last label empty or a number", ErrName)
	}
	if upper {
		name = strings.ToLower(name)
	}
	return name, nil
}

// special answers the names that must not be asked for (RFC 6761, RFC 7686): localhost is this machine; .onion and
// .invalid do not exist.
func special(name string, ipv6 bool) (Answer, bool) {
	last := name[strings.LastIndexByte(name, '.')+1:]
	switch last {
	case "localhost":
		addrs := []netip.Addr{netip.AddrFrom4([4]byte{127, 0, 0, 1})}
		if ipv6 {
			addrs = append(addrs, netip.IPv6Loopback())
		}
		return Answer{Addrs: addrs}, true
	case "onion", "invalid":
		return Answer{Err: fmt.Errorf("%w: .%s is not in the DNS", ErrNotFound, last), Expires: time.Time{}}, true
	}
	return Answer{}, false
}
