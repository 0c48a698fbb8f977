package fetch

import (
	"bytes"
	"encoding/base64"
	"strings"
)

// manners is the part of a request that is the same for all: every header but Host, and the empty line.
func manners(o *Options, keeps bool) []byte {
	var b []byte
	add := func(name, value string) {
		if value != "" {
			b = append(append(append(append(b, name...), ": "...), value...), "\r\n"...)
		}
	}
	add("User-Agent", o.UserAgent)
	if mail := strings.TrimPrefix(o.Contact, "mailto:"); strings.Contains(mail, "@") && !strings.Contains(mail, "/") {
		add("From", mail)
	}
	accepts := true
	for _, line := range o.Headers {
		name, value, _ := cutHeaderLine(line)
		add(name, value)
		accepts = accepts && !strings.EqualFold(name, "accept")
	}
	if accepts {
		add("Accept", o.Accept)
	}
	add("Accept-Encoding", o.AcceptEncoding)
	if !keeps {
		add("Connection", "close")
	}
	return append(b, "\r\n"...)
}

// appendRequest appends the request for t. With whole, the target is the whole URL, as a proxy wants it for http.
func appendRequest(dst []byte, t *Target, whole bool, manners []byte) []byte {
	dst = append(dst, "GET "...)
	if whole {
		dst = appendVisible(dst, t.URL)
	} else {
		path := requestTarget(t.URL)
		if len(path) == 0 || path[0] != '/' {
			dst = append(dst, '/')
		}
		dst = appendVisible(dst, path)
	}
	dst = append(dst, " HTTP/1.1\r\nHost: "...)
	dst = appendVisible(dst, t.Host)
	dst = append(dst, "\r\n"...)
	dst = appendField(dst, "Cookie: ", t.Cookie)
	dst = appendField(dst, "If-None-Match: ", t.IfNoneMatch)
	dst = appendField(dst, "If-Modified-Since: ", t.IfModifiedSince)
	if t.UserAgent != "" {
		dst = append(append(append(dst, userAgentName...), t.UserAgent...), "\r\n"...)
		manners = manners[bytes.IndexByte(manners, '\n')+1:] // their first line
	}
	return append(dst, manners...)
}

const userAgentName = "User-Agent: "

// appendField appends a line of the head, unless there is nothing to say.
func appendField(dst []byte, name string, value []byte) []byte {
	if len(value) == 0 {
		return dst
	}
	return append(append(append(dst, name...), value...), "\r\n"...)
}

// requestTarget returns what follows the authority of a URL, without a fragment.
func requestTarget(url []byte) []byte {
	if i := bytes.Index(url, []byte("://")); i >= 0 {
		url = url[i+3:]
		if i = bytes.IndexAny(url, "/?#"); i < 0 {
			return nil
		}
		url = url[i:]
	}
	if i := bytes.IndexByte(url, '#'); i >= 0 {
		url = url[:i]
	}
	return url
}

// appendVisible appends b with everything percent-encoded that would end a word or a line of the request. A normal form
// has nothing of the kind; if it ever does, the request must not become two.
func appendVisible(dst, b []byte) []byte {
	const hex = "0123456789ABCDEF"
	for {
		i := 0
		for i < len(b) && b[i] > ' ' && b[i] != 0x7f {
			i++
		}
		dst = append(dst, b[:i]...)
		if i == len(b) {
			return dst
		}
		dst = append(dst, '%', hex[b[i]>>4], hex[b[i]&15])
		b = b[i+1:]
	}
}

// proxyAuthorization returns the header line for a proxy's credentials, or nil.
func (r *proxyRoute) proxyAuthorization() []byte {
	if r.user == nil {
		return nil
	}
	password, _ := r.user.Password()
	secret := base64.StdEncoding.EncodeToString([]byte(r.user.Username() + ":" + password))
	return []byte("Proxy-Authorization: Basic " + secret + "\r\n")
}

// withCredentials returns request with the line of credentials after its first line, in new memory.
func withCredentials(request, line []byte) []byte {
	at := bytes.IndexByte(request, '\n') + 1
	out := make([]byte, 0, len(request)+len(line))
	out = append(out, request[:at]...)
	out = append(out, line...)
	return append(out, request[at:]...)
}

// appendConnect appends the request for a tunnel to the host of t.
func appendConnect(dst []byte, t *Target, userAgent string, credentials []byte) []byte {
	dst = append(dst, "CONNECT "...)
	dst = appendAuthority(dst, t.Host)
	dst = append(dst, " HTTP/1.1\r\nHost: "...)
	dst = appendAuthority(dst, t.Host)
	dst = append(dst, "\r\nUser-Agent: "...)
	dst = append(dst, userAgent...)
	dst = append(dst, "\r\n"...)
	dst = append(dst, credentials...)
	return append(dst, "\r\n"...)
}

// appendAuthority appends host with its port, 443 if it has none.
func appendAuthority(dst, host []byte) []byte {
	dst = appendVisible(dst, host)
	if colon := bytes.LastIndexByte(host, ':'); colon < 0 || colon < bytes.LastIndexByte(host, ']') {
		dst = append(dst, ":443"...)
	}
	return dst
}
