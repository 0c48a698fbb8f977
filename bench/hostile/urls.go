package hostile

import (
	"strconv"
	"strings"
)

// urls holds what the URLs of a page do to programs that keep, send and print them.
func urls() []Case {
	return []Case{
		{ID: "U01", Play: func(x *Exchange) { x.linksTo(longURLs) }},
		{ID: "U03", Play: func(x *Exchange) { x.linksTo(dottedURLs) }},
		{ID: "U04", Seeds: []string{"/", "http://user:secret@u04.test/seed"}, Play: userinfo},
		{ID: "U09", Play: escapes},
	}
}

// longURLs are those of U01: the first is as long as 8 KiB allow, the others are longer.
var longURLs = []string{
	"/" + strings.Repeat("a", 8192-len("http://u01.test/")),
	"/" + strings.Repeat("b", 8193-len("http://u01.test/")),
	"/" + strings.Repeat("c", 64<<10),
	"/?" + strings.Repeat("d=1&", 10_000),
	"/" + strings.Repeat("\u00e9", 3000), // short as it is written, three times as long as it is sent
	"http://" + strings.Repeat("e.", 5000) + "u01.test/",
}

// dottedURLs are those of U03.
var dottedURLs = []string{
	"/a/%2e%2e/b", "/a/../../../../c", "/./d/.", "/e//f", "/g%00h", "/i%zz", "/j%2fk", "/l%2Fm", "/%252e%252e/n",
	"/o/%2E%2e/x", "/p\\..\\q", "/r/..;/s", "/t%",
}

// userinfo is U04: user and password must not be sent to any server, in a header or otherwise.
func userinfo(x *Exchange) {
	const as = "http://user:secret@"
	switch head := string(x.Head); {
	case strings.Contains(head, "secret") || strings.Contains(strings.ToLower(head), "authorization"):
		x.Page("500 It Was Told", "", "")
	case x.Path == "/" && x.Host == "u04.test":
		x.HTML(
			"<a href='" + as + "u04.test/in'>.</a><a href='//user:secret@other.u04.test/relative'>.</a><a " +
				"href=/moved>.</a><a href=/@mail/a:b>.</a>" +
				"<a href='" + as + "@u04.test/twice'>.</a><a href='http://user:sec%72et@u04.test/encoded'>.</a>",
		)
	case x.Path == "/moved":
		x.redirect(as + "moved.u04.test/")
	case x.Path == "/in":
		x.Page("401 Unauthorized", "WWW-Authenticate: Basic realm=x\r\n", "")
	default:
		x.HTML("here")
	}
}

// evil would colour a terminal, set its title, begin a line and a record of its own, and turn the direction of the
// text.
const evil = "\x1b[31m\x1b]0;x\x07\r\nWARC/1.1\r\nWARC-Type: warcinfo\r\n\r\n\u202e\x00\x7f\x9b31m"

// escapes is U09.
func escapes(x *Exchange) {
	field := strings.NewReplacer("\r", "", "\n", "", "\x00", "").Replace(evil)
	switch x.Path {
	case "/":
		x.Page(
			"200 OK"+field,
			"Content-Type: text/html; charset=utf-8\r\nX-"+field+": x\r\n",
			"<title>"+evil+"</title><a href='/a"+evil+"b'>.</a>"+
				"<a href='/?q="+evil+"'>.</a><a href='http://"+evil+"u09.test/no'>.</a><a href='http://u09.test:"+evil+"/no'>.</a>"+
				"<a href='/&lt;script>alert(1)&lt;/script>&#34;&#39;'>.</a><a href='javascript:"+evil+"'>.</a><a "+
				"href=/type>.</a><a href=/moved>.</a>",
		)
	case "/type":
		x.Page(
			"200 OK",
			"Content-Type: text/"+field+"html\"\\{}; charset="+field+"\r\nContent-Encoding: "+field+"\r\n",
			"here",
		)
	case "/moved":
		x.redirect("/to" + field)
	default:
		x.HTML("here is " + strconv.Itoa(len(x.Path)))
	}
}
