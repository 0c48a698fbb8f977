package hostile

import "strconv"

// answer is what a path is answered with: text, as it is.
type answer struct{ path, text string }

// says makes a case of such answers. Behind each the connection ends.
func says(id string, answers ...answer) Case {
	c := Case{ID: id, Play: func(x *Exchange) {
		for i := range answers {
			if x.Path == answers[i].path {
				x.Write(answers[i].text)
				return
			}
		}
		x.Page("404 Not Found", "", "")
	}}
	for i := range answers {
		c.Seeds = append(c.Seeds, answers[i].path)
	}
	return c
}

// made is an answer that takes some work, which is done when it is asked for.
type made struct {
	path string
	text func() string
}

// makes is says of such answers.
func makes(id string, list ...made) Case {
	c := Case{ID: id, Play: func(x *Exchange) {
		for i := range list {
			if x.Path == list[i].path {
				x.Write(list[i].text())
				return
			}
		}
		x.Page("404 Not Found", "", "")
	}}
	for i := range list {
		c.Seeds = append(c.Seeds, list[i].path)
	}
	return c
}

// named is an answer that begins so, and has its path as its body: no two of them are alike.
func named(path, begin string) answer {
	return answer{path, begin + "\r\nContent-Length: " + strconv.Itoa(len(path)) + "\r\n\r\n" + path}
}

// The beginnings of most answers.
const (
	okLine    = "HTTP/1.1 200 OK\r\n"
	okHTML    = okLine + "Content-Type: text/html\r\n"
	okChunked = okHTML + "Transfer-Encoding: chunked\r\n\r\n"
)
