package fetch

import (
	"bytes"
	"iter"
	"strings"
	"testing"

	"orbweaver/internal/outcome"
)

// fields are the lines of a head, NAME: VALUE.
type fields []string

// Values implements Fields.
func (f fields) Values(name string) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for _, line := range f {
			field, value, _ := strings.Cut(line, ":")
			if strings.EqualFold(field, name) && !yield(bytes.Trim([]byte(value), " \t")) {
				return
			}
		}
	}
}

// Value implements Fields.
func (f fields) Value(name string) []byte {
	for value := range f.Values(name) {
		return value
	}
	return nil
}

// story is an answer to a request that a proxy has read.
type story struct {
	name   string
	status int
	head   fields
	want   outcome.Outcome
	way    outcome.Way
}

// none is the want of an answer that is the server's.
const none = outcome.None

func stories() []story {
	const open, refused, locked = outcome.WayOpen, outcome.WayRefused, outcome.WayLocked
	return []story{
		// What servers answer, and proxies pass on.
		{"a missing page", 404, fields{"Server: nginx"}, none, open},
		{"a server in trouble, behind a cache", 503, fields{"Via: 1.1 p (squid/5.7)", "X-Cache: MISS from p"}, none, open},
		{"a server that asks for its own password", 401, fields{"WWW-Authenticate: Basic"}, none, open},
		{"a product whose name begins like that of a proxy", 404, fields{"Server: Squidex/7"}, none, open},
		{"a product with the name of a proxy behind its own", 404, fields{"Server: nginx squid"}, none, open},
		{"a fault between two proxies of the site", 502, fields{"Proxy-Status: cdn; error=dns_error, mine"}, none, open},
		{"the same in two lines", 502, fields{"Proxy-Status: cdn; error=dns_error", "Proxy-Status: mine"}, none, open},
		{"an error in a string", 502, fields{`Proxy-Status: mine; details="a; error=dns_error"`}, none, open},
		{"an error without a value", 502, fields{"Proxy-Status: mine; error"}, none, open},

		// The proxy refuses, or is in trouble itself: no fault of the site.
		{"a password of the proxy", 407, nil, outcome.ProxyFault, locked},
		{"the same behind a redirect", 302, fields{"Proxy-Authenticate: Basic"}, outcome.ProxyFault, locked},
		{"the login of a network", 511, nil, outcome.ProxyFault, outcome.WayPortal},
		{"tinyproxy, a wrong password", 401, fields{"Server: tinyproxy/1.11.1"}, outcome.ProxyFault, locked},
		{"squid, a password", 403, fields{"X-Squid-Error: ERR_CACHE_ACCESS_DENIED 0"}, outcome.ProxyFault, locked},
		{"squid, a rule", 403, fields{"X-Squid-Error: ERR_ACCESS_DENIED 0"}, outcome.ProxyFault, refused},
		{"squid, an unknown refusal", 409, fields{"X-Squid-Error: ERR_CONFLICT_HOST"}, outcome.ProxyFault, refused},
		{"squid shuts down", 503, fields{"X-Squid-Error: ERR_SHUTTING_DOWN 0"}, outcome.ProxyFault, refused},
		{"squid has no sockets", 500, fields{"X-Squid-Error: ERR_SOCKET_FAILURE 24"}, outcome.ProxyFault, refused},
		{"squid's virus scanner fails", 500, fields{"X-Squid-Error: ERR_ICAP_FAILURE 0"}, outcome.ProxyFault, refused},
		{"squid's own proxy fails", 503, fields{"X-Squid-Error: ERR_CANNOT_FORWARD 0"}, outcome.ProxyFault, refused},
		{"a rule, by RFC 9209", 403, fields{"Proxy-Status: p; error=http_request_denied"}, outcome.ProxyFault, refused},
		{"a bug, by RFC 9209", 500, fields{"Proxy-Status: p;error=proxy_internal_error"}, outcome.ProxyFault, refused},
		{"too many connections", 503, fields{"Proxy-Status: p;error=connection_limit_reached"}, outcome.ProxyFault, refused},
		{"a proxy that is its own", 502, fields{"Proxy-Status: p; error=proxy_loop_detected"}, outcome.ProxyFault, refused},

		// The proxy says what became of its connection to the server: a fault of the site.
		{"squid, no name", 503, fields{"X-Squid-Error: ERR_DNS_FAIL 0"}, outcome.Unreachable, open},
		{"squid, no connection", 503, fields{"Server: squid"}, outcome.Unreachable, open},
		{"mitmproxy, no connection", 502, fields{"Server: mitmproxy 10.1"}, outcome.Unreachable, open},
		{"tinyproxy, no answer", 504, fields{"Server: TinyProxy/1.11.1"}, outcome.ConnectTimeout, open},
		{"squid, a lost answer", 502, fields{"X-Squid-Error: ERR_ZERO_SIZE_OBJECT\t0"}, outcome.Reset, open},
		{"squid, a bad certificate", 503, fields{"X-Squid-Error: ERR_SECURE_CONNECT_FAIL 92"}, outcome.TLSFault, open},
		{"squid, an odd field", 502, fields{"X-Squid-Error: \v\x00"}, outcome.Unreachable, open},
		{"no connection", 502, fields{"Proxy-Status: p; error=connection_refused"}, outcome.Refused, open},
		{"the last one counts", 502, fields{"Proxy-Status: p;error=a;error=connection_refused"}, outcome.Refused, open},
		{"an empty member behind it", 502, fields{"Proxy-Status: p; error=connection_refused, ,"}, outcome.Refused, open},
		{"no answer", 504, fields{"Proxy-Status: p; error=http_response_timeout"}, outcome.HeaderTimeout, open},
		{"an error that is not known", 502, fields{"Proxy-Status: p; error=x-own"}, outcome.Unreachable, open},
		{"a head that is too long", 502, fields{"Proxy-Status: p; error=http_response_header_size"}, outcome.Protocol, open},
		{"a body that is too long", 502, fields{"Proxy-Status: p; error=http_response_body_size"}, outcome.Protocol, open},
		{"a coding", 502, fields{"Proxy-Status: p; error=http_response_transfer_coding"}, outcome.Protocol, open},
		{"trailers", 502, fields{"Proxy-Status: p; error=http_response_trailer_section_size"}, outcome.Protocol, open},
	}
}

