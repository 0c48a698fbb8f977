package control

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"
)

// Pages says where a server of pages listens, and for which crawl.
type Pages struct {
	Options // of the server; Token is not used. History names the files of a crawl that has ended

	Crawl *Client
	// NewLogin hears the code of the next login at addr: at the start, and whenever a browser has used one. Calls follow
	// each other.
	NewLogin func(addr, code string)
}

// ListenPages serves the dashboard of a crawl that listens elsewhere, until Close. A browser logs in with a code, which
// is valid once.
func ListenPages(ctx context.Context, o Pages) (*Server, error) {
	o.Options = o.withDefaults()
	o.Token = rand.Text() // no client learns it: it signs sessions
	logins := &oneTimeLogins{newLogin: o.NewLogin, code: rand.Text()}
	answers := &forwarder{crawl: o.Crawl, ended: endedCrawl{o.History, o.Log}}
	s, err := serve(ctx, o.Options, logins.isRight, answers, func(context.Context) {})
	if err != nil {
		return nil, err
	}
	logins.announce(s.Addr())
	return s, nil
}

// oneTimeLogins gives out codes, each for one login.
type oneTimeLogins struct {
	newLogin func(addr, code string)

	mu   sync.Mutex
	addr string
	code string
}

// announce says the first code, and where it is used.
func (l *oneTimeLogins) announce(addr string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.addr = addr
	l.newLogin(addr, l.code)
}

// isRight says whether a code is the current one. That ends with it.
func (l *oneTimeLogins) isRight(code string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if subtle.ConstantTimeCompare([]byte(strings.TrimSpace(code)), []byte(l.code)) != 1 {
		return false
	}
	l.code = rand.Text()
	l.newLogin(l.addr, l.code)
	return true
}

// forwarder passes requests on to a crawl, and its answers back as they come.
type forwarder struct {
	crawl *Client
	ended endedCrawl // answers when no process does
}

// ServeHTTP passes one request on. What only browsers send stays here.
func (f *forwarder) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	conn := http.NewResponseController(w)
	if r.Method == http.MethodGet {
		_ = conn.SetReadDeadline(time.Time{}) // the deadline of the request's body would end a stream
	}
	resp, err := f.crawl.forward(r)
	switch {
	case errors.Is(err, ErrNotRunning):
		f.ended.ServeHTTP(w, r)
		return
	case err != nil:
		http.Error(w, "the crawl does not answer", http.StatusBadGateway)
		return
	}
	defer resp.Body.Close()
	for _, name := range []string{"Content-Type", "Retry-After", "X-Accel-Buffering"} {
		if value := resp.Header.Get(name); value != "" {
			w.Header().Set(name, value)
		}
	}
	w.WriteHeader(resp.StatusCode)
	buffer := make([]byte, 32<<10)
	for {
		n, err := resp.Body.Read(buffer)
		_ = conn.SetWriteDeadline(time.Now().Add(answerMax)) // without a connection no client is slow
		if n > 0 {
			if _, err := w.Write(buffer[:n]); err != nil {
				return
			}
			if err := conn.Flush(); err != nil {
				return
			}
		}
		if err != nil {
			endStream(err, resp)
			return
		}
	}
}

// endStream closes the connection of an answer that was cut off, so that the browser does not take it for whole.
func endStream(err error, resp *http.Response) {
	if !errors.Is(err, io.EOF) && resp.ContentLength < 0 {
		panic(http.ErrAbortHandler)
	}
}
