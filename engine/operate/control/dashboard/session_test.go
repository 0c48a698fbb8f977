package dashboard

import (
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

const secret = "correct-horse-battery-staple"

// A session is valid for a week, with both of its halves, and for the token that it was begun with.
func TestSessions_areBothHalvesOfOneLogin(t *testing.T) {
	s, now := newSessions(secret), time.Unix(1_800_000_000, 0)
	cookie, key := s.issue(now)
	otherCookie, otherKey := s.issue(now)
	for name, c := range map[string]struct {
		sessions    sessions
		cookie, key string
		now         time.Time
		want        bool
	}{
		"at once":            {s, cookie, key, now, true},
		"just before a week": {s, cookie, key, now.Add(sessionTime - time.Second), true},
		"after a week":       {s, cookie, key, now.Add(sessionTime), false},
		"after a restart":    {newSessions(secret), cookie, key, now, true},
		"with a new token":   {newSessions(secret + "2"), cookie, key, now, false},
		"the cookie alone":   {s, cookie, "", now, false},
		"the key alone":      {s, "", key, now, false},
		"another key":        {s, cookie, otherKey, now, false},
		"another cookie":     {s, otherCookie, key, now, false},
		"a longer life":      {s, "AAAAAAAAAAD" + cookie[11:], key, now, false},
		"no base64":          {s, "%%%", "%%%", now, false},
		"cut off":            {s, cookie[:40], key, now, false},
	} {
		if got := c.sessions.isValid(c.cookie, c.key, c.now); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
	if cookie == otherCookie || key == otherKey {
		t.Error("two logins have the same session")
	}
}

// Two crawls on one machine have cookies of their own: browsers keep one set for all ports.
func TestSessions_theCookieHasTheNameOfThePort(t *testing.T) {
	for host, want := range map[string]string{
		"127.0.0.1:8080": "orbweaver_8080", "localhost": "orbweaver_80", "[::1]:9": "orbweaver_9",
		"a:b;c": "orbweaver_0", "a:x y": "orbweaver_0",
	} {
		if got := cookieName(host); got != want {
			t.Errorf("%s: %s", host, got)
		}
	}
	w, r := httptest.NewRecorder(), httptest.NewRequest("POST", "/login", nil)
	r.Host = "127.0.0.1:8080"
	setCookie(w, r, "x", time.Hour)
	if got := w.Header().Get("Set-Cookie"); got != "orbweaver_8080=x; Max-Age=3600; HttpOnly; SameSite=Strict" {
		t.Error(got)
	}
	w = httptest.NewRecorder()
	r.Header.Set("Origin", "https://crawl.example")
	setCookie(w, r, "x", time.Hour)
	if got := w.Header().Get("Set-Cookie"); !strings.Contains(got, "; Secure") {
		t.Error(got)
	}
}
