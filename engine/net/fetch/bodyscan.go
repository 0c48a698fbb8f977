package fetch

import (
	"bytes"
	"io"

	"orbweaver/engine/net/fetch/framing"
	"orbweaver/internal/outcome"
	"orbweaver/warc"
)

// bodyScan finds out what the bytes of a response mean, live or from an archive: where the body ends, which bytes are
// payload, and the outcome.
type bodyScan struct {
	frame framing.Framer
	info  headInfo
	at    int // bytes of Raw that are consumed
}

// bodyKind returns how the end of the body is determined.
func bodyKind(info headInfo) framing.Kind {
	switch {
	case info.status == 204 || info.status == 304 || (info.status >= 100 && info.status < 200):
		return framing.None
	case info.chunked:
		return framing.Chunked
	case info.length >= 0:
		return framing.Length
	default:
		return framing.Close
	}
}

// start begins the body of p that info describes.
func (s *bodyScan) start(p *Page, info headInfo, max framing.Limits) {
	s.info, s.at = info, p.HeadLen
	s.frame.Init(bodyKind(info), max)
	if s.frame.Kind == framing.Length {
		s.frame.SetLength(info.length)
	}
	p.payload.chunked = s.frame.Kind == framing.Chunked
}

// consume processes the bytes of Raw that belong to the body, and records where the payload is.
func (s *bodyScan) consume(p *Page) {
	at := s.at
	for at < len(p.Raw) && s.frame.End == framing.NotEnded {
		n, data := s.frame.Next(p.Raw[at:])
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
	for n < len(piece) && s.frame.End == framing.NotEnded {
		used, data := s.frame.Next(piece[n:])
		n += used
		_, _ = payload.Write(data) // a hash never fails
	}
	switch {
	case s.frame.End == framing.Whole && len(piece) > n:
		p.Flags |= FlagSurplus
	case s.frame.End == framing.Bad && len(piece) > n:
		n++ // as in truncate
	}
	return n
}

// truncate truncates Raw where the body ends. It keeps the byte that made chunking invalid, so that a reader of the
// record finds the same fault, and not only a body that ends too early.
func (s *bodyScan) truncate(p *Page) {
	p.PayloadLen = s.frame.Payload
	if p.rest.size > 0 {
		return // consumeRest has done it
	}
	end := s.at
	switch {
	case s.frame.End == framing.Whole && len(p.Raw) > end:
		p.Flags |= FlagSurplus
		if len(bytes.TrimSpace(p.Raw[end:])) == 0 {
			p.Flags |= FlagBlankSurplus
		}
	case s.frame.End == framing.Bad && len(p.Raw) > end:
		end++
	}
	p.Raw = p.Raw[:end]
}

// judge records how the body ended.
func (s *bodyScan) judge(p *Page) {
	switch s.frame.End {
	case framing.Whole:
		p.Complete = true
	case framing.AtLimit:
		p.Truncation, p.Err = warc.TruncatedLength, "more than the limit"
	case framing.Bad:
		p.Truncation, p.Err = warc.TruncatedUnspecified, "bad chunking"
	case framing.Disconnected:
		p.Truncation = warc.TruncatedDisconnect
		if p.Err == "" {
			p.Err = "closed within the body"
		}
	}
	if s.info.flags&(FlagNotHTTP|FlagBadLength) != 0 {
		p.Complete = false
		if p.Truncation == warc.TruncatedNone {
			p.Truncation = warc.TruncatedUnspecified
		}
		if p.Err == "" {
			p.Err = causeLength
		}
	}
}

// conclude returns the outcome of the exchange.
func (s *bodyScan) conclude(p *Page) outcome.Outcome {
	if s.frame.End == framing.Bad || s.info.flags&(FlagNotHTTP|FlagBadLength) != 0 {
		return outcome.Protocol
	}
	byStatus := p.statusOutcome()
	if p.Complete || byStatus != outcome.OK {
		return byStatus
	}
	switch p.Truncation {
	case warc.TruncatedLength:
		return outcome.TruncatedLength
	case warc.TruncatedTime:
		return outcome.TruncatedTime
	case warc.TruncatedUnspecified:
		return outcome.NoMemory
	default:
		return outcome.TruncatedDisconnect
	}
}
