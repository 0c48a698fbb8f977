package parsers

import (
	"crypto/tls"

	"orbweaver/engine/net/fetch"
	"orbweaver/engine/page/parse"
	"orbweaver/engine/state/attempt"
	"orbweaver/internal/httphead"
)

// appendConnection appends the header fields of a capture that say how it was transferred: a WARC-Protocol for HTTP and
// one for TLS, and the cipher suite by its IANA name. They are proposals 42 and 86 of the WARC specifications.
func (m *metadataWriter) appendConnection(dst []byte, p *fetch.Page) []byte {
	if line, _ := httphead.Split(p.Head()); len(line) > len("HTTP/1.1") {
		if v := line[len("HTTP/"):len("HTTP/1.1")]; isDigit(v[0]) && v[1] == '.' && isDigit(v[2]) {
			dst = append(append(append(dst, "WARC-Protocol: http/"...), v...), "\r\n"...)
		}
	}
	if !p.Connection.Secure {
		return dst
	}
	if v := p.Connection.TLS.Version; v >= tls.VersionTLS10 && v <= tls.VersionTLS13 {
		dst = append(append(dst, "WARC-Protocol: tls/1."...), byte('0'+v-tls.VersionTLS10), '\r', '\n')
	}
	return appendText(dst, "WARC-Cipher-Suite", m.suiteOf(p.Connection.TLS.Cipher))
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// appendPayloadType appends the header field with the media type that the payload has by its bytes. Without a declared
// type it is always there, since the index has the type from it. body is the payload
// without content encodings if the page was searched for links. Other payloads have no field if they have an encoding,
// or are chunked and too long for memory.
func appendPayloadType(dst []byte, p *fetch.Page, a *attempt.Attempt, body []byte) []byte {
	if a.Media.IsSniffed {
		return append(append(append(dst, "WARC-Identified-Payload-Type: "...), a.Media.Type...), "\r\n"...)
	}
	if len(body) == 0 && len(p.Head().Value("content-encoding")) == 0 {
		switch _, rest := p.Rest(); {
		case rest == 0:
			body = p.Payload()
		case len(p.Head().Value("transfer-encoding")) == 0:
			body = p.Body()
		}
	}
	if len(body) == 0 || p.PayloadLen == 0 || !p.HasHead() {
		return dst
	}
	declared := p.Head().DeclaredType()
	field := append(dst, "WARC-Identified-Payload-Type: "...)
	value := len(field)
	field = parse.AppendMediaType(field, body, declared)
	if parse.IsCharsetInHeaderOnly(field[value:], body, declared) {
		return dst
	}
	return append(field, "\r\n"...)
}
