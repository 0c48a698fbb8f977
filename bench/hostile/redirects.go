package hostile

import (
	"fmt"
	"strconv"
	"strings"
)

// redirects holds the abuses of redirects. R06 leads to private addresses and R08 to one victim from very many hosts.
func redirects() []Case {
	return []Case{
		{ID: "R01", Seeds: []string{"/self", "/a", "/ring/0", "http://n0.r01.test/"}, Play: ring},
		{ID: "R02", Play: func(x *Exchange) { x.redirect("/?" + strings.Repeat("q", len(x.Path)*3/2)) }},
		{ID: "R03", Play: wantsCookie},
		{ID: "R04", Play: func(x *Exchange) { x.redirects(oddLocations) }},
		{ID: "R05", Play: func(x *Exchange) { x.redirects(foreignLocations) }},
		{ID: "R06", Play: func(x *Exchange) {
			x.redirects(
				[]string{
					"http://10.0.0.1/",
					"http://169.254.169.254/latest/meta-data/",
					"http://127.0.0.1/",
					"http://[::1]/",
					"http://0x7f.1/",
					"http://[::ffff:192.168.0.1]/",
					"http://localhost/",
				},
			)
		}},
		{ID: "R07", Play: refreshes},
		{ID: "R08", Play: func(x *Exchange) {
			switch name, _, _ := strings.Cut(x.Host, "."); {
			case name == "victim":
				x.HTML("victim")
			case strings.HasPrefix(name, "n"):
				x.redirect("http://victim.r08.test/" + name)
			default:
				x.HTML(links("http://n%d.r08.test/", 1000))
			}
		}},
	}
}

// ring is R01: a redirect to itself, one to another and back, rings of thirty on one host and over thirty.
func ring(x *Exchange) {
	next := func(n string) int {
		i, _ := strconv.Atoi(n) // anything else leads to the first
		return (i + 1) % 30
	}
	switch number, ringed := strings.CutPrefix(x.Path, "/ring/"); {
	case x.Path == "/a":
		x.redirect("/b")
	case x.Path == "/b":
		x.redirect("/a")
	case ringed:
		x.redirect("/ring/" + strconv.Itoa(next(number)))
	case x.Path == "/":
		number, _, _ = strings.Cut(strings.TrimPrefix(x.Host, "n"), ".")
		x.redirect("http://n" + strconv.Itoa(next(number)) + ".r01.test/")
	default:
		x.redirect(x.Path)
	}
}

// wantsCookie is R03: without its cookie the page is not sent. A client that is sent for the cookie comes back without
// it, since it is of the other scheme.
func wantsCookie(x *Exchange) {
	switch {
	case strings.Contains(string(x.Head), "pass=1"):
		x.HTML("<a href=/in>in</a>")
	case x.TLS:
		x.Page("302 Found", "Location: http://"+x.Host+"/\r\nSet-Cookie: pass=1; Secure\r\n", "")
	default:
		x.redirect("https://" + x.Host + "/")
	}
}

// oddLocations are the targets of R04, in order of the paths that redirect to them.
var oddLocations = []string{
	"", "relative", "//x.r04.test/slashes", "\\\\x.r04.test\\backslashes", "http:///x.r04.test/three",
	"http:\\\\x.r04.test/mixed",
	"/long?" + strings.Repeat(
		"x",
		64_000,
	), "/a\x01b\x1bc", "/tab\tinside", "http://b\u00fccher.r04.test/", "/caf\xe9", "/fragment#part",
	"?query", "#", "http://", "http://[::1", "http://a b/", "http://x.r04.test:99999/",
	"HTTP://X.R04.TEST:80/upper/../case", "/%0d%0aX-Evil:%201",
}

// foreignLocations are those of R05.
var foreignLocations = []string{
	"file:///etc/passwd", "gopher://r05.test/", "javascript:alert(1)", "data:text/html,<a href=http://r05.test/no>",
	"ftp://r05.test/", "about:blank",
	"view-source:http://r05.test/no", "ws://r05.test/", "blob:http://r05.test/1", "tel:+1",
}

// moved are the statuses of R07 that come with a Location, and whether a browser goes there.
var moved = map[int]bool{
	300: false,
	301: true,
	302: true,
	303: true,
	304: false,
	305: false,
	306: false,
	307: true,
	308: true,
	399: false,
	201: false,
}

// refreshes is R07.
func refreshes(x *Exchange) {
	name := strings.Trim(x.Path, "/")
	status, err := strconv.Atoi(name)
	switch {
	case err == nil && status == 304:
		x.Write("HTTP/1.1 304 Not Modified\r\nLocation: /from-304\r\n\r\n")
	case err == nil:
		x.Page(name+" Moved", "Location: /from-"+name+"\r\n", "")
	case name == "header":
		x.Page("200 OK", "Content-Type: text/plain\r\nRefresh: 0; url=/from-header\r\n", "wait")
	case name == "empty":
		x.Page("200 OK", "Refresh: 5;URL='/from-empty'\r\n", "")
	case name == "meta":
		x.HTML(`<meta http-equiv=refresh content="0; url=/from-meta">`)
	case name == "alone":
		x.Page("200 OK", "Refresh: 3\r\n", "the same again")
	case strings.HasPrefix(name, "from-"):
		x.HTML(name)
	default:
		body := "<a href=/header></a><a href=/empty></a><a href=/meta></a><a href=/alone></a>"
		for status := range moved {
			body += fmt.Sprintf("<a href=/%d></a>", status)
		}
		x.HTML(body)
	}
}

// links are so many links, numbered.
func links(format string, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "<a href='"+format+"'></a>\n", i)
	}
	return b.String()
}
