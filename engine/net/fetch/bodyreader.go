package fetch

import (
	"errors"
	"io"
	"time"

	"orbweaver/engine/net/bodyfile"
	"orbweaver/engine/net/fetch/framing"
	"orbweaver/internal/outcome"
	"orbweaver/warc"
)

// bodyReader reads the body of a response from a connection, within the limits of time and rate.
type bodyReader struct {
	o           *Options
	scan        bodyScan
	rest        restWriter
	limits      timeLimits
	window      time.Time // start of the rate window
	windowBytes int64     // bytes received when it started
}

// readBody reads the body that info announces, up to the limits, and cuts Raw where it ends. It returns the outcome of
// the exchange.
func (r *bodyReader) readBody(p *Page, conn *connection, info headInfo, bodyMax int64) outcome.Outcome {
	r.scan.start(p, info, framing.Limits{Body: bodyMax, Raw: rawBodyMax(bodyMax)})
	r.window, r.windowBytes = p.Times.FirstByte, conn.received
	r.rest.reset()
	isWhole := false // what was read was kept
	for {
		if isWhole = r.consume(p, conn); !isWhole || r.scan.frame.End != framing.NotEnded || !r.makeRoom(p, conn) {
			break
		}
		if n, err := r.readPiece(p, conn); n == 0 && err != nil && !r.survives(p, conn, err) {
			break
		}
	}
	r.scan.truncate(p)
	r.rest.end(p)
	if !isWhole || r.scan.frame.End == framing.NotEnded && p.Truncation == warc.TruncatedNone {
		return outcome.Cancelled
	}
	r.scan.judge(p)
	return r.scan.conclude(p)
}

// readPiece reads more of the body, after a wait if the bandwidth is limited. The wait counts as time of the server if
// the server has sent less than RateMin meanwhile.
func (r *bodyReader) readPiece(p *Page, conn *connection) (int, error) {
	waited, most := conn.flow.Wait(conn.watch.Done()), conn.flow.PieceMax()
	if waited == 0 {
		return conn.read(p, most)
	}
	limits, window := r.limits, r.window
	r.limits.postpone(waited)
	r.window = window.Add(waited)
	conn.watch.arm(earlier(r.window.Add(r.o.RateWindow), r.deadline(conn)))
	before := len(p.Raw)
	n, err := conn.read(p, most)
	isFull := n == most || before+n == len(p.memory.raw.B)
	if !isFull && float64(n) < float64(r.o.RateMin)*waited.Seconds() {
		r.limits, r.window = limits, window
	}
	return n, err
}

// consume processes what was read. False means that the disk did not keep it.
func (r *bodyReader) consume(p *Page, conn *connection) bool {
	if !r.rest.isOpen {
		r.scan.consume(p)
		return true
	}
	waited, err := r.rest.consume(p, &r.scan, conn, r.deadline(conn))
	if waited > 0 { // it was not the server that was slow
		r.limits.postpone(waited)
		r.restartWindow(conn)
	}
	return err == nil
}

// timeLimits are when an exchange must end: in any case, and if its body is short or slow.
type timeLimits struct{ whole, slow time.Time }

func (l *timeLimits) begin(at time.Time, o *Timeouts) {
	l.whole, l.slow = at.Add(o.Exchange), at.Add(o.Slow)
}

// postpone moves the limits after a wait that was not the server's.
func (l *timeLimits) postpone(waited time.Duration) {
	l.whole, l.slow = l.whole.Add(waited), l.slow.Add(waited)
}

// deadline is when the exchange must end. A long body has more time: a second for each LongBodies.RateMin bytes, up to
// the limit of the whole.
func (r *bodyReader) deadline(conn *connection) time.Time {
	slow, long := r.limits.slow, conn.received-r.o.Long.MemoryMax
	if long > 0 && r.o.Long.RateMin > 0 {
		slow = slow.Add(time.Duration(float64(long) / float64(r.o.Long.RateMin) * float64(time.Second)))
	}
	return earlier(slow, r.limits.whole)
}

// makeRoom makes room for more of a body. It waits if all buffers are in use: a crawl that cannot keep up with what
// servers send reads more slowly. A body that does not fit into the largest buffer goes to a file. It returns false if
// the exchange must end first; then p.Truncation says so, or the context has ended.
func (r *bodyReader) makeRoom(p *Page, conn *connection) bool {
	switch {
	case r.rest.isOpen:
		waited, err := r.rest.reserve(p, conn, r.deadline(conn))
		if waited {
			r.restartWindow(conn)
		}
		return r.hasRoom(p, conn, err, "no room for the body on the disk")
	case !p.memory.isFull(p.Raw):
		return true
	case p.memory.isLargest():
		err := r.rest.begin(p, conn, r.deadline(conn))
		r.restartWindow(conn)
		return r.hasRoom(p, conn, err, "no room for the body on the disk")
	}
	var ok bool
	began, patience := time.Now(), conn.flow.Patience()
	if p.Raw, ok = p.memory.growOrWait(p.Raw, r.deadline(conn).Add(patience), conn.watch.Done()); ok {
		r.limits.postpone(min(patience, time.Since(began)))
		r.restartWindow(conn)
		return true
	}
	return r.hasRoom(p, conn, errNoBuffer, "no buffer for the body")
}

// restartWindow begins to measure the rate again, after a wait that was not the server's.
func (r *bodyReader) restartWindow(conn *connection) {
	r.window, r.windowBytes = time.Now(), conn.received
}

// hasRoom reports whether there is room. If not, p.Truncation says so, unless the disk or the context ended the
// exchange.
func (r *bodyReader) hasRoom(p *Page, conn *connection, err error, cause string) bool {
	if err == nil {
		return true
	}
	if conn.watch.Err() == nil && (errors.Is(err, bodyfile.ErrNoRoom) || errors.Is(err, errNoBuffer)) {
		p.Truncation, p.Err = warc.TruncatedUnspecified, cause
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
		r.scan.frame.EOF()
		return true // one more look ends the loop
	case !isTimeout(err):
		r.scan.frame.End = framing.Disconnected
		p.Err = "connection broke in the body"
		if fault := http2Fault(err); fault != nil {
			p.Err = fault.Cause
		}
		return true
	}
	now, total := time.Now(), r.deadline(conn)
	if !now.Before(total) {
		p.Truncation, p.Err = warc.TruncatedTime, "the whole took too long"
		return false
	}
	if passed := now.Sub(r.window); passed >= r.o.RateWindow {
		if r.o.RateMin > 0 && float64(conn.received-r.windowBytes) < float64(r.o.RateMin)*passed.Seconds() {
			p.Truncation, p.Err = warc.TruncatedTime, "the body came too slowly"
			return false
		}
		r.window, r.windowBytes = now, conn.received
	}
	return conn.watch.arm(earlier(r.window.Add(r.o.RateWindow), total))
}
