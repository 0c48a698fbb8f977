package hostile

import (
	"slices"
	"time"
)

// http1 holds the abuses of HTTP/1.
func http1() []Case {
	return slices.Concat(slow(), heads(), bodies(), chunks(), odd(), kept(), cookies())
}

// slow are the cases that take time.
func slow() []Case {
	return []Case{
		{ID: "H01", Play: func(x *Exchange) { // a byte of the head each ten seconds
			for _, b := range []byte("HTTP/1.1 200 OK\r\nServer: slow and steady wins the race against no rival at all\r\n") {
				if !x.Send([]byte{b}) || !x.Pause(10*time.Second) {
					return
				}
			}
		}},
		{ID: "H02", Play: func(x *Exchange) { // a byte of the body each second, for ever
			x.Write("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<p>drip")
			for x.Write(".") && x.Pause(time.Second) {
			}
		}},
		{ID: "H03", Play: func(x *Exchange) { x.Wait() }}, // accepted, then silence
		{ID: "H28", Seeds: []string{"/multipart", "/events", "/radio"}, Play: playEndless},
	}
}

// playEndless sends what is not meant to end.
func playEndless(x *Exchange) {
	switch x.Path {
	case "/multipart":
		x.Write("HTTP/1.1 200 OK\r\nContent-Type: multipart/x-mixed-replace; boundary=frame\r\n\r\n")
		x.Repeat("--frame\r\nContent-Type: image/jpeg\r\nContent-Length: 4\r\n\r\n\xff\xd8\xff\xd9\r\n", 0)
	case "/events": // some bytes now and then
		x.Write("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n")
		for x.Write("event: tick\ndata: {}\n\n") && x.Pause(15*time.Second) {
		}
	case "/radio": // as fast as one can listen
		x.Write("ICY 200 OK\r\nContent-Type: audio/mpeg\r\nicy-metaint: 16384\r\n\r\n")
		for x.Repeat("\xff\xfb\x90\x00 la la la", 16<<10) && x.Pause(time.Second) {
		}
	default:
		x.Page("404 Not Found", "", "")
	}
}
