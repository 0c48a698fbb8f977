package hostile

import "time"

// http1 holds the abuses of HTTP/1.
func http1() []Case {
	return []Case{
		{ID: "H01", Play: func(x *Exchange) { // a byte of the head each ten seconds
			for _, b := range []byte("HTTP/1.1 200 OK\r\nServer: slow and steady wins the race against nobody at all\r\n") {
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
	}
}
