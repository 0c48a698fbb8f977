package hostile

import (
	"regexp"
	"strings"
	"testing"

	"orbweaver/engine"
	"orbweaver/engine/net/cookie"
	"orbweaver/internal/outcome"
)

// What a site has us say again is bounded, and is sent to no other site. No list of public suffixes is asked: a cookie
// goes back to the very site that set it.
func TestHostile_H29_cookiesAreFewAndStayAtHome(t *testing.T) {
	play(t, "H29", func(c *engine.Config) { c.Cookies.Mode = cookie.Site }, func(tr *trial) {
		told := regexp.MustCompile(`(?m)^Cookie: (.*)\r$`)
		some := false
		for _, r := range tr.requests("h29.test") {
			for _, m := range told.FindAllStringSubmatch(r, -1) {
				some = true
				if n := strings.Count(m[1], "="); n > 50 || len(m[1]) > 8<<10 {
					tr.Errorf("%d cookies in %d bytes: %.100s", n, len(m[1]), m[1])
				}
				for _, never := range []string{
					"large=", "huge=", "__Host-evil", "__Secure-evil", "evil=", "evil-com", "evil-other", "evil-example", "evil-x",
					"evil-path",
				} {
					if strings.Contains(m[1], never) {
						tr.Errorf("%s is told: %.100s", never, m[1])
					}
				}
			}
			if strings.Contains(r, "robots.txt") && strings.Contains(r, "Cookie") {
				tr.Errorf("robots.txt was asked for with cookies: %q", r)
			}
		}
		if !some {
			tr.Error("no cookie was told: nothing is proven")
		}
		for _, host := range []string{"x.h29.test", "other-h29.test"} {
			list := tr.requests(host)
			if len(list) < 2 || strings.Contains(strings.Join(list, ""), "Cookie:") {
				tr.Errorf("%s was told: %q", host, list)
			}
		}
		tr.wants("http://h29.test/huge", outcome.HeaderTooLarge)
		if tr.report.Cookies > 50 {
			tr.Errorf("%d cookies are kept", tr.report.Cookies)
		}
	})
}
