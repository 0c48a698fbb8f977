package cookie

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

const home = "http://www.example.org/dir/page?x=/y/z"

// visitor is a client with jars and a clock.
type visitor struct {
	jars *Jars
	now  time.Time
}

func newVisitor(max int64) *visitor {
	return &visitor{NewJars(max, new(Presets)), time.Date(2026, 11, 22, 0, 0, 0, 0, time.UTC)}
}

// hears takes the Set-Cookie fields of the response to url.
func (v *visitor) hears(url string, fields ...string) {
	var list [][]byte
	for _, f := range fields {
		list = append(list, []byte(f))
	}
	v.jars.Take([]byte(url), slices.Values(list), v.now)
}

// says returns the Cookie field for a request for url.
func (v *visitor) says(url string) string { return string(v.jars.Append(nil, []byte(url), v.now)) }

func TestHostile_H29_aCookieGoesBackToItsSiteAndNoOther(t *testing.T) {
	f := func(url, want string) {
		t.Helper()
		v := newVisitor(1 << 20)
		v.hears(home, "a=1; Path=/")
		if got := v.says(url); got != want {
			t.Errorf("to %s: %q", url, got)
		}
	}
	f("http://www.example.org/", "a=1")
	f("http://www.example.org/other?q", "a=1")
	f("https://www.example.org/", "")
	f("http://www.example.org:8080/", "")
	f("http://example.org/", "")
	f("http://sub.www.example.org/", "")
}

func TestHostile_H29_whatAFieldIsKeptAs(t *testing.T) {
	f := func(answered, field, asked, want string) {
		t.Helper()
		v := newVisitor(1 << 20)
		v.hears(answered, field)
		if got := v.says(asked); got != want {
			t.Errorf("%s: to %s: %q, want %q", field, asked, got, want)
		}
	}
	const secure = "https://www.example.org/dir/page"
	// Paths.
	f(home, "a=1", "http://www.example.org/dir/other?y", "a=1")
	f(home, "a=1", "http://www.example.org/dir", "a=1")
	f(home, "a=1", "http://www.example.org/dirty", "")
	f(home, "a=1", "http://www.example.org/", "")
	f(home, "a=1; Path=relative", "http://www.example.org/dir/x", "a=1")
	f(home, "a=1; Path=/other/", "http://www.example.org/other/x", "a=1")
	f(home, "a=1; Path=/other/", "http://www.example.org/other", "")
	f("http://www.example.org/top?a/b", "a=1", "http://www.example.org/x", "a=1")
	// Values.
	f(home, `a="x y"; path=/`, home, `a="x y"`)
	f(home, "a=", home, "a=")
	f(home, "a=b=c==; HttpOnly; SameSite=Strict; Unheard=of", home, "a=b=c==")
	f(home, "no pair", home, "no pair")
	f(home, "=1", home, "1")
	f(home, "; path=/", home, "")
	f(home, " = ; path=/", home, "")
	f(home, "a[b]/:@=1", home, "a[b]/:@=1")
	f(home, `a="b\c", d`, home, `a="b\c", d`)
	f(home, "café=très bon", home, "café=très bon")
	f(home, "a=\xff", home, "a=\xff")
	f(home, "a=1\tb", home, "a=1\tb")
	f(home, "a=1; ;; =; Path=/x; Path=/dir", home, "a=1")
	f(home, "a=1; Path=/"+strings.Repeat("x", 2000), home, "a=1")
	f(home, "", home, "")
	f(home, "a=1\r\nEvil: 1", home, "")
	f(home, "a\x00=1", home, "")
	f(home, "a="+strings.Repeat("x", 5000), home, "")
	// Domains: the own name or a parent domain; the cookie stays with this site.
	f(home, "a=1; Domain=www.example.org", home, "a=1")
	f(home, "a=1; Domain=.EXAMPLE.org", home, "a=1")
	f(home, "a=1; Domain=example.org; Path=/", "http://example.org/", "")
	f(home, "a=1; Domain=sub.www.example.org", home, "")
	f(home, "a=1; Domain=ample.org", home, "")
	f(home, "a=1; Domain=example.com", home, "")
	f("http://127.0.0.1:80/", "a=1; Domain=0.0.1", "http://127.0.0.1:80/", "")
	f("http://[2001:db8::1]:8080/", "a=1", "http://[2001:db8::1]:8080/", "a=1")
	// Secure, and the prefixes.
	f(home, "a=1; Secure", home, "")
	f(secure, "a=1; Secure", secure, "a=1")
	f(home, "__Secure-a=1", home, "")
	f(secure, "__Secure-a=1", secure, "")
	f(secure, "__secure-a=1; Secure", secure, "__secure-a=1")
	f(secure, "__Secure-a; Secure", secure, "")
	f(secure, "=__Host-a=1; Secure; Path=/", secure, "")
	f(secure, "__Host-a=1; Secure; Path=/", secure, "__Host-a=1")
	f(secure, "__Host-a=1; Secure; Path=/dir", secure, "")
	f(secure, "__Host-a=1; Secure; Path=/; Domain=www.example.org", secure, "")
	// Ends.
	f(home, "a=1; Max-Age=0", home, "")
	f(home, "a=1; Max-Age=-5", home, "")
	f(home, "a=1; Max-Age=soon", home, "a=1")
	f(home, "a=1; Max-Age=-", home, "a=1")
	f(home, "a=1; Max-Age=0; Max-Age=", home, "")
	f(home, "a=1; Max-Age=60; Expires=Thu, 01 Jan 1970 00:00:00 GMT", home, "a=1")
	f(home, "a=1; Expires=Thu, 01 Jan 1970 00:00:00 GMT", home, "")
	f(home, "a=1; Expires=Fri, 31 Dec 9999 23:59:59 GMT", home, "a=1")
	f(home, "a=1; Expires=some day", home, "a=1")
	for _, past := range []string{
		"Thu, 01-Jan-1970 00:00:01 GMT", "01 Jan 70 0:0:1", "1970 jan 1 00:00:01", "Thu Jan  1 00:00:01 1970",
		"00:00:01x Janvier 1st 1970", "\"Thu, 01 Jan 1970 00:00:00 GMT\"",
	} {
		f(home, "a=1; Expires="+past, home, "")
	}
	for _, none := range []string{
		"", "1 Jan 1600 0:0:0", "30 Feb 1999 0:0:0", "1 Jan 1999", "1 Jan 1999 24:0:0", "1 Foo 1999 0:0:0",
	} {
		f(home, "a=1; Expires="+none, home, "a=1")
	}
}

