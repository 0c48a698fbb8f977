package admission

import "bytes"

// CompleteSeed puts http:// before a seed that is a host without a scheme, as people write it: example.org or
// localhost:8080/page. Heritrix and wget do the same. A server that wants https redirects, and a redirect of a seed is
// followed; a server without https would not answer. It returns any other text as it is.
func CompleteSeed(raw []byte) []byte {
	raw = bytes.TrimSpace(raw)
	authority := raw
	if i := bytes.IndexAny(raw, "/?#\\"); i >= 0 {
		authority = raw[:i]
	}
	host, port, found := bytes.Cut(authority, []byte(":"))
	for _, c := range port {
		if c < '0' || c > '9' {
			return raw // a scheme
		}
	}
	if found && len(port) == 0 || !isBareHost(host) {
		return raw
	}
	return append([]byte("http://"), raw...)
}

// isBareHost reports whether a text without a scheme is meant as the name of a host.
func isBareHost(host []byte) bool {
	if string(host) == "localhost" {
		return true
	}
	dot := bytes.IndexByte(host, '.')
	return dot > 0 && dot < len(host)-1 && !bytes.ContainsAny(host, "@ \t") && !bytes.Contains(host, []byte(".."))
}
