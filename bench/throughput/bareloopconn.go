package throughput

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"
)

// loopTimeout is how long an exchange of the bare loop may take.
const loopTimeout = 10 * time.Second

// connect connects to the proxy; for https through a tunnel and inside TLS.
func (l *bareLoop) connect(ctx context.Context, url string) (net.Conn, error) {
	c, err := l.dialer.DialContext(ctx, "tcp", l.proxy)
	if err != nil {
		return nil, err
	}
	scheme, host, _ := split(url)
	if scheme != "https" {
		return c, nil
	}
	_ = c.SetDeadline(time.Now().Add(loopTimeout)) // a connection that takes none fails when it is used
	if err := tunnel(c, host); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	config := &tls.Config{ServerName: host, RootCAs: l.roots, MinVersion: tls.VersionTLS12,
		CurvePreferences: []tls.CurveID{tls.X25519}}
	return &secured{Conn: tls.Client(c, config), below: c}, nil
}

// split takes a URL apart.
func split(url string) (scheme, host, path string) {
	scheme, authority, _ := strings.Cut(url, "://")
	host, path, _ = strings.Cut(authority, "/")
	return scheme, host, "/" + path
}

// request sends a request for a URL to the proxy, or inside TLS to the site.
func request(conn net.Conn, url string, keepAlive bool) error {
	scheme, host, path := split(url)
	if scheme == "https" {
		url = path
	}
	end := "\r\nConnection: close\r\n\r\n"
	if keepAlive {
		end = "\r\n\r\n"
	}
	_ = conn.SetDeadline(time.Now().Add(loopTimeout)) // a connection that takes none fails when it is used
	_, err := conn.Write([]byte("GET " + url + " HTTP/1.1\r\nHost: " + host + "\r\nUser-Agent: " +
		"orbweaver-bare\r\nAccept-Encoding: gzip" + end))
	return err
}

// secured is a TLS connection that is closed without close_notify, as in a crawl: the response is complete.
type secured struct {
	net.Conn
	below net.Conn
}

// Close closes what is below.
func (s *secured) Close() error { return s.below.Close() }

// tunnel asks the proxy for a connection to a host.
func tunnel(c net.Conn, host string) error {
	if _, err := c.Write([]byte("CONNECT " + host + ":443 HTTP/1.1\r\nHost: " + host + ":443\r\n\r\n")); err != nil {
		return err
	}
	var answer [256]byte // the proxy waits for us before it says more
	for n := 0; ; {
		k, err := c.Read(answer[n:])
		n += k
		switch {
		case bytes.HasSuffix(answer[:n], []byte("\r\n\r\n")):
			if !bytes.HasPrefix(answer[:n], []byte("HTTP/1.1 200 ")) {
				return fmt.Errorf("throughput: the proxy responds %q", answer[:n])
			}
			return nil
		case err != nil:
			return err
		}
	}
}
