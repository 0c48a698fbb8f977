package robots

import (
	"fmt"
	"strings"
	"testing"
)

// ordinary returns a robots.txt of the usual size.
func ordinary() []byte {
	var s strings.Builder
	s.WriteString("User-agent: *\nCrawl-delay: 2\n")
	for i := range 20 {
		fmt.Fprintf(&s, "Disallow: /section%d/private/\nAllow: /section%d/private/about.html\n", i, i)
	}
	s.WriteString("Disallow: /*?sessionid=\nDisallow: /*.cgi$\nSitemap: https://example.com/sitemap.xml\n")
	return []byte(s.String())
}

// hostile returns files of the largest size, and paths, that are expensive to match.
func hostile() map[string][2]string {
	file := func(rules int, line func(i int) string) string {
		var s strings.Builder
		s.WriteString("User-agent: *\n")
		for i := range rules {
			s.WriteString(line(i))
		}
		return s.String()
	}
	a := "/" + strings.Repeat("a", 8000)
	return map[string][2]string{
		"a*a*a$": {file(5000, func(i int) string {
			return fmt.Sprintf("Disallow: /%sb%d$\n",
				strings.Repeat("*a", 45), i)
		}), a},
		"a*a*ab": {file(5000, func(i int) string {
			return fmt.Sprintf("Disallow: /%s*b%d\n",
				strings.Repeat("*a", 44), i)
		}), a},
		"aa*aa*ab": {file(5000, func(i int) string {
			return fmt.Sprintf("Disallow: /*%sb%d\n",
				strings.Repeat("a", 85), i)
		}), a},
		"has all": {file(5000, func(i int) string {
			return fmt.Sprintf("Disallow: /%s*b%d\n",
				strings.Repeat("*a", 44), i)
		}), a + "0123456789b"},
		"many short": {file(36000, func(i int) string { return fmt.Sprintf("Allow:/*%cb%c\n", 'c'+i%20, 'c'+i/20%20) }),
			a + "bcdefghijklmnopqrstuvwx"},
		"prefixes": {file(20000, func(i int) string { return fmt.Sprintf("Disallow: /aaaaa%d\n", i) }), a},
	}
}

func BenchmarkParse(b *testing.B) {
	body := ordinary()
	b.ReportAllocs()
	b.SetBytes(int64(len(body)))
	for b.Loop() {
		Parse(body, "orbweaver")
	}
}

func BenchmarkAllowed(b *testing.B) {
	r := Parse(ordinary(), "orbweaver")
	for _, path := range []string{"/section7/public/page.html?id=4", "/section7/private/x", "/caf%C3%A9/%7Euser"} {
		b.Run(path, func(b *testing.B) {
			p := []byte(path)
			b.ReportAllocs()
			for b.Loop() {
				r.Allowed(p)
			}
		})
	}
}

func BenchmarkHostile(b *testing.B) {
	for name, h := range hostile() {
		b.Run(name, func(b *testing.B) {
			r, path := Parse([]byte(h[0]), "orbweaver"), []byte(h[1])
			b.ReportAllocs()
			for b.Loop() {
				r.Allowed(path)
			}
		})
	}
}
