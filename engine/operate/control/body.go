package control

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"os"
	"strings"
	"time"

	"orbweaver/engine/operate/changes"
	"orbweaver/engine/operate/hosts"
	"orbweaver/internal/textfile"
)

// What one request may bring.
const (
	addMax   = 64 << 20  // bytes of URLs: they are read as the crawl takes them
	rulesMax = 1 << 20   // bytes of anything else: it is read whole
	linesMax = 10_000    // lines of anything else
	lineMax  = 128 << 10 // bytes of one line

	// how long we wait for a body's sender in all; how long the sender waits for us does not count
	bodyPatience = time.Minute
	bodiesAtOnce = 4
)

var (
	errBodyLarge = errors.New("control: too much for one request: send it in parts")
	errBodySlow  = fmt.Errorf("control: the body did not come within %v", bodyPatience)
)

// bodies are read a few at a time.
type bodies struct{ turn chan struct{} }

func newBodies() *bodies { return &bodies{turn: make(chan struct{}, bodiesAtOnce)} }

// take lets f read at most limit bytes of a request's body, or refuses.
func (b *bodies) take(limit int64, f func(w http.ResponseWriter, r *http.Request, in *text)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.ContentLength > limit {
			refuse(w, errBodyLarge)
			return
		}
		select {
		case b.turn <- struct{}{}:
			defer func() { <-b.turn }()
		default:
			w.Header().Set("Retry-After", "1")
			refuse(w, errBusy)
			return
		}
		f(w, r, newText(w, r, limit))
	}
}

var errBusy = errors.New("control: other bodies are being read: try again")

// text is the body of a request as lines. It belongs to one handler.
type text struct {
	lines *textfile.Lines
	err   error // why the lines ended, nil at the end of the body
}

func newText(w http.ResponseWriter, r *http.Request, limit int64) *text {
	in := &waited{body: http.MaxBytesReader(w, r.Body, limit), conn: http.NewResponseController(w), timeLeft: bodyPatience}
	return &text{lines: textfile.Read(in, lineMax)}
}

// each gives the lines that are not empty and no comments, as they come. What ended them is in err.
func (t *text) each() iter.Seq[string] {
	return func(yield func(string) bool) {
		for t.lines.Scan() {
			if t.lines.IsCut() {
				t.err = fmt.Errorf("%w: line %d has more than %d bytes", errBodyLarge, t.lines.Number(), lineMax)
				return
			}
			if line := string(t.lines.Text()); line != "" && !strings.HasPrefix(line, "#") && !yield(line) {
				return
			}
		}
		if t.err = t.lines.Err(); t.err != nil {
			if _, large := errors.AsType[*http.MaxBytesError](t.err); large {
				t.err = errBodyLarge
			}
		}
	}
}

// all reads all lines.
func (t *text) all() ([]string, error) {
	var out []string
	for line := range t.each() {
		if len(out) == linesMax {
			return nil, fmt.Errorf("%w: more than %d lines", errBodyLarge, linesMax)
		}
		out = append(out, line)
	}
	return out, t.err
}

// waited is a body whose sender has so much time left in all.
type waited struct {
	body     io.Reader
	conn     *http.ResponseController
	timeLeft time.Duration
}

// Read reads, and counts how long that took.
func (p *waited) Read(b []byte) (int, error) {
	began := time.Now()
	_ = p.conn.SetReadDeadline(began.Add(p.timeLeft)) // without a connection no client is slow
	n, err := p.body.Read(b)
	p.timeLeft = max(p.timeLeft-time.Since(began), time.Millisecond)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		err = errBodySlow
	}
	return n, err
}

// statusOf is the status of a request that failed.
func statusOf(err error) int {
	switch {
	case errors.Is(err, errBodyLarge):
		return http.StatusRequestEntityTooLarge
	case errors.Is(err, errBodySlow):
		return http.StatusRequestTimeout
	case errors.Is(err, hosts.ErrUnknown):
		return http.StatusNotFound
	case errors.Is(err, changes.ErrUnconfirmed):
		return http.StatusConflict
	case errors.Is(err, errBusy), errors.Is(err, errQueries):
		return http.StatusTooManyRequests
	}
	return http.StatusBadRequest
}
