package control

import (
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"orbweaver/engine/operate/report"
	"orbweaver/engine/state/lifecycle"
)

const secret = "correct-horse-battery-staple"

// on opens a server on loopback.
func on(t *testing.T, crawl Crawl) *Server {
	t.Helper()
	s, err := Listen(t.Context(), Options{Address: "127.0.0.1:0", Token: secret}, crawl)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// send sends a request as it is and gives status and body.
func send(
	t *testing.T,
	s *Server,
	method, path string,
	body io.Reader,
	change func(*http.Request),
) (int, http.Header, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, "http://"+s.Addr()+path, body)
	if err != nil {
		t.Fatal(err)
	}
	req.Close = true
	if change != nil {
		change(req)
	}
	resp, err := new(http.Transport).RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, resp.Header, string(text)
}

func bearing(token string) func(*http.Request) {
	return func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+token) }
}

// On host:port nothing is told or done without the token, whatever is offered instead of it. /healthz says that the
// process lives.
func TestHostile_A01_onAnAddressNothingIsDoneWithoutTheToken(t *testing.T) {
	f := new(fake)
	s := on(t, f)
	for _, c := range []struct{ method, path string }{
		{"POST", "/pause"}, {"POST", "/resume"}, {"POST", "/stop"}, {"POST", "/leave"}, {"POST", "/add"},
		{"POST", "/block"}, {"POST", "/rule"},
		{"POST", "/set"}, {"GET", "/status"}, {"GET", "/rules"}, {"GET", "/metrics"}, {"GET", "/now"},
		{"GET", "/events"}, {"GET", "/history"}, {"POST", "/logout"},
		{"POST", "/metrics/../stop"}, {"POST", "//stop"},
	} {
		for _, offered := range []string{
			"", "Bearer", "Bearer ", "Bearer " + secret[:len(secret)-1], "Bearer " + secret + "x", "Basic " + secret, secret,
		} {
			status, head, _ := send(t, s, c.method, c.path, strings.NewReader("http://a.test/"), func(r *http.Request) {
				if offered != "" {
					r.Header.Set("Authorization", offered)
				}
			})
			if status != http.StatusUnauthorized || head.Get("WWW-Authenticate") == "" {
				t.Errorf("%s %s with %q: %d", c.method, c.path, offered, status)
			}
		}
	}
	if len(f.did) > 0 {
		t.Fatalf("and yet it did %q", f.did)
	}
	if status, _, body := send(t, s, "GET", "/healthz", nil, nil); status != http.StatusOK || body != "ok\n" {
		t.Errorf("/healthz: %d %s", status, body)
	}
	status, _, body := send(t, s, "GET", "/metrics", nil, bearing(secret))
	if status != http.StatusOK || strings.Contains(body, secret) || strings.Contains(body, ".test") {
		t.Errorf("/metrics: %d %s", status, body)
	}
	if status, _, _ := send(t, s, "POST", "/pause", nil, bearing(secret)); status != http.StatusOK || len(f.did) != 1 {
		t.Errorf("with the token: %d, %q", status, f.did)
	}
}

// On an address there is no server without a token, on loopback or not, and with one its metrics need it, too. (It is
// bound for a moment, and takes no connection.)
func TestHostile_A01_onAnAddressEvenMetricsNeedTheToken(t *testing.T) {
	for _, address := range []string{"0.0.0.0:0", "127.0.0.1:0", ":0"} {
		if s, err := Listen(t.Context(), Options{Address: address}, new(fake)); !errors.Is(err, ErrNoToken) {
			t.Errorf("%s without a token: %v", address, errors.Join(err, s.Close()))
		}
	}
	d := &access{tcp: true, token: secret}
	for path, want := range map[string]int{
		"/metrics": http.StatusUnauthorized, "/status": http.StatusUnauthorized, "/healthz": http.StatusOK,
	} {
		req := httptest.NewRequest(http.MethodGet, path, nil)
		req.Host = "192.0.2.1:80"
		w := httptest.NewRecorder()
		d.guard(handling(new(fake), slog.New(slog.DiscardHandler))).ServeHTTP(w, req)
		if w.Code != want {
			t.Errorf("%s: %d", path, w.Code)
		}
	}
}

