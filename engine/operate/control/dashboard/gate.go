package dashboard

import (
	"crypto/subtle"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"time"

	"orbweaver/internal/throttle"
)

// Gate answers browsers: with the files of the page, and behind a login with the control API.
type Gate struct {
	options  Options
	sessions sessions
	pages    http.Handler
	api      http.Handler

	mu       sync.Mutex
	refusals throttle.Log
}

// Options say what a browser logs in with.
type Options struct {
	// Secret signs sessions.
	Secret string
	// Login says whether a code of the login page is right.
	Login func(code string) bool
	Log   *slog.Logger
}

// NewGate returns a Gate before the control API.
func NewGate(o Options, api http.Handler) *Gate {
	return &Gate{options: o, sessions: newSessions(o.Secret), pages: newPages(), api: api}
}

// IsToken returns the Login of a server whose code is its token.
func IsToken(token string) func(code string) bool {
	return func(code string) bool {
		return token != "" && subtle.ConstantTimeCompare([]byte(strings.TrimSpace(code)), []byte(token)) == 1
	}
}

// ServeHTTP answers a request that does not bring the token of scripts.
func (g *Gate) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	isRead := r.Method == http.MethodGet || r.Method == http.MethodHead
	switch {
	case isRead && isPageFile(r.URL.Path):
		g.pages.ServeHTTP(w, r)
	case !isFromOwnPage(r, isRead):
		http.Error(w, "requests from web pages of another origin are not answered", http.StatusForbidden)
	case r.Method == http.MethodPost && r.URL.Path == "/login":
		g.login(w, r)
	case !g.sessions.ofRequest(r):
		w.Header().Set("WWW-Authenticate", "Bearer")
		http.Error(w, "a token is needed: Authorization: Bearer TOKEN, or a login at /", http.StatusUnauthorized)
	case r.Method == http.MethodPost && r.URL.Path == "/logout":
		setCookie(w, r, "", -time.Second)
		w.WriteHeader(http.StatusNoContent)
	default:
		g.api.ServeHTTP(w, r)
	}
}

// isFromOwnPage says that no page of another origin sent a request. Browsers name the origin of each request that may
// change something; what is not from a browser has no session either.
func isFromOwnPage(r *http.Request, isRead bool) bool {
	switch r.Header.Get("Sec-Fetch-Site") {
	case "", "same-origin":
	case "none":
		if !isRead {
			return false
		}
	default:
		return false
	}
	origin := r.Header.Get("Origin")
	if origin == "" {
		return isRead || r.Header.Get("Sec-Fetch-Site") == "" && r.Header.Get("Cookie") == ""
	}
	_, host, ok := strings.Cut(origin, "://")
	return ok && host == r.Host
}

// codeMost is the longest code that is read, in bytes.
const codeMost = 2 << 10

// login begins a session.
func (g *Gate) login(w http.ResponseWriter, r *http.Request) {
	code, err := io.ReadAll(http.MaxBytesReader(w, r.Body, codeMost))
	if err != nil {
		http.Error(w, "that is too long for a token", http.StatusRequestEntityTooLarge)
		return
	}
	if !g.options.Login(string(code)) {
		g.logRefusal(r)
		http.Error(w, "that is not the token", http.StatusUnauthorized)
		return
	}
	cookie, key := g.sessions.issue(time.Now())
	setCookie(w, r, cookie, sessionTime)
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]string{"key": key}) // the client may be gone
}

func (g *Gate) logRefusal(r *http.Request) {
	g.mu.Lock()
	n, ok := g.refusals.Allow(time.Now())
	g.mu.Unlock()
	if ok {
		g.options.Log.Warn("dashboard: a login with a wrong token was refused", "client", r.RemoteAddr, "times", n)
	}
}