func TestLongerPathsComeFirstThenOlderCookies(t *testing.T) {
	v := newVisitor(1 << 20)
	v.hears(home, "a=1; Path=/", "b=2; Path=/dir", "c=3; Path=/", "d=4; Path=/dir")
	v.hears(home, "a=5; Path=/") // it keeps the age of the old one
	v.hears(home, "a=6; Path=/dir")
	if got := v.says(home); got != "b=2; d=4; a=6; a=5; c=3" {
		t.Error(got)
	}
}

func TestACookieEndsInItsTime(t *testing.T) {
	v := newVisitor(1 << 20)
	v.hears(home, "short=1; Max-Age=60", "date=1; Expires=Sun, 22 Nov 2026 01:00:00 GMT",
		"long=1; Max-Age=99999999999", "session=1")
	for _, step := range []struct {
		after time.Duration
		want  string
	}{
		{59 * time.Second, "short=1; date=1; long=1; session=1"},
		{time.Second, "date=1; long=1; session=1"},
		{time.Hour, "long=1; session=1"},
		{399 * 24 * time.Hour, "long=1; session=1"},
		{24 * time.Hour, "session=1"},
	} {
		v.now = v.now.Add(step.after)
		if got := v.says(home); got != step.want {
			t.Errorf("after %v more: %q, want %q", step.after, got, step.want)
		}
	}
	v.hears(home, "session=; Max-Age=0") // the site removes it
	if s := v.jars.Stats(); v.says(home) != "" || s != (Stats{}) {
		t.Errorf("%+v is left", s)
	}
}

