package fetch

import (
	"crypto/tls"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"orbweaver/internal/outcome"
)

func proxied(addr string) Options {
	o := testOptions()
	o.Proxy = &Proxy{URL: "http://" + addr}
	return o
}

func TestProxyPlain(t *testing.T) {
	requests := make(chan string, 2)
	addr := serve(t, func(conn *net.TCPConn) {
		requests <- readRequest(conn)
		_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi")
	})
	fetchOnce(t, proxied("user:secret@"+addr.String()), LoopbackOnly(), testTarget(), func(p *Page) {
		request := <-requests
		if p.Outcome != outcome.OK || p.Connection.Remote != addr {
			t.Errorf("%v %s, remote %v", p.Outcome, p.Err, p.Connection.Remote)
		}
		if !strings.HasPrefix(
			request,
			"GET http://a.example/x?y=1 HTTP/1.1\r\nProxy-Authorization: Basic dXNlcjpzZWNyZXQ=\r\nHost: a.example\r\n",
		) {
			t.Errorf("request %q", request)
		}
		if strings.Contains(string(p.Request), "Proxy-") ||
			!strings.HasPrefix(string(p.Request), "GET http://a.example/x?y=1 HTTP/1.1\r\nHost: a.example\r\n") {
			t.Errorf("kept request %q", p.Request)
		}
	})
}

