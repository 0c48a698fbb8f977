package robots

import "testing"

func TestLongestMatchWinsAndAllowWinsTies(t *testing.T) {
	r := Parse([]byte("\ufeffuser-agent: other\nUser-Agent: OrbWeaver/2.0\r\nDisallow: /a # x\rAllow: /a/*.html$\nallow: /t\ndisallow: /t\nCrawl-delay: 1.5\nSitemap: http://x/s.xml\n"), "orbweaver")
	for path, want := range map[string]Verdict{
		"/":           {Allowed: true},
		"/a":          {Line: 3, Rule: "Disallow: /a"},
		"/%61b":       {Line: 3, Rule: "Disallow: /a"},
		"/a/b.html":   {Allowed: true, Line: 4, Rule: "Allow: /a/*.html$"},
		"/a/b.html?":  {Line: 3, Rule: "Disallow: /a"},
		"/t":          {Allowed: true, Line: 5, Rule: "allow: /t"},
		"/robots.txt": {Allowed: true},
	} {
		if got := r.Explain([]byte(path)); got != want {
			t.Errorf("%s: got %+v, want %+v", path, got, want)
		}
	}
	if d, ok := r.CrawlDelay(); !ok || d.Milliseconds() != 1500 {
		t.Errorf("delay %v %v", d, ok)
	}
	if s := r.Sitemaps(); len(s) != 1 || s[0] != "http://x/s.xml" {
		t.Errorf("sitemaps %q", s)
	}
	if DenyAll().Allowed([]byte("/")) || !AllowAll().Allowed([]byte("/")) || !DenyAll().Allowed([]byte("/robots.txt")) {
		t.Error("constants")
	}
	if len(DenyAll().Sitemaps()) != 0 {
		t.Error("sitemaps of nothing")
	}
}
