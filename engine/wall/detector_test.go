package wall

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"orbweaver/engine/fetch"
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

// Each service has an answer that is its wall. Each rule of the table decides one of them.
func TestWalls_ofEachServiceAreFound(t *testing.T) {
	d := NewDetector()
	for _, r := range slices.Concat(rules[:], anyHead[:]) {
		fields, status := "", 200
		if r.field != "" {
			fields = strings.ToUpper(r.field) + ": A-" + r.value + "-Z\r\n"
		}
		if r.statuses != nil {
			status = r.statuses[0]
		}
		if got := d.Service(answer(t, status, fields, "<p "+r.marker+">Prove it.</p>")); got != r.service {
			t.Errorf("%+v: service %q", r, got)
		}
		if r.field != "" && !mayMatch([]byte(r.field)) {
			t.Errorf("%s is passed over", r.field)
		}
		if r.field == "" && r.statuses == nil {
			t.Errorf("%+v: a page may match", r)
		}
	}
}

// Pages behind the same services, pages about walls and forms with a captcha are pages.
func TestWalls_pagesAreNone(t *testing.T) {
	d := NewDetector()
	about := "<title>How captchas work</title><p>px-captcha, _cf_chl_opt, captcha-delivery.com, anubis_challenge"
	for _, c := range []struct {
		status       int
		fields, body string
	}{
		{200, "", about},
		{200, "Server: cloudflare\r\nCF-Ray: 1\r\n",
			about + `<script src="https://static.cloudflareinsights.com/beacon.min.js">`},
		{200, "X-DataDome: protected\r\n", about},
		{200, "X-Iinfo: 1-2-3\r\n", `<script src="/_Incapsula_Resource?SWJIYLWA=1"></script>Text`},
		{200, "Server: AkamaiGHost\r\n", "Reference&#32;&#35;18"},
		{200, "X-Sucuri-ID: 1\r\nX-Sucuri-Cache: HIT\r\n", "text"},
		{200, "Set-Cookie: anubis-auth=1\r\n", "behind the wall"},
		{200, "X-Amzn-RequestId: 1\r\nX-Vercel-Id: 1\r\nX-Vercel-Cache: HIT\r\n", `<form><div class="g-recaptcha">`},
		{403, "Server: nginx\r\n", "Forbidden"},
		{403, "Server: cloudflare\r\n", "Forbidden"},
		{503, "Server: ddos-guard\r\n", "Maintenance"},
		{403, "Server: AkamaiGHost\r\n", strings.Repeat("x", bodyMax) + "Reference&#32;&#35;18"},
	} {
		if got := d.Service(answer(t, c.status, c.fields, c.body)); got != "" {
			t.Errorf("%d %q %q: the wall of %s", c.status, c.fields, c.body[:min(len(c.body), 80)], got)
		}
	}
}

func BenchmarkService(b *testing.B) {
	d := NewDetector()
	p := answer(b, 200, "Server: nginx\r\nDate: Sat, 28 Nov 2026 06:00:00 GMT\r\nX-Powered-By: a\r\n"+
		"X-Frame-Options: DENY\r\n"+
		"Cache-Control: no-cache\r\nSet-Cookie: session=abcdef0123456789; Path=/; HttpOnly\r\nVary: Accept\r\n", "text")
	b.ReportAllocs()
	for b.Loop() {
		if d.Service(p) != "" {
			b.Fatal("a wall")
		}
	}
}
