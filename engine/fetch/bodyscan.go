package fetch

import (
	"io"

	"orbweaver/internal/outcome"
)

// bodyScan finds out what the bytes of a response mean, live or from an archive: where the body ends, which bytes are
// payload, and the outcome.
type bodyScan struct {
	frame framer
	info  headInfo
	at    int // bytes of Raw that are consumed
}

// bodyKind returns how the end of the body is determined.
func bodyKind(info headInfo) frameKind {
	switch {
	case info.status == 204 || info.status == 304 || (info.status >= 100 && info.status < 200):
		return frameNone
	case info.chunked:
		return frameChunked
	case info.length >= 0:
		return frameLength
	default:
		return frameClose
	}
}

// start begins the body of p that info describes.
func (s *bodyScan) start(p *Page, info headInfo, max bodyLimits) {
	s.info, s.at = info, p.HeadLen
	s.frame.init(bodyKind(info), max)
	if s.frame.kind == frameLength {
		s.frame.setLength(info.length)
	}
	p.payload.chunked = s.frame.kind == frameChunked
}

// consume processes the bytes of Raw that belong to the body, and records where the payload is.
func (s *bodyScan) consume(p *Page) {
	at := s.at
	for at < len(p.Raw) && s.frame.end == endNone {
		n, data := s.frame.next(p.Raw[at:])
		at += n
		if len(data) > 0 {
			p.payload.add(at-len(data), at)
		}
	}
	s.at = at
}

// consumeRest processes a piece of the response behind Raw. It returns how many bytes of it belong to the response, and
// writes those that are payload.
func (s *bodyScan) consumeRest(p *Page, piece []byte, payload io.Writer) int {
	n := 0
	for n < len(piece) && s.frame.end == endNone {
		used, data := s.frame.next(piece[n:])
		n += used
		_, _ = payload.Write(data) // a hash never fails
	}
	switch {
	case s.frame.end == endWhole && len(piece) > n:
		p.Flags |= FlagSurplus
	case s.frame.end == endBad && len(piece) > n:
		n++ // as in truncate
	}
	return n
}

// truncate truncates Raw where the body ends. It keeps the byte that made chunking invalid, so that a reader of the
// record finds the same fault, and not only a body that ends too early.
func (s *bodyScan) truncate(p *Page) {
	p.PayloadLen = s.frame.payload
	if p.rest.size > 0 {
		return // consumeRest has done it
	}
	end := s.at
	switch {
	case s.frame.end == endWhole && len(p.Raw) > end:
		p.Flags |= FlagSurplus
	case s.frame.end == endBad && len(p.Raw) > end:
		end++
	}
	p.Raw = p.Raw[:end]
}

// judge records how the body ended.
func (s *bodyScan) judge(p *Page) {
	switch s.frame.end {
	case endWhole:
		p.Complete = true
	case endLimit:
		p.Truncation, p.Err = TruncatedLength, "more than the limit"
	case endBad:
		p.Truncation, p.Err = TruncatedUnspecified, "bad chunking"
	case endDisconnect:
		p.Truncation = TruncatedDisconnect
		if p.Err == "" {
			p.Err = "closed within the body"
		}
	}
	if s.info.flags&(FlagNotHTTP|FlagBadLength) != 0 {
		p.Complete = false
		if p.Truncation == NotTruncated {
			p.Truncation = TruncatedUnspecified
		}
		if p.Err == "" {
			p.Err = causeLength
		}
	}
}

// conclude returns the outcome of the exchange.
func (s *bodyScan) conclude(p *Page) outcome.Outcome {
	if s.frame.end == endBad || s.info.flags&(FlagNotHTTP|FlagBadLength) != 0 {
		return outcome.Protocol
	}
	byStatus := p.statusOutcome()
	if p.Complete || byStatus != outcome.OK {
		return byStatus
	}
	switch p.Truncation {
	case TruncatedLength:
		return outcome.TruncatedLength
	case TruncatedTime:
		return outcome.TruncatedTime
	case TruncatedUnspecified:
		return outcome.NoMemory
	default:
		return outcome.TruncatedDisconnect
	}
}
