package hostile

import "strings"

// heads are the cases of heads that are too much, or not what they should be.
func heads() []Case {
	return []Case{
		{ID: "H04", Seeds: []string{"/line", "/lines"}, Play: func(x *Exchange) {
			x.Write(okLine)
			if x.Path == "/lines" { // each of them within reason
				x.Repeat("X-Line: "+strings.Repeat("x", 40<<10)+"\r\n", 0)
				return
			}
			x.Write("X-Endless: ")
			x.Repeat("x", 0)
		}},
		{ID: "H05", Seeds: []string{"/many", "/1000", "/1001"}, Play: func(x *Exchange) {
			x.Write(okLine + "Content-Length: 2\r\n")
			fields := map[string]int64{"/1000": 999, "/1001": 1000}[x.Path]
			if fields == 0 {
				fields = 100_000
			}
			if x.Repeat("a: b\r\n", 6*fields) {
				x.Write("\r\nhi")
			}
		}},
		says(
			"H15",
			answer{"/html", "<html><a href=\"/found\">no head at all</a></html>\n"},
			answer{"/binary", "\x00\x01\x02\xff"},
			answer{"/ssh", "SSH-2.0-OpenSSH_9.6\r\n"},
		),
		says(
			"H16",
			named("/no-reason", "HTTP/1.1 200"),
			named("/two-spaces", "HTTP/1.1  200 OK"),
			named("/tab", "HTTP/1.1\t200"),
			named("/icy", "ICY 200 OK"),
			named("/3.7", "HTTP/3.7 200 OK"),
			named("/lower", "http/1.1 200 ok"),
			named("/glued", "HTTP/1.1 200OK"),
			named("/no-version", "HTTP 200 OK"),
			named("/mark", "\xef\xbb\xbfHTTP/1.1 200 OK"),
			named("/before", "1\n34HTTP/1.1 200 OK"),
			named("/too-much-before", "12345HTTP/1.1 200 OK"),
			named("/no-status", "HTTP/1.1 OK"),
			named("/four-digits", "HTTP/1.1 2000 OK"),
			named("/cut", "HTTP/1.1"),
		),
		statuses("000", "099", "600", "999", "20", "7"),
		says(
			"H18",
			named("/nul", okLine+"A: b\x00c"),
			named("/cr", okLine+"A: b\rc\r\r"),
			answer{"/lf", "HTTP/1.1 200 OK\nContent-Type: text/html\nContent-Length: 3\n\n/lf"},
			answer{
				"/folded",
				okLine + "Content-Type: text/html;\r\n charset=utf-8\r\nContent-Length:\r\n\t7\r\n\r\n/folded",
			},
			answer{"/folded-away", "HTTP/1.1 302 Found\r\nLocation:\r\n   /lf?found\r\nContent-Length: 0\r\n\r\n"},
		),
		{ID: "H19", Seeds: []string{"/encoded", "/unicode", "/bare", "/page"}, Play: playSplitting},
		{ID: "H20", Seeds: []string{"/100", "/103", "/20"}, Play: func(x *Exchange) {
			const hint = "HTTP/1.1 103 Early Hints\r\nLink: </style.css>; rel=preload\r\n\r\n"
			switch x.Path {
			case "/100":
				x.Repeat("HTTP/1.1 100 Continue\r\n\r\n", 25*10_000)
			case "/103":
				x.Repeat(hint, int64(len(hint))*10_000)
			default:
				x.Repeat(hint, int64(len(hint))*20)
			}
			x.HTML("at last")
		}},
		{ID: "H21", Seeds: []string{"/upgrade", "/connect"}, Play: func(x *Exchange) {
			if x.Path == "/connect" { // as a proxy answers CONNECT: nothing follows until the client speaks
				x.Write("HTTP/1.1 200 Connection established\r\n\r\n")
			} else {
				x.Write("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n\x81\x05hello")
			}
			x.Wait()
		}},
	}
}

// statuses makes case H17 of numbers; each is the path, too.
func statuses(numbers ...string) Case {
	var answers []answer
	for _, n := range numbers {
		answers = append(answers, named("/"+n, "HTTP/1.1 "+n+" Odd"))
	}
	return says("H17", answers...)
}

// playSplitting has references that would be line breaks, if a client decoded them, and would then be a field of their
// own.
func playSplitting(x *Exchange) {
	to := map[string]string{
		"/encoded": "/a%0d%0aEvil:%20yes%0d%0a%0d%0aGET%20/stolen",
		"/unicode": "/b\u560d\u560aEvil: yes", // the low bytes of these two are CR and LF
		"/bare":    "/c\nEvil: yes",
	}[x.Path]
	if to != "" {
		x.Page("302 Found", "Location: "+to+"\r\n", "")
		return
	}
	x.HTML(
		"<a href=\"/d%0D%0AEvil:%20yes\">d</a> <a href=\"/e\r\nEvil: yes\">e</a> <a href=\"/f?&#13;&#10;Evil: yes\">f</a>",
	)
}
