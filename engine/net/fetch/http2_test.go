package fetch

import (
	"bytes"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"orbweaver/internal/outcome"
	"orbweaver/internal/sha1pair"
)

// pageServer is net/http's server with TLS. It speaks HTTP/2 with a client that offers it.
func pageServer(t *testing.T, serve http.HandlerFunc) *Target {
	t.Helper()
	server := httptest.NewUnstartedServer(serve)
	server.TLS = &tls.Config{Certificates: []tls.Certificate{newAuthority(t).issue(t, time.Hour, "a.example")}}
	server.EnableHTTP2 = true
	server.StartTLS()
	t.Cleanup(server.Close)
	target := targetAt(server.Listener.Addr().(*net.TCPAddr).AddrPort())
	target.HTTPS = true
	return target
}

// servePages answers with bodies of several kinds.
func servePages(w http.ResponseWriter, r *http.Request) {
	body := []byte(strings.Repeat("many bytes ", 60_000))
	w.Header().Set("Content-Type", "text/html")
	w.Header()["Set-Cookie"] = []string{"a=b", "c=d"}
	switch r.URL.Path {
	case "/declared":
		w.Header().Set("Content-Length", fmt.Sprint(len(body)))
	case "/trailer":
		w.Header().Set("Trailer", "X-Sum")
		defer w.Header().Set("X-Sum", "1")
	case "/hints":
		w.Header().Set("Link", "</a.css>; rel=preload")
		w.WriteHeader(http.StatusEarlyHints)
	case "/empty":
		w.WriteHeader(http.StatusNoContent)
		return
	case "/not-found":
		w.WriteHeader(http.StatusNotFound)
		body = body[:11]
	case "/large":
		body = bytes.Repeat(body, 3)
	case "/told":
		body = fmt.Appendf(nil, "%s %s %s %s %s|%s|%s|%s", r.Method, r.Host, r.RequestURI, r.Proto, r.Header["Connection"],
			r.UserAgent(), r.Header.Get("Cookie"), r.Header.Get("Authorization"))
	case "/cut":
		_, _ = w.Write(body[:1000])
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	}
	_, _ = w.Write(body)
}

// The same pages have the same digests and outcomes over HTTP/1.1 and HTTP/2, on new connections and on a kept one.
func TestHTTP2GivesTheSamePages(t *testing.T) {
	target := pageServer(t, servePages)
	keep := NewIdleConns(time.Minute, 8)
	defer keep.Close()
	plain, kept := testOptions(), testOptions()
	plain.BodyMax, kept.BodyMax = 8<<20, 8<<20
	multiplexed := plain
	multiplexed.HTTP2, kept.HTTP2, kept.Keep = true, true, keep
	for _, path := range []string{
		"/declared", "/stream", "/trailer", "/hints", "/empty", "/not-found", "/large", "/cut", "/after",
	} {
		target.URL = []byte("https://a.example" + path)
		var want Page
		fetchOnce(t, plain, LoopbackOnly(), target, func(p *Page) {
			p.Sum(sha1pair.NewHasher())
			want = Page{
				Outcome: p.Outcome, Status: p.Status, Complete: p.Complete, Truncation: p.Truncation, Digest: p.Digest,
				PayloadLen: p.PayloadLen,
			}
			if p.Connection.TLS.HTTP2 || !bytes.HasPrefix(p.Request, []byte("GET "+path+" HTTP/1.1\r\nHost: ")) {
				t.Errorf("without the option: %q", p.Request)
			}
		})
		for _, o := range []Options{multiplexed, kept} {
			fetchOnce(t, o, LoopbackOnly(), target, func(p *Page) {
				p.Sum(sha1pair.NewHasher())
				if p.Outcome != want.Outcome || p.Status != want.Status || p.Complete != want.Complete ||
					p.Truncation != want.Truncation || p.Digest != want.Digest || p.PayloadLen != want.PayloadLen {
					t.Errorf("%s: %v %s %d bytes, wanted %v with %d", path, p.Outcome, p.Err, p.PayloadLen, want.Outcome,
						want.PayloadLen)
				}
				head := string(p.Head())
				if !p.Connection.TLS.HTTP2 || !strings.HasPrefix(head, "HTTP/1.1 ") || strings.Contains(head, ":status") ||
					!strings.Contains(head, "\r\nset-cookie: a=b\r\nset-cookie: c=d\r\n") {
					t.Errorf("%s: %q", path, head)
				}
				if !bytes.HasPrefix(p.Request, []byte("GET "+path+" HTTP/1.1\r\nhost: a.example")) ||
					bytes.Contains(p.Request, []byte("onnection")) {
					t.Errorf("%q", p.Request)
				}
			})
		}
	}
	if stats := keep.Stats(); stats.Reused < 7 || stats.Stale > 0 {
		t.Errorf("%+v", stats)
	}
}

