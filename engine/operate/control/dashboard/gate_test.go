package dashboard

import (
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// browser is a page of one origin at a Gate. It keeps cookies and the key as a browser does.
type browser struct {
	t       *testing.T
	gate    http.Handler
	cookies []*http.Cookie
	key     string
}

const ownHost = "127.0.0.1:8080"

// newBrowser visits a Gate before a control API that says what it was asked for.
func newBrowser(t *testing.T) *browser {
	t.Helper()
	api := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, "did "+r.Method+" "+r.URL.Path)
	})
	log := slog.New(slog.DiscardHandler)
	return &browser{t: t, gate: NewGate(Options{Secret: secret, Login: IsToken(secret), Log: log}, api)}
}

// send sends what a script of the page would, after change.
func (b *browser) send(method, path, body string, change func(*http.Request)) *httptest.ResponseRecorder {
	b.t.Helper()
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	r.Host = ownHost
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	if method != http.MethodGet {
		r.Header.Set("Origin", "http://"+ownHost)
	}
	for _, c := range b.cookies {
		r.AddCookie(c)
	}
	if b.key != "" {
		r.Header.Set(keyField, b.key)
	}
	if change != nil {
		change(r)
	}
	w := httptest.NewRecorder()
	b.gate.ServeHTTP(w, r)
	return w
}

// logIn logs in with the token.
func (b *browser) logIn() {
	b.t.Helper()
	w := b.send(http.MethodPost, "/login", secret+"\n", nil)
	var answer struct{ Key string }
	if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil || w.Code != http.StatusOK || answer.Key == "" {
		b.t.Fatalf("login: %d %s", w.Code, w.Body)
	}
	b.cookies, b.key = w.Result().Cookies(), answer.Key
}

// Any client gets the page, which holds nothing of the crawl. All else needs a login.
func TestGate_showsTheLoginPageAndNothingElse(t *testing.T) {
	b := newBrowser(t)
	page := b.send(http.MethodGet, "/", "", func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "none") })
	if page.Code != http.StatusOK || !strings.Contains(page.Body.String(), "<title>Orbweaver</title>") {
		t.Errorf("the page: %d %s", page.Code, page.Body)
	}
	for _, path := range []string{"/status", "/events", "/history", "/now", "/metrics", "/rules"} {
		w := b.send(http.MethodGet, path, "", nil)
		if w.Code != http.StatusUnauthorized || w.Header().Get("WWW-Authenticate") != "Bearer" {
			t.Errorf("%s: %d", path, w.Code)
		}
	}
	for code, want := range map[string]int{
		secret + "x": http.StatusUnauthorized, "": http.StatusUnauthorized,
		strings.Repeat("x", 3000): http.StatusRequestEntityTooLarge,
	} {
		w := b.send(http.MethodPost, "/login", code, nil)
		if w.Code != want || len(w.Result().Cookies()) > 0 {
			t.Errorf("login with %.50q: %d", code, w.Code)
		}
	}
}

// With a login the page reads and acts, until it logs out.
func TestGate_aLoginOpensTheControlAPI(t *testing.T) {
	b := newBrowser(t)
	b.logIn()
	for _, c := range [][2]string{{"GET", "/status"}, {"POST", "/pause"}} {
		if w := b.send(c[0], c[1], "", nil); w.Code != http.StatusOK || w.Body.String() != "did "+c[0]+" "+c[1] {
			t.Errorf("%v: %d %s", c, w.Code, w.Body)
		}
	}
	w := b.send(http.MethodPost, "/logout", "", nil)
	if c := w.Result().Cookies(); w.Code != http.StatusNoContent || len(c) != 1 || c[0].MaxAge >= 0 || c[0].Value != "" {
		t.Errorf("logout: %d %v", w.Code, c)
	}
}

// A page of another origin has no access, although the browser may send the cookie with its requests. Nor has another
// server of this machine, which browsers give the cookie but not the key.
func TestHostile_A02_aForeignPageHasNoAccess(t *testing.T) {
	b := newBrowser(t)
	b.logIn()
	set := func(name, value string) func(*http.Request) {
		return func(r *http.Request) { r.Header.Set(name, value) }
	}
	unset := func(name string) func(*http.Request) { return func(r *http.Request) { r.Header.Del(name) } }
	for name, c := range map[string]struct {
		method, path string
		change       func(*http.Request)
		want         int
	}{
		"a form of another site":       {"POST", "/stop", set("Origin", "https://page.example"), 403},
		"a sandbox":                    {"POST", "/stop", set("Origin", "null"), 403},
		"another port of this machine": {"POST", "/stop", set("Origin", "http://127.0.0.1:9"), 403},
		"another site":                 {"GET", "/status", set("Sec-Fetch-Site", "cross-site"), 403},
		"another port, read":           {"GET", "/status", set("Sec-Fetch-Site", "same-site"), 403},
		"a link to stop":               {"POST", "/stop", set("Sec-Fetch-Site", "none"), 403},
		"no origin":                    {"POST", "/stop", unset("Origin"), 403},
		"an old browser, no origin": {"POST", "/stop", func(r *http.Request) {
			r.Header.Del("Origin")
			r.Header.Del("Sec-Fetch-Site")
		}, 403},
		"the stolen cookie":    {"GET", "/status", unset(keyField), 401},
		"the key alone":        {"GET", "/status", unset("Cookie"), 401},
		"a login of its own":   {"POST", "/login", set("Origin", "https://page.example"), 403},
		"a logout":             {"POST", "/logout", set("Origin", "https://page.example"), 403},
		"the page's own write": {"POST", "/stop", func(*http.Request) {}, 200},
		"the page's own read":  {"GET", "/status", func(*http.Request) {}, 200},
	} {
		if w := b.send(c.method, c.path, secret, c.change); w.Code != c.want {
			t.Errorf("%s: %d %s", name, w.Code, w.Body)
		}
	}
}

// The code of a login that has no token is never right.
func TestIsToken(t *testing.T) {
	for _, c := range []struct {
		token, code string
		want        bool
	}{
		{"", "", false},
		{"", " ", false},
		{secret, secret, true},
		{secret, " " + secret + "\n", true},
		{secret, "", false},
	} {
		if IsToken(c.token)(c.code) != c.want {
			t.Errorf("%q with %q", c.code, c.token)
		}
	}
	if sessionTime > 30*24*time.Hour {
		t.Error("a login lasts too long")
	}
}