// What a proxy answers itself is told from what a server answers, and a fault of the proxy from one of the site.
func TestJudge_tellsProxiesFromServers(t *testing.T) {
	for _, s := range stories() {
		v := judgeGateway(s.head, s.status)
		if v.Outcome != s.want || v.Way != s.way || (v.Cause == "") != (s.want == none) {
			t.Errorf("%s (%d %q): %v, way %v, %q; want %v, way %v", s.name, s.status, s.head, v.Outcome, v.Way, v.Cause,
				s.want, s.way)
		}
	}
}

// An answer to CONNECT is never that of a server. If it has no sign of a proxy, its status decides.
func TestJudgeConnect_isAlwaysTheProxy(t *testing.T) {
	for _, s := range stories() {
		v := judgeConnect(s.head, s.status)
		if v.Outcome == none || s.want != none && (v.Outcome != s.want || v.Way != s.way) {
			t.Errorf("%s: %v, way %v", s.name, v.Outcome, v.Way)
		}
	}
	for status, want := range map[int]outcome.Outcome{
		302: outcome.ProxyFault, 403: outcome.ProxyFault, 404: outcome.ProxyFault, 429: outcome.ProxyFault,
		500: outcome.Unreachable, 502: outcome.Unreachable, 503: outcome.Unreachable, 504: outcome.ConnectTimeout,
	} {
		if v := judgeConnect(fields{"Server: nginx"}, status); v.Outcome != want {
			t.Errorf("%d: %v, want %v", status, v.Outcome, want)
		}
	}
}

// Without a proxy nothing but 511 is looked at: a server may send the fields of a proxy. A success is the server's.
func TestMayAnswer(t *testing.T) {
	for status := 100; status < 600; status++ {
		if got := mayGatewayAnswer(status, false); got != (status == 511) {
			t.Errorf("%d without a proxy: %v", status, got)
		}
		if got := mayGatewayAnswer(status, true); got != (status >= 300) {
			t.Errorf("%d with a proxy: %v", status, got)
		}
	}
}

// No field of a server panics what looks for an error of a proxy, or makes it one without the word.
func FuzzLastError(f *testing.F) {
	for _, text := range []string{
		"p; error=dns_error", `p; details="a\"; error=x", q`, `"`, `\`, ",,;;==", `p; error=";`, "p;error=a;error=b,",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		token := lastError(fields{"Proxy-Status:" + text})
		if token != nil && !strings.Contains(text, "error=") {
			t.Errorf("%q has the error %q", text, token)
		}
	})
}