// The server reads what the record says, and the credentials that it does not have.
func TestHTTP2SendsTheRequest(t *testing.T) {
	target := pageServer(t, servePages)
	target.URL = []byte("https://a.example/told?q=1")
	target.Cookie, target.Authorization = []byte("a=b; c=d"), []byte("Authorization: Basic eDp5\r\n")
	o := testOptions()
	o.HTTP2 = true
	fetchOnce(t, o, LoopbackOnly(), target, func(p *Page) {
		want := "GET a.example /told?q=1 HTTP/2.0 []|" + o.UserAgent + "|a=b; c=d|Basic eDp5"
		if string(p.Payload()) != want {
			t.Errorf("%q, wanted %q", p.Payload(), want)
		}
		if bytes.Contains(p.Request, []byte("uthorization")) ||
			!bytes.Contains(p.Request, []byte("\r\ncookie: a=b; c=d\r\n")) {
			t.Errorf("%q", p.Request)
		}
	})
	target.Cookie = []byte(strings.Repeat("long=cookie; ", 3000)) // more than a frame holds
	fetchOnce(t, o, LoopbackOnly(), target, func(p *Page) {
		if p.Outcome != outcome.OK || !bytes.Contains(p.Payload(), bytes.TrimRight(target.Cookie, "; ")) {
			t.Errorf("%v %s, %d bytes", p.Outcome, p.Err, len(p.Payload()))
		}
	})
}

// A request without HTTP/2 does not use a connection that was kept over HTTP/2. Its own, which is kept as well, is not
// used for requests that may have HTTP/2.
func TestHTTP2HasConnectionsOfItsOwn(t *testing.T) {
	target := pageServer(t, servePages)
	target.URL = []byte("https://a.example/declared")
	o := testOptions()
	o.HTTP2, o.Keep = true, NewIdleConns(time.Minute, 8)
	defer o.Keep.Close()
	for i, isHTTP1 := range []bool{false, true, false, true} {
		target.HTTP1 = isHTTP1
		fetchOnce(t, o, LoopbackOnly(), target, func(p *Page) {
			if p.Outcome != outcome.OK || p.Connection.TLS.HTTP2 == isHTTP1 {
				t.Errorf("request %d: %v %s, HTTP/2 %v", i, p.Outcome, p.Err, p.Connection.TLS.HTTP2)
			}
		})
	}
	if stats := o.Keep.Stats(); stats.Reused != 2 || stats.Held != 2 {
		t.Errorf("%+v", stats)
	}
}

// A server without HTTP/2 is asked over HTTP/1.1.
func TestHTTP2IsOffered(t *testing.T) {
	o := testOptions()
	o.HTTP2 = true
	cert := newAuthority(t).issue(t, time.Hour, "a.example")
	for _, protocols := range [][]string{nil, {"http/1.1"}} {
		target := serveTLS(t, &tls.Config{Certificates: []tls.Certificate{cert}, NextProtos: protocols})
		fetchOnce(t, o, LoopbackOnly(), target, func(p *Page) {
			if p.Outcome != outcome.OK || p.Connection.TLS.HTTP2 || !bytes.Contains(p.Request, []byte("\r\nHost: ")) {
				t.Errorf("%v: %v %s %q", protocols, p.Outcome, p.Err, p.Request)
			}
		})
	}
	target := serveTLS(t, &tls.Config{Certificates: []tls.Certificate{cert}, NextProtos: []string{"h2"}})
	fetchOnce(t, o, LoopbackOnly(), target, func(p *Page) {
		if p.Outcome != outcome.Protocol || p.Err != "h2: the server does not speak it" {
			t.Errorf("%v %s", p.Outcome, p.Err)
		}
	})
}
