package fetch

import (
	"errors"
	"math"

	"orbweaver/internal/httphead"
	"orbweaver/internal/outcome"
)

// headReader reads the head of a response from a connection.
type headReader struct {
	o      *Options
	codecs *codecs
	scan   headScan
}

// readHead reads until the head of the final response is whole, and sets aside those of interim ones.
func (r *headReader) readHead(p *Page, conn *connection) (headInfo, outcome.Outcome) {
	conn.received, r.scan = 0, headScan{}
	interim := 0
	for {
		if !r.scan.hasStart {
			r.dropBlankLines(p)
		}
		n, state := r.scan.findEnd(p.Raw, r.o)
		if state == headMore {
			o := r.readMore(p, conn)
			if o == outcome.None {
				continue
			}
			if !r.isTooShort(p, o) {
				return headInfo{}, o
			}
			state = headForeign
		}
		switch state {
		case headForeign:
			p.Flags |= FlagNotHTTP
			p.Err = "not HTTP"
			return headInfo{length: -1, flags: FlagNotHTTP}, outcome.None
		case headTooLarge:
			p.Raw = p.Raw[:min(len(p.Raw), r.o.HeaderMax)] // a read may bring much more
			p.Err = "header too large"
			return headInfo{}, outcome.HeaderTooLarge
		}
		info, cause := r.codecs.parseHead(p.Raw[:n])
		if cause != "" {
			p.Err = cause
			return info, outcome.Protocol
		}
		if !info.interim() {
			p.HeadLen, p.Status = n, info.status
			p.Flags |= info.flags
			return info, outcome.None
		}
		if interim++; interim > r.o.InterimMax || len(p.Interim)+n > r.o.HeaderMax {
			p.Err = "too many interim responses"
			return headInfo{}, outcome.HeaderTooLarge
		}
		p.Interim = append(p.Interim, p.Raw[:n]...)
		r.dropFront(p, n)
	}
}

// isTooShort reports whether the connection ended after bytes that are too few for a status line, and begin like none.
func (r *headReader) isTooShort(p *Page, o outcome.Outcome) bool {
	return o == outcome.Reset && len(p.Raw) > 0 && !r.scan.hasStart && !httphead.StartsLike(p.Raw, "http")
}

// blankMax is how many bytes of line ends a server may put before its status line.
const blankMax = 64

// dropBlankLines drops line ends before the status line: they belong to no response.
func (r *headReader) dropBlankLines(p *Page) {
	n := blankLines(p.Raw, blankMax-r.scan.blank)
	r.scan.blank += n
	if n > 0 {
		p.Raw = p.Raw[:copy(p.Raw, p.Raw[n:])]
		r.scan.at = 0
	}
}

// dropFront drops the head of an interim response and starts the search for the next.
func (r *headReader) dropFront(p *Page, n int) {
	p.Raw = p.Raw[:copy(p.Raw, p.Raw[n:])]
	r.scan = headScan{}
}

// readMore reads more of a head; anything but None ends the exchange.
func (r *headReader) readMore(p *Page, conn *connection) outcome.Outcome {
	if len(p.memory.raw.B) > 0 {
		var ok bool
		if p.Raw, ok = p.memory.grow(p.Raw, len(p.Raw)+1); !ok {
			p.Err = "no buffer for the header"
			return outcome.HeaderTooLarge
		}
	}
	n, err := conn.read(p, math.MaxInt)
	fault := http2Fault(err)
	switch {
	case n > 0 || err == nil:
		return outcome.None
	case conn.watch.cancelled():
		return outcome.Cancelled
	case errors.Is(err, errNoBuffer):
		p.Err = "no buffer for the header"
		return outcome.HeaderTooLarge
	case isTimeout(err):
		p.Err = "no header in time"
		return outcome.HeaderTimeout
	case fault != nil:
		p.Err = fault.Cause
		return fault.Outcome
	case conn.received == 0:
		p.Err = CauseNoAnswer
	default:
		p.Err = "closed within the header"
	}
	return outcome.Reset
}
