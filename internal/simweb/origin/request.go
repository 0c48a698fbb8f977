package origin

import (
	"bytes"
	"strings"

	"orbweaver/internal/simweb"
)

// request is what of a request's head matters here. Its slices lie in the connection's buffer.
type request struct {
	method []byte
	url    []byte // as in the request line
	host   []byte
	agent  []byte
	keep   bool // the client wants the connection kept
	gzip   bool // the client accepts gzip

	ifNoneMatch     []byte
	ifModifiedSince []byte

	body int // Content-Length of the request
}

// parseRequest reads a head that ends in an empty line; ok is false if it is no HTTP.
func parseRequest(head []byte) (q request, ok bool) {

	line, rest, _ := bytes.Cut(head, []byte("\r\n"))
	var version []byte
	q.method, line, ok = bytes.Cut(line, []byte{' '})
	if !ok {
		return q, false
	}
	q.url, version, ok = bytes.Cut(line, []byte{' '})
	if !ok || len(q.url) == 0 || !bytes.HasPrefix(version, []byte("HTTP/1.")) {
		return q, false
	}
	q.keep = string(version) == "HTTP/1.1"
	for len(rest) > 2 {
		line, rest, _ = bytes.Cut(rest, []byte("\r\n"))
		name, value, ok := bytes.Cut(line, []byte{':'})
		if !ok {
			return q, false
		}
		value = bytes.TrimSpace(value)
		switch {
		case len(name) == 4 && bytes.EqualFold(name, []byte("host")):
			q.host = value
		case len(name) == 10 && bytes.EqualFold(name, []byte("user-agent")):
			q.agent = value
		case len(name) == 10 && bytes.EqualFold(name, []byte("connection")):
			if bytes.EqualFold(value, []byte("close")) {
				q.keep = false
			}
		case len(name) == 15 && bytes.EqualFold(name, []byte("accept-encoding")):
			q.gzip = q.gzip || acceptsGzip(value)
		case len(name) == 13 && bytes.EqualFold(name, []byte("if-none-match")):
			q.ifNoneMatch = value
		case len(name) == 17 && bytes.EqualFold(name, []byte("if-modified-since")):
			q.ifModifiedSince = value
		case len(name) == 14 && bytes.EqualFold(name, []byte("content-length")):
			if q.body, ok = simweb.ParseNumber(string(value)); !ok {
				return q, false
			}
		}
	}
	return q, true
}

// acceptsGzip reads the value of an Accept-Encoding field.
func acceptsGzip(value []byte) bool {
	for len(value) > 0 {
		var one []byte
		one, value, _ = bytes.Cut(value, []byte{','})
		name, quality, _ := bytes.Cut(one, []byte{';'})
		if bytes.EqualFold(bytes.TrimSpace(name), []byte("gzip")) {
			return string(bytes.TrimSpace(quality)) != "q=0"
		}
	}
	return false
}

// address splits what is asked for into scheme, authority and path; the absolute form says it all, the origin form
// leaves the scheme to the connection and the authority to the Host field.
func (q *request) address(tls bool) (https bool, authority, path string) {
	url := string(q.url)
	if strings.HasPrefix(url, "/") {
		return tls, strings.ToLower(string(q.host)), url
	}
	if https, authority, path, ok := simweb.SplitURL(url); ok {
		return https, strings.ToLower(authority), path
	}
	return tls, strings.ToLower(string(q.host)), url
}
