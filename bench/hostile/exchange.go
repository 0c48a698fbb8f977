package hostile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"strings"
	"time"

	"orbweaver/internal/simweb/origin"
)

// Exchange is one request and what is sent for it. Everything that is written goes out as it is.
type Exchange struct {
	Conn   net.Conn
	TLS    bool
	Method string
	Host   string // lower case, without port
	Path   string // with the query
	Head   []byte // the request's line and fields, lent
	Rest   []byte // what came after it already
	Before int    // requests for hosts of the Web that came over Conn before
	Time   int    // how often this URL was asked for before, in this Web

	// Keep has the connection live on after the case returns; otherwise it is closed.
	Keep bool

	status     int
	clientGone bool
}

// Write sends text and says whether the client may still be there.
func (x *Exchange) Write(text string) bool { return x.Send([]byte(text)) }

// Send is Write of bytes. They are borrowed.
func (x *Exchange) Send(b []byte) bool {
	if x.clientGone {
		return false
	}
	if x.status == 0 {
		x.status = statusOf(b)
	}
	if _, err := x.Conn.Write(b); err != nil {
		x.clientGone = true
	}
	return !x.clientGone
}

// Page sends a whole answer: a status line, the fields given, each with its line end, Content-Length, and the body.
func (x *Exchange) Page(status, fields, body string) bool {
	length := "Content-Length: " + strconv.Itoa(len(body))
	return x.Write("HTTP/1.1 " + status + "\r\n" + fields + length + "\r\n\r\n" + body)
}

// HTML is Page of an ordinary document.
func (x *Exchange) HTML(body string) bool {
	return x.Page(
		"200 OK",
		"Content-Type: text/html; charset=utf-8\r\n",
		"<!doctype html><title>hostile</title><body>"+body+"\n",
	)
}

// Pause waits, and is false if the client has gone meanwhile. What the client sends is dropped.
func (x *Exchange) Pause(d time.Duration) bool {
	if x.clientGone {
		return false
	}
	_ = x.Conn.SetReadDeadline(time.Now().Add(d))
	var scrap [512]byte
	for {
		if _, err := x.Conn.Read(scrap[:]); err != nil {
			x.clientGone = !errors.Is(err, os.ErrDeadlineExceeded)
			_ = x.Conn.SetReadDeadline(time.Time{})
			return !x.clientGone
		}
	}
}

// Wait waits until the client goes.
func (x *Exchange) Wait() {
	_ = x.Conn.SetReadDeadline(time.Time{})
	_, err := io.Copy(io.Discard, x.Conn)
	x.clientGone = true
	_ = err // however it went
}

// Repeat sends the same bytes until the client goes or a limit in bytes is reached; 0 is none.
func (x *Exchange) Repeat(text string, limit int64) bool {
	// Large writes: what is being tested is the client, not the patience of the machine.
	block := []byte(text)
	for len(block) < 32<<10 {
		block = append(block, block...)
	}
	block = block[:len(block)/len(text)*len(text)]
	for sent := int64(0); limit == 0 || sent < limit; sent += int64(len(block)) {
		if limit > 0 && limit-sent < int64(len(block)) {
			block = block[:limit-sent]
		}
		if !x.Send(block) {
			return false
		}
	}
	return true
}

// Reset ends the connection with a reset where the transport has one.
func (x *Exchange) Reset() {
	origin.Reset(x.Conn)
	x.clientGone = true
}

// statusOf reads the number of a status line, 0 if there is none.
func statusOf(b []byte) int {
	line, _, _ := bytes.Cut(b, []byte("\n"))
	_, rest, ok := strings.Cut(string(line), " ")
	if !ok || len(rest) < 3 {
		return 0
	}
	n := 0
	for _, c := range rest[:3] {
		if c < '0' || c > '9' {
			return 0
		}
		n = n*10 + int(c-'0')
	}
	return n
}

// pages shows a page at / that leads to those named, and an ordinary page anywhere else.
func (x *Exchange) pages(named map[string]func() string) {
	if x.Path == "/" {
		var b strings.Builder
		for name := range named {
			fmt.Fprintf(&b, "<a href=/%s>.</a>", name)
		}
		x.HTML(b.String() + "<a href=/endless>.</a>")
		return
	}
	if body := named[strings.TrimPrefix(x.Path, "/")]; body != nil {
		x.HTML(body())
		return
	}
	x.HTML("found")
}

// redirect answers 302.
func (x *Exchange) redirect(to string) bool {
	return x.Page("302 Found", "Location: "+to+"\r\n", "")
}

// redirects shows a page at / of the case's first host whose links /0, /1 ... redirect to the targets, and an ordinary
// page anywhere else.
func (x *Exchange) redirects(targets []string) {
	n, err := strconv.Atoi(strings.TrimPrefix(x.Path, "/"))
	switch {
	case x.Path == "/" && strings.Count(x.Host, ".") == 1:
		x.HTML(links("/%d", len(targets)))
	case err == nil && n < len(targets):
		x.redirect(targets[n])
	default:
		x.HTML("here")
	}
}

// linksTo shows a page at / that links to all targets, and an ordinary page anywhere else.
func (x *Exchange) linksTo(targets []string) {
	if x.Path == "/" {
		x.HTML("<a href='" + strings.Join(targets, "'>.</a>\n<a href='") + "'>.</a>")
		return
	}
	x.HTML("here")
}
