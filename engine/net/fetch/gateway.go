package fetch

import (
	"bytes"
	"iter"
	"strconv"
	"strings"

	"orbweaver/internal/outcome"
)

const (
	statusProxyLogin   = 407 // RFC 9110, section 15.5.8
	statusNetworkLogin = 511 // RFC 6585, section 6
)

// gatewayFields are the fields of a response.
type gatewayFields interface {
	Value(name string) []byte
	Values(name string) iter.Seq[[]byte]
}

// gatewayVerdict is what an answer of a gateway means.
type gatewayVerdict struct {
	Outcome outcome.Outcome // None if the answer is the server's
	Way     outcome.Way     // WayOpen if the proxy says what became of the connection to the server
	Cause   string          // for the log
}

// mayGatewayAnswer reports whether a response with a status may be that of a gateway. isProxied says that a proxy read
// the request and could answer it. Without a proxy, only 511 is an answer of the network.
func mayGatewayAnswer(status int, isProxied bool) bool {
	return isProxied && status >= 300 || status == statusNetworkLogin
}

// judgeGateway returns what a response means that may be that of a gateway.
func judgeGateway(head gatewayFields, status int) gatewayVerdict {
	if status == statusNetworkLogin || status == statusProxyLogin {
		return verdictOfStatus(status)
	}
	return verdictOfHead(head, status)
}

// verdictOfHead returns what a response means that a proxy made itself. A proxy says so in Proxy-Status (RFC 9209), or
// in fields of its own; it passes the fields of a server on as they are.
func verdictOfHead(head gatewayFields, status int) gatewayVerdict {
	if v := verdictOfToken(lastError(head), status); v.Outcome != outcome.None {
		return v
	}
	if code := head.Value("x-squid-error"); len(code) > 0 {
		if v := verdictOfToken(firstWord(code, " \t"), status); v.Outcome != outcome.None {
			return v
		}
		return verdictOfStatus(status)
	}
	if len(head.Value("proxy-authenticate")) > 0 {
		return verdictOfStatus(statusProxyLogin)
	}
	if isProxy(head.Value("server")) {
		return verdictOfStatus(status)
	}
	return gatewayVerdict{}
}

// firstWord returns what is before the first of some separators.
func firstWord(b []byte, separators string) []byte {
	if end := bytes.IndexAny(b, separators); end >= 0 {
		return b[:end]
	}
	return b
}

// isProxy reports whether the first product of a Server field is a proxy that passes the Server of others on.
func isProxy(server []byte) bool {
	product := firstWord(server, "/ \t(")
	for _, name := range [...]string{"squid", "tinyproxy", "mitmproxy"} {
		if strings.EqualFold(string(product), name) {
			return true
		}
	}
	return false
}

// verdictOfStatus returns what a response of a proxy means that names no cause.
func verdictOfStatus(status int) gatewayVerdict {
	number := strconv.Itoa(status)
	switch status {
	case statusProxyLogin, 401: // tinyproxy sends 401 for a wrong password
		return gatewayVerdict{outcome.ProxyFault, outcome.WayLocked, "proxy: " + number + ", it asks for credentials"}
	case statusNetworkLogin:
		return gatewayVerdict{outcome.ProxyFault, outcome.WayPortal, "gateway: 511, the network asks for a login"}
	case 500, 502, 503:
		return gatewayVerdict{outcome.Unreachable, outcome.WayOpen, "proxy: " + number + ", no connection to the server"}
	case 504:
		return gatewayVerdict{outcome.ConnectTimeout, outcome.WayOpen, "proxy: 504, no answer of the server in time"}
	default:
		return gatewayVerdict{outcome.ProxyFault, outcome.WayRefused, "proxy: " + number + ", it refuses the request"}
	}
}

// verdictOfToken returns what the error of a Proxy-Status field or of squid means. It is empty for no error, and by
// status for an unknown one.
func verdictOfToken(token []byte, status int) gatewayVerdict {
	var o outcome.Outcome
	switch string(token) {
	case "":
		return gatewayVerdict{}
	case "dns_error", "destination_not_found", "destination_unavailable", "destination_ip_unroutable",
		"ERR_DNS_FAIL", "ERR_CONNECT_FAIL":
		o = outcome.Unreachable
	case "connection_refused":
		o = outcome.Refused
	case "dns_timeout", "connection_timeout":
		o = outcome.ConnectTimeout
	case "http_response_timeout", "connection_read_timeout", "connection_write_timeout", "ERR_READ_TIMEOUT",
		"ERR_LIFETIME_EXP":
		o = outcome.HeaderTimeout
	case "connection_terminated", "http_response_incomplete",
		"ERR_ZERO_SIZE_OBJECT", "ERR_READ_ERROR", "ERR_WRITE_ERROR":
		o = outcome.Reset
	case "tls_protocol_error", "tls_certificate_error", "tls_alert_received", "ERR_SECURE_CONNECT_FAIL":
		o = outcome.TLSFault
	case "http_protocol_error", "http_response_header_section_size", "http_response_header_size",
		"http_response_body_size", "http_response_trailer_section_size", "http_response_trailer_size",
		"http_response_transfer_coding", "http_response_content_coding", "ERR_INVALID_RESP":
		o = outcome.Protocol
	case "http_request_denied", "http_request_error", "destination_ip_prohibited", "connection_limit_reached",
		"proxy_internal_response", "proxy_internal_error", "proxy_configuration_error", "proxy_loop_detected",
		"ERR_ACCESS_DENIED", "ERR_SHUTTING_DOWN", "ERR_SOCKET_FAILURE", "ERR_ICAP_FAILURE",
		"ERR_CANNOT_FORWARD": // squid may ask other proxies only, and none of them answers
		return gatewayVerdict{outcome.ProxyFault, outcome.WayRefused, "proxy: it does not send the request: " + string(token)}
	case "ERR_CACHE_ACCESS_DENIED":
		return verdictOfStatus(statusProxyLogin)
	default:
		return verdictOfStatus(status)
	}
	return gatewayVerdict{o, outcome.WayOpen, "proxy: " + string(token)}
}

// lastError returns the error of the last member of Proxy-Status, which is that of the nearest proxy; nil if it has
// none. Members of proxies on the side of the server come before it.
func lastError(head gatewayFields) (token []byte) {
	for value := range head.Values("proxy-status") {
		for len(value) > 0 {
			var member []byte
			if member, value = cutUnquoted(value, ','); len(bytes.TrimSpace(member)) == 0 {
				continue
			}
			token = nil
			for len(member) > 0 {
				var param []byte
				param, member = cutUnquoted(member, ';')
				if name, text, ok := bytes.Cut(bytes.TrimSpace(param), []byte{'='}); ok && string(name) == "error" {
					token = bytes.TrimSpace(text)
				}
			}
		}
	}
	return token
}

// cutUnquoted cuts b at the first separator that is not in a quoted string.
func cutUnquoted(b []byte, separator byte) (before, after []byte) {
	quoted := false
	for i := 0; i < len(b); i++ {
		switch {
		case quoted && b[i] == '\\':
			i++
		case b[i] == '"':
			quoted = !quoted
		case !quoted && b[i] == separator:
			return b[:i], b[i+1:]
		}
	}
	return b, nil
}

// judgeConnect returns what a refused CONNECT means. Only the proxy can have answered it.
func judgeConnect(head gatewayFields, status int) gatewayVerdict {
	if v := verdictOfHead(head, status); v.Outcome != outcome.None {
		return v
	}
	return verdictOfStatus(status)
}