func TestHostile_H29_aFullJarLosesItsOldestCookies(t *testing.T) {
	v := newVisitor(1 << 20)
	for i := range 50 {
		v.hears(home, fmt.Sprintf("c%d=x", i))
	}
	if got := strings.Split(v.says(home), "; "); len(got) != siteCookies || got[0] != "c30=x" || got[19] != "c49=x" {
		t.Errorf("by number: %q", got)
	}
	v.hears(home, "big="+strings.Repeat("x", 4000))
	if got := v.says(home); !strings.Contains(got, "big=") || !strings.HasPrefix(got, "c39=x; ") {
		t.Errorf("by bytes: %.60s", got)
	}
	v.hears(home, "c39="+strings.Repeat("y", 4050)) // the oldest grows: it stays, and the others are dropped
	if got := v.says(home); !strings.HasPrefix(got, "c39=yyy") || strings.Contains(got, "big") || len(got) > siteBytes {
		t.Errorf("the oldest grew: %.60s", got)
	}
}

// When memory is short, the least recently used jars are evicted and counted; the total is correct.
func TestFullJarsEvictWhatWasNotUsedForLongest(t *testing.T) {
	const memory = 10_000
	v := newVisitor(memory)
	site := func(i int) string { return fmt.Sprintf("http://h%d.example/", i) }
	for i := range 100 {
		v.hears(site(i), "a=1")
		if i > 0 && v.says(site(0)) != "a=1" {
			t.Fatalf("a site that is visited lost its cookie to the %dth other one", i)
		}
	}
	s := v.jars.Stats()
	if s.Bytes > memory || s.Sites < 20 || s.Sites != s.Cookies || s.Lost != int64(100-s.Sites) {
		t.Errorf("%+v", s)
	}
	if v.says(site(1)) != "" || v.says(site(99)) != "a=1" || v.says(site(0)) != "a=1" {
		t.Error("the oldest jar is there, or the newest is not")
	}
	v.hears(site(0), "a="+strings.Repeat("x", 1000))
	if got := v.says(site(0)); len(got) != 1002 {
		t.Errorf("%.20s did not grow at the cost of others", got)
	}
	for i := range 100 {
		v.hears(site(i), "a=; Max-Age=0")
	}
	if s := v.jars.Stats(); s.Sites != 0 || s.Cookies != 0 || s.Bytes != 0 {
		t.Errorf("empty, and %+v", s)
	}
	small := newVisitor(siteMemory + cookieMemory)
	small.hears(home, "a=1")
	if s := small.jars.Stats(); s.Sites != 0 || s.Lost != 1 {
		t.Errorf("memory for no cookie at all: %+v", s)
	}
}

// 6,000 hosts that fill their jars once took all memory. Sites that are visited must keep their cookies, also if they
// come later or are visited rarely.
func TestHostileHostsDoNotTakeTheJarsOfOthers(t *testing.T) {
	v := newVisitor(1 << 18)
	fill := strings.Repeat("x", 4000)
	honest := func(i int) string { return fmt.Sprintf("http://honest%d.example/", i) }
	known := 0
	for i := range 6000 {
		v.hears(fmt.Sprintf("http://t%d.trap.test/", i), "f="+fill)
		if i%100 == 0 {
			v.hears(honest(known), "session=1")
			known++
		}
	}
	lost := 0
	for i := range known {
		if v.says(honest(i)) != "session=1" {
			lost++
		}
	}
	if lost > 0 {
		t.Errorf("%d of %d honest sites lost their session", lost, known)
	}
}

func FuzzTake(f *testing.F) {
	f.Add("a=1; Path=/; Max-Age=5", "b=\"2\"")
	f.Fuzz(func(t *testing.T, one, two string) {
		v := newVisitor(1 << 16)
		v.hears(home, one, two)
		got := v.says(home)
		if strings.ContainsAny(got, "\r\n\x00") || len(got) > 2*siteBytes {
			t.Errorf("%q", got)
		}
		v.now = v.now.Add(500 * 24 * time.Hour)
		v.says(home)
		if s := v.jars.Stats(); (s.Cookies == 0) != (s.Bytes == 0) {
			t.Errorf("%+v", s)
		}
	})
}
