package fetch

import (
	"orbweaver/engine/fetch/coding"
	"orbweaver/internal/outcome"
	"orbweaver/internal/sha1pair"
)

// What the bytes of a response mean, live or from an archive: where the body ends, which bytes are payload, and the
// outcome.

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

// startBody sets f to the start of the body that info describes.
func (p *Page) startBody(f *framer, info headInfo, max bodyLimits) {
	f.init(bodyKind(info), max)
	if f.kind == frameLength {
		f.setLength(info.length)
	}
	p.payload.chunked = f.kind == frameChunked
}

// consume processes the bytes of Raw from offset at that belong to the body, and records where the payload is.
func (p *Page) consume(f *framer, at int) int {
	for at < len(p.Raw) && f.end == endNone {
		n, data := f.next(p.Raw[at:])
		at += n
		if len(data) > 0 {
			p.payload.add(at-len(data), at)
		}
	}
	return at
}

// endBody truncates Raw where the body ends. It keeps the byte that made chunking invalid, so that a reader of the
// record finds the same fault, and not only a body that ends too early.
func (p *Page) endBody(f *framer, at int) {
	switch {
	case f.end == endWhole && len(p.Raw) > at:
		p.Flags |= FlagSurplus
	case f.end == endBad && len(p.Raw) > at:
		at++
	}
	p.Raw = p.Raw[:at]
	p.PayloadLen = f.payload
}

// judge records how the body ended.
func (p *Page) judge(f *framer, info headInfo) {
	switch f.end {
	case endWhole:
		p.Complete = true
	case endLimit:
		p.Cut, p.Err = CutLength, "more than the limit"
	case endBad:
		p.Cut, p.Err = CutUnspecified, "bad chunking"
	case endDisconnect:
		p.Cut = CutDisconnect
		if p.Err == "" {
			p.Err = "closed within the body"
		}
	}
	if info.flags&(FlagNotHTTP|FlagBadLength) != 0 {
		p.Complete = false
		if p.Cut == NotCut {
			p.Cut = CutUnspecified
		}
		if p.Err == "" {
			p.Err = causeLength
		}
	}
}

// Sum computes the digests of a page that is Complete; for others it does nothing.
func (p *Page) Sum(h *sha1pair.Hasher) {
	if p.Complete {
		p.BlockDigest, p.Digest = h.Sums(p.Raw, p.Payload())
	}
}

// conclude returns the outcome of the exchange.
func (p *Page) conclude(f *framer, info headInfo) outcome.Outcome {
	if f.end == endBad || info.flags&(FlagNotHTTP|FlagBadLength) != 0 {
		return outcome.Protocol
	}
	byStatus := statusOutcome(p)
	if p.Complete || byStatus != outcome.OK {
		return byStatus
	}
	switch p.Cut {
	case CutLength:
		return outcome.CutLength
	case CutTime:
		return outcome.CutTime
	case CutUnspecified:
		return outcome.NoMemory
	default:
		return outcome.CutDisconnect
	}
}

// statusOutcome returns the outcome of a complete response.
func statusOutcome(p *Page) outcome.Outcome {
	switch s := p.Status; {
	case s >= 200 && s < 300:
		return outcome.OK
	case s == 304:
		return outcome.NotModified
	case s == 301, s == 302, s == 303, s == 307, s == 308:
		if len(p.Head().Location()) > 0 {
			return outcome.Redirect
		}
		return outcome.OtherStatus
	case s == 429:
		return outcome.TooMany
	case s == 502, s == 503, s >= 521 && s <= 523: // 521 to 523 are Cloudflare's codes for an unreachable origin
		return outcome.Unavailable
	case s >= 400 && s < 500:
		return outcome.ClientError
	case s >= 500 && s < 600:
		return outcome.ServerError
	default:
		return outcome.OtherStatus
	}
}

// Decoded returns the payload without its content encodings, for parsing; the archive keeps the encoded bytes. The
// result aliases p if there was nothing to remove. Otherwise it aliases d, and the next call overwrites it.
func (p *Page) Decoded(d *coding.Decoder) ([]byte, coding.Fault) {
	payload := p.Payload()
	if len(payload) == 0 {
		return payload, coding.OK
	}
	d.Reset()
	for _, name := range [...]string{"content-encoding", "transfer-encoding"} {
		for value := range p.Head().Values(name) {
			if fault := d.Add(value); fault != coding.OK {
				return payload, fault
			}
		}
	}
	return d.Decode(payload)
}
