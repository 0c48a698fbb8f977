package cdxj

import "bytes"

// Names are what records say of each other: WARC-Record-ID and WARC-Concurrent-To.
type Names struct{ ID, To string }

// fit reports whether one of two records names the other.
func (n Names) fit(other Names) bool {
	return other.ID != "" && n.To == other.ID || n.ID != "" && other.To == n.ID
}

// Exchanges gives captures that answer another request than GET their method, and what its body becomes in their key.
// It is told of all records in the order of their file. Request and capture lie beside each other, with the same target
// URI, and one names the other, as cdxj-indexer wants it.
type Exchanges struct {
	// Add is called with each capture and its place, in order.
	Add func(c *Entry, offset, length int64)

	capture waitingCapture
	request waitingRequest
}

// waitingCapture is a capture whose request may lie behind it.
type waitingCapture struct {
	Entry
	Names

	offset, length int64
	waits          bool
}

// waitingRequest is a request that is not GET, whose capture may lie behind it.
type waitingRequest struct {
	Names

	uri, method, query string
}

// Request takes a request: its names, its target URI, and the start of its message.
func (x *Exchanges) Request(names Names, uri, text []byte) {
	r := waitingRequest{Names: names, uri: string(uri)}
	r.method, r.query = readRequest(text)
	if x.capture.waits && x.join(r) {
		r = waitingRequest{}
	}
	x.Flush()
	x.request = r
}

// Other takes a record that is neither request nor capture.
func (x *Exchanges) Other() {
	x.Flush()
	x.request = waitingRequest{}
}

// Capture takes a capture with its place.
func (x *Exchanges) Capture(names Names, c *Entry, offset, length int64) {
	x.Flush()
	x.capture = waitingCapture{Entry: *c, Names: names, offset: offset, length: length, waits: true}
	if x.join(x.request) {
		x.Flush()
	}
	x.request = waitingRequest{}
}

// join reports whether a request is that of the capture that waits, and adds it to it.
func (x *Exchanges) join(r waitingRequest) bool {
	c := &x.capture
	if r.method == "" || r.method == "GET" || r.uri != string(c.URI) || !c.fit(r.Names) {
		return false
	}
	c.Method, c.Request = r.method, r.query
	return true
}

// Flush adds the capture that waits. It is called behind the last record, too.
func (x *Exchanges) Flush() {
	if x.capture.waits {
		x.Add(&x.capture.Entry, x.capture.offset, x.capture.length)
	}
	x.capture = waitingCapture{}
}

// methodMost is the longest method that is read, in bytes.
const methodMost = 20

// readRequest returns the method of a request, and what its body becomes in a key; "" if it is none.
func readRequest(text []byte) (method, query string) {
	first, rest, _ := bytes.Cut(text, []byte("\r\n"))
	word, _, ok := bytes.Cut(first, []byte(" "))
	if !ok || len(word) == 0 || len(word) > methodMost || len(bytes.Trim(word, "ABCDEFGHIJKLMNOPQRSTUVWXYZ")) > 0 {
		return "", ""
	}
	if string(word) == "GET" {
		return "GET", ""
	}
	fields, body, _ := bytes.Cut(rest, []byte("\r\n\r\n"))
	contentType := ""
	for line := range bytes.SplitSeq(fields, []byte("\r\n")) {
		if name, value, _ := bytes.Cut(line, []byte(":")); bytes.EqualFold(name, []byte("Content-Type")) {
			contentType = string(bytes.TrimSpace(value))
			break
		}
	}
	return string(word), RequestQuery(contentType, body)
}
