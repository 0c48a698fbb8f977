package fetch

import (
	"bytes"
	"errors"
	"io"
	"time"

	"orbweaver/internal/outcome"
)

// headScan is how far the search for the end of a head has come.
type headScan struct {
	at    int // bytes looked at
	line  int // start of the line at hand
	lines int
	blank int // bytes of line ends dropped before the status line
}

// headState is the result of a look at the bytes so far.
type headState uint8

const (
	headMore headState = iota
	headWhole
	headTooLarge
	headForeign // no HTTP
)

// findEnd searches raw for the end of a head and returns the length of the head if it is whole.
func (s *headScan) findEnd(raw []byte, o *Options) (int, headState) {
	if s.line == 0 && !httpPrefix(raw) {
		return 0, headForeign
	}
	for {
		i := bytes.IndexByte(raw[s.at:], '\n')
		if i < 0 {
			s.at = len(raw)
			if len(raw)-s.line > o.HeaderLineMax || len(raw) >= o.HeaderMax {
				return 0, headTooLarge
			}
			return 0, headMore
		}
		end := s.at + i
		length := end - s.line
		s.at, s.line = end+1, end+1
		if length == 0 || (length == 1 && raw[end-1] == '\r') {
			if end+1 > o.HeaderMax {
				return 0, headTooLarge
			}
			return end + 1, headWhole
		}
		if s.lines++; length > o.HeaderLineMax || s.lines > o.HeaderCount+1 {
			return 0, headTooLarge
		}
	}
}

// httpPrefix says whether raw is, or can become, the start of a response.
func httpPrefix(raw []byte) bool {
	return startsLike(raw, "http/") || startsLike(raw, "icy ")
}

func startsLike(raw []byte, prefix string) bool {
	n := min(len(raw), len(prefix))
	return hasPrefixFold(raw[:n], prefix[:n])
}

// readHead reads until the head of the final response is whole, and sets aside those of interim ones.
func (f *Fetcher) readHead(p *Page) (headInfo, outcome.Outcome) {
	f.got, f.scan = 0, headScan{}
	interim := 0
	for {
		if f.scan.line == 0 {
			f.dropBlankLines(p)
		}
		n, state := f.scan.findEnd(p.Raw, &f.o)
		switch state {
		case headForeign:
			p.Flags |= FlagNotHTTP
			p.Err = "not HTTP"
			return headInfo{length: -1, flags: FlagNotHTTP}, outcome.None
		case headTooLarge:
			p.Raw = p.Raw[:min(len(p.Raw), f.o.HeaderMax)] // a read may bring much more
			p.Err = "header too large"
			return headInfo{}, outcome.HeaderTooLarge
		case headMore:
			if o := f.moreHead(p); o != outcome.None {
				return headInfo{}, o
			}
			continue
		}
		info, cause := f.pool.codecs.parseHead(p.Raw[:n])
		if cause != "" {
			p.Err = cause
			return info, outcome.Protocol
		}
		if !info.interim() {
			p.HeadLen, p.Status = n, info.status
			p.Flags |= info.flags
			return info, outcome.None
		}
		if interim++; interim > f.o.InterimMax || len(p.Interim)+n > f.o.HeaderMax {
			p.Err = "too many interim responses"
			return headInfo{}, outcome.HeaderTooLarge
		}
		p.Interim = append(p.Interim, p.Raw[:n]...)
		f.dropFront(p, n)
	}
}

// blankMax is how many bytes of line ends a server may put before its status line.
const blankMax = 64

// dropBlankLines drops line ends before the status line: they belong to no response.
func (f *Fetcher) dropBlankLines(p *Page) {
	n := blankLines(p.Raw, blankMax-f.scan.blank)
	f.scan.blank += n
	if n > 0 {
		p.Raw = p.Raw[:copy(p.Raw, p.Raw[n:])]
		f.scan.at = 0
	}
}

