package control

import (
	"bufio"
	"encoding/json"
	"io"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// visitor is a browser at a server of pages.
type visitor struct {
	t      *testing.T
	base   string
	cookie *http.Cookie
	key    string
}

// send sends what a page would.
func (v *visitor) send(method, path, body string) *http.Response {
	v.t.Helper()
	req, err := http.NewRequestWithContext(v.t.Context(), method, v.base+path, strings.NewReader(body))
	if err != nil {
		v.t.Fatal(err)
	}
	req.Close = true
	req.Header.Set("Origin", v.base)
	req.Header.Set("Sec-Fetch-Site", "same-origin")
	if v.cookie != nil {
		req.AddCookie(v.cookie)
		req.Header.Set("Orbweaver-Key", v.key)
	}
	resp, err := new(http.Transport).RoundTrip(req)
	if err != nil {
		v.t.Fatal(err)
	}
	return resp
}

// read sends and reads the answer.
func (v *visitor) read(method, path, body string) (int, string) {
	v.t.Helper()
	resp := v.send(method, path, body)
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		v.t.Fatal(err)
	}
	return resp.StatusCode, string(text)
}

// logIn says whether a code opens the pages.
func (v *visitor) logIn(code string) bool {
	v.t.Helper()
	resp := v.send(http.MethodPost, "/login", code)
	defer resp.Body.Close()
	var answer struct{ Key string }
	if resp.StatusCode != http.StatusOK || json.NewDecoder(resp.Body).Decode(&answer) != nil {
		return false
	}
	v.cookie, v.key = resp.Cookies()[0], answer.Key
	return true
}

// pagesOf serves the pages of the crawl at an address, and returns a browser at them and the codes for logins.
func pagesOf(t *testing.T, address string) (*visitor, *[]string) {
	t.Helper()
	codes := new([]string)
	s, err := ListenPages(t.Context(), Pages{
		Options: Options{Address: "127.0.0.1:0"}, Crawl: Dial(address, ""),
		NewLogin: func(_, code string) { *codes = append(*codes, code) },
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return &visitor{t: t, base: "http://" + s.Addr()}, codes
}

// listenAt serves a crawl at an address.
func listenAt(t *testing.T, address string, crawl Crawl) *Server {
	t.Helper()
	s, err := Listen(t.Context(), Options{Address: address}, crawl)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// The pages of a crawl on its socket: a code is good for one login, and what the page asks for comes from the crawl, as
// it comes. A crawl that ends and runs again is the same to a browser that has logged in.
func TestListenPages_passesTheSocketOn(t *testing.T) {
	address := "unix:" + filepath.Join(t.TempDir(), "s")
	f := new(fake)
	crawl := listenAt(t, address, f)
	v, codes := pagesOf(t, address)
	if status, _ := v.read(http.MethodGet, "/status", ""); status != http.StatusUnauthorized {
		t.Errorf("without a login: %d", status)
	}
	other := &visitor{t: t, base: v.base}
	if v.logIn("") || v.logIn("wrong") || !v.logIn((*codes)[0]) || other.logIn((*codes)[0]) || len(*codes) != 2 {
		t.Fatalf("a code is not good for one login: %q", *codes)
	}
	if status, text := v.read(http.MethodGet, "/status", ""); status != http.StatusOK ||
		!strings.Contains(text, `"pages_stored":12`) {
		t.Errorf("/status: %d %.80s", status, text)
	}
	if status, text := v.read(http.MethodPost, "/block", ".a.test\nb c"); status != 400 ||
		!strings.Contains(text, "1 of 2 host rules saved") || !slices.Equal(f.did, []string{"rule .a.test exclude"}) {
		t.Errorf("/block: %d %s, did %q", status, text, f.did)
	}
	events := v.send(http.MethodGet, "/events", "")
	if line, err := bufio.NewReader(events.Body).ReadString('\n'); err != nil || line != "id: 1\n" ||
		events.Header.Get("Content-Type") != "text/event-stream" {
		t.Errorf("/events: %q, %v", line, err)
	}
	if err := crawl.Close(); err != nil {
		t.Error(err)
	}
	_, _ = io.ReadAll(events.Body) // it ends: with a fault, or in order if the stream was closed first
	events.Body.Close()
	if status, text := v.read(http.MethodGet, "/status", ""); status != http.StatusBadGateway ||
		!strings.Contains(text, "not running") {
		t.Errorf("without a crawl: %d %s", status, text)
	}
	crawl = listenAt(t, address, f)
	if status, _ := v.read(http.MethodGet, "/status", ""); status != http.StatusOK {
		t.Errorf("when it runs again: %d", status)
	}
	if err := crawl.Close(); err != nil {
		t.Error(err)
	}
}

// No token opens the pages, and no foreign name.
func TestHostile_A01_thePagesOfASocketHaveNoToken(t *testing.T) {
	address := "unix:" + filepath.Join(t.TempDir(), "s")
	crawl := listenAt(t, address, new(fake))
	defer crawl.Close()
	v, codes := pagesOf(t, address)
	for name, change := range map[string]func(*http.Request){
		"the code as a token": bearing((*codes)[0]), "no token": bearing(""),
		"a rebound name": func(r *http.Request) { r.Host = "page.example" },
	} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, v.base+"/status", nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Close = true
		change(req)
		resp, err := new(http.Transport).RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != http.StatusUnauthorized && resp.StatusCode != http.StatusMisdirectedRequest {
			t.Errorf("%s: %d", name, resp.StatusCode)
		}
	}
}