func TestProxyTunnel(t *testing.T) {
	ca := newAuthority(t)
	config := &tls.Config{Certificates: []tls.Certificate{ca.issue(t, time.Hour, "a.example")}}
	requests := make(chan string, 2)
	addr := serve(t, func(conn *net.TCPConn) {
		requests <- readRequest(conn)
		_, _ = io.WriteString(conn, "HTTP/1.1 200 Connection established\r\n\r\n")
		secure := tls.Server(conn, config)
		requests <- readRequest(secure)
		_, _ = io.WriteString(secure, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi")
		_ = secure.Close()
	})
	o := proxied(addr.String())
	o.RootCAs = ca.pool()
	target := testTarget()
	target.HTTPS, target.URL = true, []byte("https://a.example/x")
	fetchOnce(t, o, LoopbackOnly(), target, func(p *Page) {
		if p.Outcome != outcome.OK || !p.Connection.Secure || p.Connection.TLS.Fault != "" {
			t.Errorf("%v %s %+v", p.Outcome, p.Err, p.Connection.TLS)
		}
		if connect := <-requests; !strings.HasPrefix(
			connect,
			"CONNECT a.example:443 HTTP/1.1\r\nHost: a.example:443\r\n",
		) {
			t.Errorf("%q", connect)
		}
		if inner := <-requests; inner != string(p.Request) || !strings.HasPrefix(inner, "GET /x HTTP/1.1\r\n") {
			t.Errorf("%q, kept %q", inner, p.Request)
		}
	})
}

// What a proxy answers to CONNECT is never the server's: it refuses the connection, or says why it has none.
func TestProxy_anAnswerToCONNECTIsOfTheProxy(t *testing.T) {
	target := testTarget()
	target.HTTPS = true
	const squid = "\r\nServer: squid/5.7\r\nX-Squid-Error: "
	for name, c := range map[string]struct {
		answer string
		want   outcome.Outcome
		way    outcome.Way
	}{
		"refused": {"HTTP/1.1 403 Forbidden\r\n\r\n", outcome.ProxyFault, outcome.WayRefused},
		"quota":   {"HTTP/1.1 429 Too Many Requests\r\n\r\n", outcome.ProxyFault, outcome.WayRefused},
		"login page": {
			"HTTP/1.1 302 Found\r\nLocation: http://login.test/\r\n\r\n", outcome.ProxyFault, outcome.WayRefused,
		},
		"password":    {"HTTP/1.1 407 Proxy Authentication Required\r\n\r\n", outcome.ProxyFault, outcome.WayLocked},
		"network":     {"HTTP/1.1 511 Network Authentication Required\r\n\r\n", outcome.ProxyFault, outcome.WayPortal},
		"bad gateway": {"HTTP/1.1 502 Bad Gateway\r\n\r\n", outcome.Unreachable, outcome.WayOpen},
		"unavailable": {"HTTP/1.1 503 No\r\n\r\n", outcome.Unreachable, outcome.WayOpen},
		"line ends":   {"\xef\xbb\xbfHTTP 502 Bad Gateway\n\r\n", outcome.Unreachable, outcome.WayOpen},
		"time-out":    {"HTTP/1.1 504 No\r\n\r\n", outcome.ConnectTimeout, outcome.WayOpen},
		"squid, name": {"HTTP/1.1 503 No" + squid + "ERR_DNS_FAIL 0\r\n\r\n", outcome.Unreachable, outcome.WayOpen},
		"squid, rule": {
			"HTTP/1.1 503 No" + squid + "ERR_ACCESS_DENIED 0\r\n\r\n", outcome.ProxyFault, outcome.WayRefused,
		},
		"Proxy-Status": {
			"HTTP/1.1 502 No\r\nProxy-Status: p; error=connection_refused\r\n\r\n", outcome.Refused, outcome.WayOpen,
		},
		"squid, certificate": {
			"HTTP/1.1 503 No" + squid + "ERR_SECURE_CONNECT_FAIL 92\r\n\r\n", outcome.TLSFault, outcome.WayOpen,
		},
		"nonsense": {"hello\r\n\r\n", outcome.ProxyFault, outcome.WayDown},
		"closed":   {"", outcome.ProxyFault, outcome.WayRefused},
		"endless":  {strings.Repeat("x", 1<<16), outcome.ProxyFault, outcome.WayDown},
	} {
		addr := serve(t, func(conn *net.TCPConn) {
			readRequest(conn)
			_, _ = io.WriteString(conn, c.answer)
		})
		fetchOnce(t, proxied(addr.String()), LoopbackOnly(), target, func(p *Page) {
			if p.Outcome != c.want || p.Connection.Way != c.way || !strings.HasPrefix(p.Err, "proxy: ") &&
				!strings.HasPrefix(p.Err, "gateway: ") {
				t.Errorf("%s: %v, way %d: %s", name, p.Outcome, p.Connection.Way, p.Err)
			}
		})
	}
	fetchOnce(t, proxied("127.0.0.1:1"), LoopbackOnly(), testTarget(), func(p *Page) {
		if p.Outcome != outcome.ProxyFault || p.Connection.Way != outcome.WayDown || !strings.HasPrefix(p.Err, "proxy: ") {
			t.Errorf("no proxy there: %v %s", p.Outcome, p.Err)
		}
	})
}

// Of the answers to plain requests, those that a proxy made itself are told from those that it passed on. Nothing of
// them is kept for the archive.
func TestProxy_anAnswerOfItsOwnIsNotTheServers(t *testing.T) {
	const length = "\r\nContent-Length: 4\r\n\r\nbody"
	for name, c := range map[string]struct {
		head string
		want outcome.Outcome
		way  outcome.Way
	}{
		"password": {"407 Proxy Authentication Required", outcome.ProxyFault, outcome.WayLocked},
		"a name that is wanted with another status": {
			"403 No\r\nProxy-Authenticate: Negotiate", outcome.ProxyFault, outcome.WayLocked,
		},
		"network": {"511 Network Authentication Required", outcome.ProxyFault, outcome.WayPortal},
		"squid, rule": {
			"403 Forbidden\r\nServer: squid/5.7\r\nX-Squid-Error: ERR_ACCESS_DENIED 0\r\nVia: 1.1 p (squid/5.7)",
			outcome.ProxyFault, outcome.WayRefused,
		},
		"squid, login page": {
			"302 Found\r\nServer: squid/5.7\r\nLocation: http://login.test/\r\nX-Squid-Error: 302 Access Denied",
			outcome.ProxyFault, outcome.WayRefused,
		},
		"squid, no server": {
			"503 No\r\nServer: squid/5.7\r\nX-Squid-Error: ERR_CONNECT_FAIL 111", outcome.Unreachable, outcome.WayOpen,
		},
		"squid without its field": {"403 Forbidden\r\nServer: squid", outcome.ProxyFault, outcome.WayRefused},
		"tinyproxy, password":     {"401 Unauthorized\r\nServer: tinyproxy/1.11.1", outcome.ProxyFault, outcome.WayLocked},
		"tinyproxy, filter":       {"403 Filtered\r\nServer: tinyproxy/1.11.1", outcome.ProxyFault, outcome.WayRefused},
		"tinyproxy, no server":    {"500 No\r\nServer: tinyproxy/1.11.1", outcome.Unreachable, outcome.WayOpen},
		"Proxy-Status": {
			"504 No" + "\r\nProxy-Status: cdn; received-status=200, \"a,b;error=x\"; error=http_response_timeout;" +
				" details=\"a, b\"",
			outcome.HeaderTimeout, outcome.WayOpen,
		},
		"Proxy-Status, rule": {
			"403 No\r\nProxy-Status: p;error=http_request_denied", outcome.ProxyFault, outcome.WayRefused,
		},
		"Proxy-Status of a proxy of the site": {
			"502 No\r\nProxy-Status: cdn; error=connection_refused, mine; received-status=502",
			outcome.Unavailable, outcome.WayOpen,
		},
		"passed on": {
			"403 Forbidden\r\nServer: nginx\r\nVia: 1.1 p (squid/5.7)\r\nX-Cache: MISS from p",
			outcome.ClientError, outcome.WayOpen,
		},
		"a page":                  {"200 OK\r\nServer: squid/5.7", outcome.OK, outcome.WayOpen},
		"a redirect that is real": {"302 Found\r\nLocation: http://b.test/", outcome.Redirect, outcome.WayOpen},
	} {
		response := "HTTP/1.1 " + c.head + length
		addr := serve(t, func(conn *net.TCPConn) {
			readRequest(conn)
			_, _ = io.WriteString(conn, response)
		})
		fetchOnce(t, proxied(addr.String()), LoopbackOnly(), testTarget(), func(p *Page) {
			if p.Outcome != c.want || p.Connection.Way != c.way {
				t.Errorf("%s: %v, way %d: %s", name, p.Outcome, p.Connection.Way, p.Err)
			}
			if own := strings.Contains(p.Err, "proxy: ") || strings.Contains(p.Err, "gateway: "); own == p.HasHead() ||
				own && len(p.Raw)+p.Status > 0 {
				t.Errorf("%s: kept %q with the status %d", name, p.Raw, p.Status)
			}
		})
	}
}

// Without a proxy, 511 is of the network, and 407 is of the server.
func TestFetch_511IsOfTheNetwork(t *testing.T) {
	for status, want := range map[string]outcome.Outcome{"511": outcome.ProxyFault, "407": outcome.ClientError} {
		response := "HTTP/1.1 " + status + " No\r\nContent-Length: 0\r\n\r\n"
		fetchOnce(t, testOptions(), answer(response, 0), testTarget(), func(p *Page) {
			if p.Outcome != want || p.HasHead() != (status == "407") {
				t.Errorf("%s: %v", status, p.Outcome)
			}
		})
	}
}

func TestOptionsValidate(t *testing.T) {
	good := testOptions().WithDefaults()
	if err := good.Validate(); err != nil {
		t.Error(err)
	}
	for name, spoil := range map[string]func(*Options){
		"no agent":       func(o *Options) { o.UserAgent = " " },
		"line in agent":  func(o *Options) { o.UserAgent = "a\r\nX: y" },
		"body":           func(o *Options) { o.BodyMax = -1 },
		"header":         func(o *Options) { o.HeaderMax = 10 },
		"line":           func(o *Options) { o.HeaderLineMax = o.HeaderMax + 1 },
		"time":           func(o *Options) { o.DialTimeout = -time.Second },
		"proxy name":     func(o *Options) { o.Proxy = &Proxy{URL: "http://proxy.example:3128"} },
		"proxy scheme":   func(o *Options) { o.Proxy = &Proxy{URL: "socks5://127.0.0.1:1080"} },
		"proxy nonsense": func(o *Options) { o.Proxy = &Proxy{URL: "://"} },
	} {
		o := good
		spoil(&o)
		if err := o.Validate(); err == nil {
			t.Errorf("%s: no fault found", name)
		}
	}
}
