package hostile

import (
	"strconv"
	"strings"
)

// cookies are the cases of what a client is asked to tell again.
func cookies() []Case {
	return []Case{
		{
			ID:    "H29",
			Seeds: []string{"/many", "/more", "/large", "/foreign", "http://x.h29.test/sub", "http://other-h29.test/"},
			Hosts: []string{"other-h29.test"},
			Play: func(x *Exchange) {
				const set = "Set-Cookie: "
				var b strings.Builder
				switch x.Path {
				case "/many", "/more": // a head has only so many lines
					for i := range 500 {
						name := strings.TrimPrefix(x.Path, "/") + strconv.Itoa(i)
						b.WriteString(set + name + "=" + strings.Repeat("v", 20) + "; Path=/\r\n")
					}
				case "/large":
					b.WriteString(set + "large=" + strings.Repeat("v", 60<<10) + "; Path=/\r\n")
				case "/huge":
					b.WriteString(set + "huge=" + strings.Repeat("v", 1<<20) + "; Path=/\r\n")
				case "/foreign":
					for _, domain := range []string{
						"com", ".com", "test", ".test", "example.com", "other-h29.test", "x.h29.test", "", ".",
					} {
						b.WriteString(
							set + "evil-" + strings.Trim(domain, ".") + "=1; Path=/; Domain=" + domain + "\r\n",
						)
					}
					b.WriteString(
						set + "above=1; Path=/; Domain=h29.test\r\n" + set + "__Host-evil=1; Path=/; Domain=h29.test\r\n" +
							set + "__Host-evil=2; Path=/\r\n" + set + "__Secure-evil=1; Path=/\r\n" + set + "evil\x01=1; Path=/\r\n" +
							set + "evil=a\x7fb; Path=/\r\n" + set + "evil-path=1; Path=/else\r\n",
					)
				}
				body := "<a href=\"/huge\">more</a> <a href=\"/after\">the end</a>"
				x.Page("200 OK", b.String()+"Content-Type: text/html\r\n", body)
			},
		},
	}
}