// blankLines counts the bytes of line ends that b starts with, up to most.
func blankLines(b []byte, most int) int {
	n := 0
	for n < min(len(b), most) && (b[n] == '\r' || b[n] == '\n') {
		n++
	}
	return n
}

// dropFront drops the head of an interim response and starts the search for the next.
func (f *Fetcher) dropFront(p *Page, n int) {
	p.Raw = p.Raw[:copy(p.Raw, p.Raw[n:])]
	f.scan = headScan{}
}

// moreHead reads more of a head; anything but None ends the exchange.
func (f *Fetcher) moreHead(p *Page) outcome.Outcome {
	if len(p.memory.raw.b) > 0 {
		var ok bool
		if p.Raw, ok = p.memory.grow(p.Raw, len(p.Raw)+1); !ok {
			p.Err = "no buffer for the header"
			return outcome.HeaderTooLarge
		}
	}
	n, err := f.read(p)
	switch {
	case n > 0 || err == nil:
		return outcome.None
	case f.watch.cancelled():
		return outcome.Cancelled
	case errors.Is(err, errNoBuffer):
		p.Err = "no buffer for the header"
		return outcome.HeaderTooLarge
	case isTimeout(err):
		p.Err = "no header in time"
		return outcome.HeaderTimeout
	case f.got == 0:
		p.Err = "closed without an answer"
	default:
		p.Err = "closed within the header"
	}
	return outcome.Reset
}

// readBody reads the body that info announces, up to the limits, and cuts Raw where it ends.
func (f *Fetcher) readBody(p *Page, info headInfo, bodyMax int64) outcome.Outcome {
	p.startBody(&f.frame, info, bodyLimits{bodyMax: bodyMax, rawBodyMax: rawBodyMax(bodyMax)})
	f.window, f.windowN = p.Times.FirstByte, f.got
	at := p.HeadLen
	for {
		at = p.consume(&f.frame, at)
		if f.frame.end != endNone {
			break
		}
		if !f.room(p) {
			break
		}
		if n, err := f.read(p); n == 0 && err != nil && !f.survives(p, err) {
			break
		}
	}
	p.endBody(&f.frame, at)
	if f.frame.end == endNone && p.Cut == NotCut {
		return outcome.Cancelled
	}
	p.judge(&f.frame, info)
	return outcome.None
}

// room makes room for more of a body, and waits for that if all buffers are out: a crawl that cannot keep up with what
// servers send reads more slowly. False if the exchange must end first; then p.Cut says so, or the context is over.
func (f *Fetcher) room(p *Page) bool {
	if !p.memory.isFull(p.Raw) {
		return true
	}
	var ok bool
	if p.Raw, ok = p.memory.growOrWait(p.Raw, f.total, f.watch.Done()); ok {
		f.window, f.windowN = time.Now(), f.got // it is not the server that was slow
		return true
	}
	if f.watch.Err() == nil {
		p.Cut, p.Err = CutUnspecified, "no buffer for the body"
	}
	return false
}

// survives decides after a failed read whether to read on. If not, the frame has ended or p.Cut says why, or neither
// and the context is over.
func (f *Fetcher) survives(p *Page, err error) bool {
	switch {
	case f.watch.cancelled():
		return false
	case errors.Is(err, io.EOF):
		f.frame.eof()
		return true // one more look ends the loop
	case !isTimeout(err):
		f.frame.end = endDisconnect
		p.Err = "connection broke in the body"
		return true
	}
	now := time.Now()
	if !now.Before(f.total) {
		p.Cut, p.Err = CutTime, "the whole took too long"
		return false
	}
	if passed := now.Sub(f.window); passed >= f.o.RateWindow {
		if f.o.RateMin > 0 && float64(f.got-f.windowN) < float64(f.o.RateMin)*passed.Seconds() {
			p.Cut, p.Err = CutTime, "the body came too slowly"
			return false
		}
		f.window, f.windowN = now, f.got
	}
	return f.watch.arm(earlier(f.window.Add(f.o.RateWindow), f.total))
}