// The socket is its owner's alone from the first moment, whatever the mask of the process says.
func TestHostile_A01_theSocketIsItsOwnersAlone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	watch := net.ListenConfig{Control: ownerOnly}
	l, err := watch.Listen(t.Context(), "unix", path) // as it is before chmod
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Lstat(path); err != nil {
		t.Fatal(err)
	} else if runtime.GOOS == "linux" && info.Mode().Perm()&0o077 != 0 {
		t.Errorf("for a moment others may connect: %v", info.Mode())
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	s, err := Listen(t.Context(), Options{Address: "unix:" + path}, new(fake))
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Lstat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// A web page sends an Origin, or what browsers say of the request; a page whose name was rebound to this machine sends
// its name. None of them is answered, not even with the token, and on the socket neither.
func TestHostile_A02_whatAWebPageSendsIsRefused(t *testing.T) {
	f := new(fake)
	s := on(t, f)
	for name, c := range map[string]struct {
		change func(*http.Request)
		want   int
	}{
		"a form":         {func(r *http.Request) { r.Header.Set("Origin", "https://page.example") }, 403},
		"a sandbox":      {func(r *http.Request) { r.Header.Set("Origin", "null") }, 403},
		"our own origin": {func(r *http.Request) { r.Header.Set("Origin", "http://"+r.Host) }, 403},
		"an image":       {func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "cross-site") }, 403},
		"rebound":        {func(r *http.Request) { r.Host = "page.example" }, 421},
		"rebound, port":  {func(r *http.Request) { r.Host = "page.example:" + s.Addr()[len("127.0.0.1:"):] }, 421},
		"like an IP":     {func(r *http.Request) { r.Host = "127.0.0.1.page.example" }, 421},
		"like localhost": {func(r *http.Request) { r.Host = "localhost.page.example" }, 421},
		"by address":     {func(*http.Request) {}, 200},
		"by localhost":   {func(r *http.Request) { r.Host = "LocalHost:1" }, 200},
		"by IPv6":        {func(r *http.Request) { r.Host = "[::1]:80" }, 200},
	} {
		for _, path := range []string{"/pause", "/add"} {
			status, _, _ := send(t, s, "POST", path, strings.NewReader("http://a.test/"), func(r *http.Request) {
				bearing(secret)(r)
				c.change(r)
			})
			if status != c.want {
				t.Errorf("%s, %s: %d", name, path, status)
			}
		}
	}
	if len(f.did) != 2*3 {
		t.Errorf("it did %q", f.did)
	}
	for _, header := range [][]string{{"Origin", "https://page.example"}, {"Sec-Fetch-Site", "none"}} {
		if w := ask(f, http.MethodGet, "/status", nil, header...); w.Code != http.StatusForbidden {
			t.Errorf("the socket, %v: %d", header, w.Code)
		}
	}
}

// loud is a crawl that says what servers wrote.
type loud struct{ fake }

const script = "<script>alert(1)</script>\x1b[2J"

func (*loud) Report() report.Report {
	return report.Report{
		State:    lifecycle.Failed,
		Reason:   script,
		Waiting:  script,
		Outcomes: map[string]int64{script: 1},
	}
}

func (*loud) HostRules() (live, fixed []string) { return []string{script}, nil }

// On the socket there is no page for a browser, so nothing to smuggle a script into. What is answered says that it is
// no document, and escapes what would be one, and what a terminal would obey.
func TestHostile_A02_whatStrangersWroteIsNoMarkup(t *testing.T) {
	for _, path := range []string{
		"/status", "/now", "/rules", "/metrics", "/healthz", "/", "/index.html", "/" + "%3Cscript%3E",
	} {
		req := httptest.NewRequest(http.MethodGet, path, nil)
		w := httptest.NewRecorder()
		serving(new(loud)).ServeHTTP(w, req)
		head := w.Header()
		if head.Get("X-Content-Type-Options") != "nosniff" ||
			!strings.Contains(head.Get("Content-Security-Policy"), "default-src 'none'") ||
			head.Get("Cache-Control") != "no-store" ||
			strings.Contains(head.Get("Content-Type"), "html") {
			t.Errorf("%s: %v", path, head)
		}
		if body := w.Body.String(); path != "/metrics" &&
			(strings.Contains(body, "<script") || strings.Contains(body, "\x1b")) {
			t.Errorf("%s: %q", path, body)
		}
		if path == "/" && w.Code != http.StatusNotFound {
			t.Errorf("there is a page: %d", w.Code)
		}
	}
}

// There are no profiles, and nothing else that was not asked for.
func TestHostile_A07_thereAreNoProfiles(t *testing.T) {
	s := on(t, new(fake))
	for _, path := range []string{
		"/debug/pprof/", "/debug/pprof/heap", "/debug/pprof/profile?seconds=1", "/debug/pprof/cmdline", "/debug/vars",
		"/debug/requests", "/debug/events",
		"/pprof", "/.git/config", "/control.token", "/metrics/debug/pprof/",
	} {
		for _, method := range []string{"GET", "POST"} {
			if status, _, body := send(t, s, method, path, nil, bearing(secret)); status != http.StatusNotFound {
				t.Errorf("%s %s: %d %.100s", method, path, status, body)
			}
		}
	}
}
