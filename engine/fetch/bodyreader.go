package fetch

import (
	"errors"
	"io"
	"time"

	"orbweaver/internal/outcome"
)

// bodyReader reads the body of a response from a connection, within the limits of time and rate.
type bodyReader struct {
	o           *Options
	scan        bodyScan
	total       time.Time // end of the exchange
	window      time.Time // start of the rate window
	windowBytes int64     // bytes received when it started
}

// readBody reads the body that info announces, up to the limits, and cuts Raw where it ends. It returns the outcome of
// the exchange.
func (r *bodyReader) readBody(p *Page, conn *connection, info headInfo, bodyMax int64) outcome.Outcome {
	r.scan.start(p, info, bodyLimits{bodyMax: bodyMax, rawBodyMax: rawBodyMax(bodyMax)})
	r.window, r.windowBytes = p.Times.FirstByte, conn.received
	for {
		r.scan.consume(p)
		if r.scan.frame.end != endNone || !r.makeRoom(p, conn) {
			break
		}
		if n, err := conn.read(p); n == 0 && err != nil && !r.survives(p, conn, err) {
			break
		}
	}
	r.scan.truncate(p)
	if r.scan.frame.end == endNone && p.Truncation == NotTruncated {
		return outcome.Cancelled
	}
	r.scan.judge(p)
	return r.scan.conclude(p)
}

// makeRoom makes room for more of a body. It waits if all buffers are in use: a crawl that cannot keep up with what
// servers send reads more slowly. It returns false if the exchange must end first; then p.Truncation says so, or the
// context has ended.
func (r *bodyReader) makeRoom(p *Page, conn *connection) bool {
	if !p.memory.isFull(p.Raw) {
		return true
	}
	var ok bool
	if p.Raw, ok = p.memory.growOrWait(p.Raw, r.total, conn.watch.Done()); ok {
		r.window, r.windowBytes = time.Now(), conn.received // it is not the server that was slow
		return true
	}
	if conn.watch.Err() == nil {
		p.Truncation, p.Err = TruncatedUnspecified, "no buffer for the body"
	}
	return false
}

// survives decides after a failed read whether to read on. If not, the frame has ended or p.Truncation says why, or
// neither and the context is over.
func (r *bodyReader) survives(p *Page, conn *connection, err error) bool {
	switch {
	case conn.watch.cancelled():
		return false
	case errors.Is(err, io.EOF):
		r.scan.frame.eof()
		return true // one more look ends the loop
	case !isTimeout(err):
		r.scan.frame.end = endDisconnect
		p.Err = "connection broke in the body"
		return true
	}
	now := time.Now()
	if !now.Before(r.total) {
		p.Truncation, p.Err = TruncatedTime, "the whole took too long"
		return false
	}
	if passed := now.Sub(r.window); passed >= r.o.RateWindow {
		if r.o.RateMin > 0 && float64(conn.received-r.windowBytes) < float64(r.o.RateMin)*passed.Seconds() {
			p.Truncation, p.Err = TruncatedTime, "the body came too slowly"
			return false
		}
		r.window, r.windowBytes = now, conn.received
	}
	return conn.watch.arm(earlier(r.window.Add(r.o.RateWindow), r.total))
}
