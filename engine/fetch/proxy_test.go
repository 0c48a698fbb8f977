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

func TestProxyFaults(t *testing.T) {
	target := testTarget()
	target.HTTPS = true
	for name, answer := range map[string]string{
		"refused": "HTTP/1.1 403 Forbidden\r\n\r\n", "nonsense": "hello\r\n\r\n", "silent": "",
		"endless": strings.Repeat("x", 1<<16),
	} {
		addr := serve(t, func(conn *net.TCPConn) {
			readRequest(conn)
			_, _ = io.WriteString(conn, answer)
		})
		fetchOnce(t, proxied(addr.String()), LoopbackOnly(), target, func(p *Page) {
			if p.Outcome != outcome.ProxyFault || !strings.HasPrefix(p.Err, "proxy: ") {
				t.Errorf("%s: %v %s", name, p.Outcome, p.Err)
			}
		})
	}
	fetchOnce(t, proxied("127.0.0.1:1"), LoopbackOnly(), testTarget(), func(p *Page) {
		if p.Outcome != outcome.ProxyFault {
			t.Errorf("no proxy there: %v %s", p.Outcome, p.Err)
		}
	})
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
