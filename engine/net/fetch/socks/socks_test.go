package socks

import (
	"bytes"
	"errors"
	"net/netip"
	"syscall"
	"testing"
)

// proxy replies with fixed bytes and keeps what it was sent.
type proxy struct {
	reply *bytes.Reader
	sent  bytes.Buffer
}

func (p *proxy) Read(b []byte) (int, error) { return p.reply.Read(b) }

func (p *proxy) Write(b []byte) (int, error) { return p.sent.Write(b) }

// ok4 is the reply of a proxy that is connected, with an IPv4 address of its own.
const ok4 = "\x05\x00\x00\x01\x7f\x00\x00\x01\x04\x38"

var server = netip.MustParseAddrPort("192.0.2.1:80")

func request(user Proxy, reply string, addr netip.AddrPort) (sent string, left int, err error) {
	p := &proxy{reply: bytes.NewReader([]byte(reply))}
	err = user.Request(p, addr)
	return p.sent.String(), p.reply.Len(), err
}

// What is sent is what RFC 1928 and RFC 1929 say, and the reply is read to its last byte: the server's follow.
func TestRequest_sendsWhatTheStandardSays(t *testing.T) {
	long := "\x05\x00\x00\x03\x03abc\x04\x38"
	for name, c := range map[string]struct {
		user        Proxy
		addr        string
		reply, want string
	}{
		"no password": {Proxy{}, "192.0.2.1:80", "\x05\x00" + ok4, "\x05\x01\x00\x05\x01\x00\x01\xc0\x00\x02\x01\x00\x50"},
		"a password": {
			Proxy{"me", "secret"}, "192.0.2.1:80", "\x05\x02\x01\x00" + ok4,
			"\x05\x01\x02\x01\x02me\x06secret\x05\x01\x00\x01\xc0\x00\x02\x01\x00\x50",
		},
		"IPv6": {
			Proxy{}, "[2001:db8::1]:443", "\x05\x00" + ok4,
			"\x05\x01\x00\x05\x01\x00\x04\x20\x01\x0d\xb8\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01\x01\xbb",
		},
		"IPv4 in IPv6": {
			Proxy{}, "[::ffff:192.0.2.1]:80", "\x05\x00" + ok4, "\x05\x01\x00\x05\x01\x00\x01\xc0\x00\x02\x01\x00\x50",
		},
		"the proxy has a name": {
			Proxy{}, "192.0.2.1:80", "\x05\x00" + long, "\x05\x01\x00\x05\x01\x00\x01\xc0\x00\x02\x01\x00\x50",
		},
	} {
		sent, left, err := request(c.user, c.reply+"HTTP/1.1", netip.MustParseAddrPort(c.addr))
		if err != nil || sent != c.want || left != len("HTTP/1.1") {
			t.Errorf("%s: sent %q, left %d bytes, %v", name, sent, left, err)
		}
	}
}

// What the proxy says of the server is the server's fault, all else is the proxy's.
func TestRequest_tellsFaultsOfTheServerFromThoseOfTheProxy(t *testing.T) {
	for reply, want := range map[string]error{
		"\x05\x00\x05\x03\x00\x01\x00\x00\x00\x00\x00\x00": syscall.EHOSTUNREACH,
		"\x05\x00\x05\x04\x00\x01\x00\x00\x00\x00\x00\x00": syscall.EHOSTUNREACH,
		"\x05\x00\x05\x05\x00\x01\x00\x00\x00\x00\x00\x00": syscall.ECONNREFUSED,
		"\x05\x00\x05\x06\x00\x01\x00\x00\x00\x00\x00\x00": syscall.ETIMEDOUT,
		"\x05\x00\x05\x01\x00\x01\x00\x00\x00\x00\x00\x00": syscall.EHOSTUNREACH, // general failure
		"\x05\x00\x05\x08\x00\x01\x00\x00\x00\x00\x00\x00": syscall.EHOSTUNREACH, // no IPv6
		"\x05\x00\x05\x02\x00\x01\x00\x00\x00\x00\x00\x00": ErrRefused,
		"\x05\x00\x05\x07\x00\x01\x00\x00\x00\x00\x00\x00": ErrProxy,
		"\x05\x00":                      ErrRefused, // it closes the connection in place of a reply
		"\x05\xff":                      ErrLocked,
		"\x05\x00\x05\x00\x00\x09\x00":  ErrProxy,
		"HTTP/1.1 400 Bad Request\r\n":  ErrProxy,
		"\x05\x00\x05\x00\x00\x01\x7f":  ErrProxy,
		"\x05\x00\x05\x00\x00\x03\xffa": ErrProxy,
		"":                              ErrProxy,
	} {
		_, _, err := request(Proxy{}, reply, server)
		if !errors.Is(err, want) || errors.Is(err, ErrProxy) != errors.Is(want, ErrProxy) ||
			errors.Is(err, ErrLocked) != (want == ErrLocked) || errors.Is(err, ErrRefused) != (want == ErrRefused) {
			t.Errorf("%q: %v, want %v", reply, err, want)
		}
	}
}

// Whatever a proxy replies ends the request, after at most 300 bytes.
func FuzzRequest(f *testing.F) {
	f.Add("\x05\x00"+ok4, false)
	f.Add("\x05\x02\x01\x00"+ok4, true)
	f.Add("\x05\x00\x05\x00\x00\x03\xff", false)
	f.Fuzz(func(t *testing.T, reply string, password bool) {
		var user Proxy
		if password {
			user = Proxy{"n", "p"}
		}
		if _, left, _ := request(user, reply, server); len(reply)-left > 300 {
			t.Errorf("%d bytes read", len(reply)-left)
		}
	})
}
