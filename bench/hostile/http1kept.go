package hostile

import "time"

// stolen is an answer without a request.
const stolen = okHTML + "Content-Length: 20\r\n\r\n<p>stolen by another"

// late is when an answer that should be over goes on: a client has what it asked for, and does not ask again so soon.
const late = 30 * time.Millisecond

// pages are the paths of a case whose connections are used more than once; the page of each says its path.
func pages(first ...string) []string { return append(first, "/a", "/b", "/c", "/d") }

// page sends the page of a path that leads to nothing, and keeps the connection.
func page(x *Exchange) { x.Keep = x.HTML("<p>this is " + x.Path) }

// odd are the cases of answers that have no body and send one.
func odd() []Case {
	return []Case{
		{ID: "H22", Seeds: pages("/204", "/304", "/204-length"), Play: func(x *Exchange) {
			switch x.Path {
			case "/204":
				x.Keep = x.Write("HTTP/1.1 204 No Content\r\n\r\n" + stolen)
			case "/304":
				x.Keep = x.Write("HTTP/1.1 304 Not Modified\r\nContent-Length: 93\r\n\r\n" + stolen)
			case "/204-length":
				x.Write("HTTP/1.1 204 No Content\r\nContent-Length: 93\r\n\r\n")
				x.Keep = x.Pause(late) && x.Write(stolen)
			default:
				page(x)
			}
		}},
	}
}

// kept are the cases of connections that are used again.
func kept() []Case {
	return []Case{
		{ID: "H23", Seeds: pages(), Play: func(x *Exchange) {
			page(x)
			if x.Path == "/b" || x.Path == "/c" {
				x.Pause(late)
			}
			x.Keep = x.Write("\x00\xffrubbish\r\n\r\n")
		}},
		{ID: "H24", Seeds: pages(), Play: func(x *Exchange) {
			page(x)
			if x.Path == "/b" || x.Path == "/c" {
				x.Pause(late)
			}
			x.Keep = x.Write(stolen)
		}},
		{ID: "H25", Seeds: pages(), Play: func(x *Exchange) {
			if x.Before > 0 && x.Time == 0 { // closed as the request comes
				return
			}
			page(x)
		}},
	}
}
