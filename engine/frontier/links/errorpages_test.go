package links

import "testing"

// What is taken of a body depends on the status of the response.
func TestStatus_saysWhatIsTakenOfABody(t *testing.T) {
	const body = "<meta http-equiv=refresh content='0;url=/home'><link rel=stylesheet href=/a.css><a href=/b>b</a>" +
		"<img src=c.png><iframe src=/d></iframe><form action=/e></form><link rel=next href=/f>"
	const all = "refresh /home resource /a.css anchor /b image /dir/c.png iframe /d form /e link /f"
	const shown = "refresh /home resource /a.css image /dir/c.png iframe /d"
	for _, c := range []struct{ head, want string }{
		{"200 OK\r\nContent-Type: text/html\r\n", all},
		{"300 Multiple Choices\r\nContent-Type: text/html\r\n", all},
		{"302 Found\r\nContent-Type: text/html\r\n", all},
		{"403 Forbidden\r\nContent-Type: text/html\r\n", shown},
		{"404 Not Found\r\nContent-Type: text/html; charset=utf-8\r\n", shown},
		{"410 Gone\r\nContent-Type: application/xhtml+xml\r\n", shown},
		{"404 Not Found\r\n", shown},
		{"500 Internal Server Error\r\nContent-Type: text/html\r\nRefresh: 3; url=/g\r\n", shown + " refresh /g"},
		{"503 Service Unavailable\r\nContent-Type: text/html\r\nLink: </h.css>; rel=preload, </i>; rel=next\r\n" +
			"Content-Location: /j\r\n", shown + " resource /h.css"},
		{"404 Not Found\r\nContent-Type: text/plain\r\n", ""},
		{"404 Not Found\r\nContent-Type: text/css\r\n", ""},
		{"300 Multiple Choices\r\nContent-Type: application/json\r\nLink: </k>; rel=alternate\r\n", "link /k"},
	} {
		if got := headLinks(t, NewFinder(Options{Forms: true}), "HTTP/1.1 "+c.head+"\r\n"+body); got != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", c.head, got, c.want)
		}
	}
}
