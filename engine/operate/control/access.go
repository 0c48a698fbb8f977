package control

import (
	"crypto/subtle"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"os/user"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"orbweaver/engine/operate/control/dashboard"
)

// ErrNoToken says that a server on an address would answer any client.
var ErrNoToken = errors.New("control: an address that others can reach needs a token")

// access decides which requests are answered.
type access struct {
	tcp   bool     // any user of this machine, or any host of the network, can connect
	names []string // beside addresses and localhost, what the server may be called; lower case
	token string
	login func(code string) bool // says whether a code of the login page is right
	log   *slog.Logger
}

// newAccess returns the rules for a server that listens on l, as address asked for.
func newAccess(l net.Listener, o Options, login func(code string) bool) (*access, error) {
	_, tcp := l.Addr().(*net.TCPAddr)
	a := &access{tcp: tcp, token: o.Token, login: login, log: o.Log}
	if !tcp {
		return a, nil
	}
	if o.Token == "" {
		return nil, ErrNoToken
	}
	if host, _, err := net.SplitHostPort(o.Address); err == nil && host != "" {
		a.names = append(a.names, strings.ToLower(host))
	}
	for _, name := range o.Names {
		a.names = append(a.names, strings.ToLower(name))
	}
	return a, nil
}

// guard passes permitted requests: those of scripts, and on an address those of a browser that has logged in. Except
// for the pages of the dashboard, it tells browsers that an answer is no document.
func (a *access) guard(next http.Handler) http.Handler {
	browsers := dashboard.NewGate(
		dashboard.Options{Secret: a.token, Login: a.login, Log: a.log}, keepPlace(next),
	)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_ = http.NewResponseController(w).
			SetWriteDeadline(time.Now().Add(answerMax))
			// without a connection no client is slow
		h := w.Header()
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
		h.Set("Cache-Control", "no-store")
		isByPage := r.Header.Get("Origin") != "" || r.Header.Get("Sec-Fetch-Site") != ""
		switch {
		case a.tcp && !a.isCalled(r.Host):
			http.Error(w,
				"this server is called by its address, by localhost or by a name of --listen or --listen-name",
				http.StatusMisdirectedRequest)
		case a.tcp && r.Header.Get("Authorization") == "" && (isByPage || r.URL.Path != "/healthz"):
			browsers.ServeHTTP(w, r)
		case isByPage:
			http.Error(w, "requests from web pages are not answered", http.StatusForbidden)
		case a.tcp && r.URL.Path == "/healthz" && !bears(r, a.token):
			next.ServeHTTP(w, r) // the only path that needs no token; its connection keeps no place
		case a.tcp && !bears(r, a.token):
			h.Set("WWW-Authenticate", "Bearer")
			http.Error(w, "a token is needed: Authorization: Bearer TOKEN", http.StatusUnauthorized)
		default:
			keepPlace(next).ServeHTTP(w, r)
		}
	})
}

// keepPlace lets an authorised request keep the place of its connection.
func keepPlace(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		authorised(r.Context())
		next.ServeHTTP(w, r)
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

// clientName names the client of a request, for the log of changes: the user at the other end of a Unix socket, where
// the system tells, or an address.
func clientName(r *http.Request) string {
	p, ok := r.Context().Value(connKey{}).(*placed)
	if !ok {
		return "unknown"
	}
	if unix, ok := p.Conn.(*net.UnixConn); ok {
		raw, err := unix.SyscallConn()
		if err != nil {
			return "local user"
		}
		return userOf(raw)
	}
	return p.Conn.RemoteAddr().String()
}

// userOf names the user at the other end of a Unix socket.
func userOf(conn syscall.RawConn) string {
	uid, pid, ok := peerOf(conn)
	if !ok {
		return "local user"
	}
	name := strconv.FormatUint(uint64(uid), 10)
	if u, err := user.LookupId(name); err == nil {
		return fmt.Sprintf("%s (uid %s, process %d)", u.Username, name, pid)
	}
	return fmt.Sprintf("uid %s, process %d", name, pid)
}
