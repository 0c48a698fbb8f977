package urlx

import "bytes"

// Split cuts a normal form into its site key, "scheme://authority", and its path with query, which begins with a slash.
// Both borrow url; nothing is allocated. For a site key, path is nil.
func Split(url []byte) (site, path []byte) {
	at := authority(url)
	slash := bytes.IndexByte(url[at:], '/')
	if slash < 0 {
		return url, nil
	}
	return url[: at+slash : at+slash], url[at+slash:]
}

// HTTPS reports whether a site key or normal form has the scheme https.
func HTTPS(site []byte) bool {
	return bytes.HasPrefix(site, []byte("https:"))
}

// Host returns the host of a site key or normal form: a name, an IPv4 address, or an IPv6 address without brackets. The
// result borrows site.
func Host(site []byte) []byte {
	host, _ := hostPort(site)
	if n := len(host); n >= 2 && host[0] == '[' && host[n-1] == ']' {
		return host[1 : n-1]
	}
	return host
}

// Port returns the port of a site key or normal form, 0 to 65535; without a port, the default of the scheme.
func Port(site []byte) int {
	_, port := hostPort(site)
	if len(port) == 0 {
		if HTTPS(site) {
			return 443
		}
		return 80
	}
	n := 0
	for _, c := range port {
		n = n*10 + int(c-'0')
	}
	return n & 0xffff
}

// authority returns the offset after "scheme://", or 0 if there is no scheme.
func authority(url []byte) int {
	switch {
	case bytes.HasPrefix(url, []byte("http://")):
		return len("http://")
	case bytes.HasPrefix(url, []byte("https://")):
		return len("https://")
	}
	if i := bytes.Index(url, []byte("://")); i >= 0 {
		return i + 3
	}
	return 0
}

// hostPort cuts the authority of a site key or normal form at the colon before its port. It keeps IPv6 brackets.
func hostPort(site []byte) (host, port []byte) {
	site, _ = Split(site)
	host = site[authority(site):]
	for i := len(host) - 1; i >= 0; i-- {
		switch c := host[i]; {
		case c == ':':
			return host[:i], host[i+1:]
		case c < '0' || c > '9':
			return host, nil
		}
	}
	return host, nil
}

// HasUserinfo reports whether a reference from a page contains a user name or password, which the normal form drops.
// For a reference without a normal form, the result may be wrong.
func HasUserinfo(ref []byte) bool {
	if len(ref) < 2 || ref[0] == '/' && !isSlash(ref[1]) {
		return false // most references within a site
	}
	at := bytes.IndexByte(ref, '@')
	if at < 0 {
		return false
	}
	for len(ref) > 0 && ref[0] <= ' ' {
		ref, at = ref[1:], at-1
	}
	if _, rest, ok := cutScheme(ref); ok {
		at -= len(ref) - len(rest)
		ref = rest
	}
	slashes := 0
	for slashes < len(ref) && (isSlash(ref[slashes]) || isTabOrNewline(ref[slashes])) {
		slashes++
	}
	return slashes >= 2 && !bytes.ContainsAny(ref[slashes:max(at, slashes)], "/\\?#")
}
