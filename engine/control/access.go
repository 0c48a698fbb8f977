package control

import (
	"crypto/subtle"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"time"
)

// ErrNoToken says that a server on an address would answer any client.
var ErrNoToken = errors.New("control: an address that others can reach needs a token")

// access decides which requests are answered.
type access struct {
	tcp   bool     // any user of this machine, or any host of the network, can connect
	names []string // beside addresses and localhost, what the server may be called; lower case
	token string
}

// newAccess returns the rules for a server that listens on l, as address asked for.
func newAccess(l net.Listener, address, token string) (*access, error) {
	_, tcp := l.Addr().(*net.TCPAddr)
	a := &access{tcp: tcp, token: token}
	if !tcp {
		return a, nil
	}
	if token == "" {
		return nil, ErrNoToken
	}
	if host, _, err := net.SplitHostPort(address); err == nil && host != "" {
		a.names = append(a.names, strings.ToLower(host))
	}
	return a, nil
}

// guard passes permitted requests, and tells browsers that the answer is not for them.
func (a *access) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_ = http.NewResponseController(w).
			SetWriteDeadline(time.Now().Add(answerMax))
			// without a connection no client is slow
		h := w.Header()
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
		h.Set("Cache-Control", "no-store")
		switch {
		case r.Header.Get("Origin") != "" || r.Header.Get("Sec-Fetch-Site") != "":
			http.Error(w, "requests from web pages are not answered", http.StatusForbidden)
		case a.tcp && !a.isCalled(r.Host):
			http.Error(
				w,
				"this server is called by its address, by localhost or by the name in --listen",
				http.StatusMisdirectedRequest,
			)
		case a.tcp && r.URL.Path == "/healthz" && !bears(r, a.token):
			next.ServeHTTP(w, r) // the only path that needs no token; its connection keeps no place
		case a.tcp && !bears(r, a.token):
			h.Set("WWW-Authenticate", "Bearer")
			http.Error(w, "a token is needed: Authorization: Bearer TOKEN", http.StatusUnauthorized)
		default:
			authorised(r.Context())
			next.ServeHTTP(w, r)
		}
	})
}

// isCalled says that a Host field names this server. A page that had its own name rebound to this machine sends that
// name.
func (a *access) isCalled(host string) bool {
	name := host
	if h, _, err := net.SplitHostPort(host); err == nil {
		name = h
	}
	name = strings.ToLower(strings.TrimSuffix(name, "."))
	if name == "localhost" || slices.Contains(a.names, name) {
		return true
	}
	_, err := netip.ParseAddr(strings.Trim(name, "[]"))
	return err == nil
}

// bears says that a request brings the token. How long that takes does not depend on how much of it is right.
func bears(r *http.Request, token string) bool {
	scheme, got, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	return strings.EqualFold(scheme, "Bearer") &&
		subtle.ConstantTimeCompare([]byte(strings.TrimSpace(got)), []byte(token)) == 1
}
