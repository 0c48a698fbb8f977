package wall

import (
	"fmt"
	"strings"
	"testing"

	"orbweaver/engine/net/fetch"
)

// answer is a Page with a status, fields and a body.
func answer(t testing.TB, status int, fields, body string) *fetch.Page {
	t.Helper()
	p, ok := fetch.Stored([]byte("http://a.test/"), fmt.Appendf(nil,
		"HTTP/1.1 %d X\r\nContent-Type: text/html\r\n%sContent-Length: %d\r\n\r\n%s", status, fields, len(body), body))
	if !ok {
		t.Fatal("no response")
	}
	return p
}

// wallOf is an answer that has what a rule asks for, in capitals where case does not matter.
func wallOf(t testing.TB, r *rule, title string) *fetch.Page {
	t.Helper()
	fields, status := "", 200
	if r.field != "" {
		fields = strings.ToUpper(r.field) + ": A-" + strings.ToUpper(r.value) + "-Z\r\n"
	}
	if r.statuses != nil {
		status = r.statuses[0]
	}
	return answer(t, status, fields,
		"<head><TITLE lang=en>\n "+strings.ToUpper(title)+" </TITLE><p "+r.marker+">Prove it.</p>")
}

// Each rule of the table has an answer that is its wall, for each of its titles.
func TestWalls_ofEachServiceAreFound(t *testing.T) {
	d, table := NewDetector(), BuiltIn()
	for _, r := range builtIn() {
		titles := r.titles
		if titles == nil {
			titles = []string{"any"}
		}
		for _, title := range titles {
			if got := d.Service(table, wallOf(t, &r, title)); got != r.service {
				t.Errorf("%+v: service %q", r, got)
			}
			if got := d.Service(None(), wallOf(t, &r, title)); got != "" {
				t.Errorf("without rules, the wall of %s", got)
			}
		}
		if r.field == "" && (r.statuses == nil || r.marker == "" && r.titles == nil) {
			t.Errorf("%+v: a page may match", r)
		}
	}
}

// Pages behind the same services, pages about walls, refusals of the site itself and forms with a captcha are pages.
func TestWalls_pagesAreNone(t *testing.T) {
	d, table := NewDetector(), BuiltIn()
	about := "<title>Just a moment...</title><p>px-captcha, _cf_chl_opt, captcha-delivery.com, anubis_challenge"
	form := `<div class="g-recaptcha">`
	for _, c := range []struct {
		status       int
		fields, body string
	}{
		{200, "", about},
		{200, "", "<title>Captcha</title>" + form},
		{404, "", "<title>Security check</title>" + form},
		{200, "Server: cloudflare\r\nCF-Ray: 1\r\n",
			about + `<script src="https://static.cloudflareinsights.com/beacon.min.js">`},
		{200, "X-DataDome: protected\r\n", about},
		{200, "X-Iinfo: 1-2-3\r\n", `<script src="/_Incapsula_Resource?SWJIYLWA=1"></script>Text`},
		{200, "Server: AkamaiGHost\r\n", "Reference&#32;&#35;18"},
		{200, "X-Sucuri-ID: 1\r\nX-Sucuri-Cache: HIT\r\n", "text"},
		{200, "Set-Cookie: anubis-auth=1\r\n", "behind the wall"},
		{200, "X-Amzn-RequestId: 1\r\nX-Vercel-Id: 1\r\nX-Vercel-Cache: HIT\r\n", form},
		{403, "Server: nginx\r\n", "<title>403 Forbidden</title>"},
		{403, "Server: cloudflare\r\n", "<title>Access denied</title>Forbidden"},
		{403, "", "<title>Members only</title><input type=\"password\">" + form},
		{403, "", "<title>Our shop</title>" + strings.Repeat("navigation ", captchaMost/11) + form},
		{403, "", "<title>How we built a robot check</title>"},
		{503, "", "<title>Under maintenance</title>Tell me when it is done: " + form},
		{429, "", "<title>Too Many Requests</title>"},
		{202, "", "<title>Accepted</title>"},
		{503, "Server: ddos-guard\r\n", "Maintenance"},
		{403, "Server: AkamaiGHost\r\n", strings.Repeat("x", bodyMax) + "Reference&#32;&#35;18"},
		{302, "Location: /login?back=https://consent.google.com/m\r\n", ""},
		{302, "Location: https://a.test/consent\r\n", ""},
		{200, "Location: https://consent.google.com/m\r\n", "text"},
		{302, "Location: https://www.google.com/search?q=/sorry/\r\n", ""},
	} {
		if got := d.Service(table, answer(t, c.status, c.fields, c.body)); got != "" {
			t.Errorf("%d %q %q: the wall of %s", c.status, c.fields, c.body[:min(len(c.body), 80)], got)
		}
	}
}

func BenchmarkService(b *testing.B) {
	d, table := NewDetector(), BuiltIn()
	p := answer(b, 200, "Server: nginx\r\nDate: Sat, 28 Nov 2026 06:00:00 GMT\r\nX-Powered-By: a\r\n"+
		"X-Frame-Options: DENY\r\n"+
		"Cache-Control: no-cache\r\nSet-Cookie: session=abcdef0123456789; Path=/; HttpOnly\r\nVary: Accept\r\n", "text")
	b.ReportAllocs()
	for b.Loop() {
		if d.Service(table, p) != "" {
			b.Fatal("a wall")
		}
	}
}

// A redirect to a log-in page is told by its host and path, and without an allocation.
func TestLeadsToLogIn(t *testing.T) {
	for target, want := range map[string]bool{
		"/account/LogIn?back=/x": true, "https://sso.example.org/": true, "/auth/realms/x": true, "/consent?u=/": true,
		"/authors": false, "/x?back=/login": false, "": false, "https://example.org/blog/catalogue": false, "/ssd": false,
	} {
		if got := LeadsToLogIn([]byte(target)); got != want {
			t.Errorf("%s: %v", target, got)
		}
	}
	target := []byte("https://example.org/a/page/that/was/moved?back=/login")
	if n := testing.AllocsPerRun(10, func() { LeadsToLogIn(target) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}
