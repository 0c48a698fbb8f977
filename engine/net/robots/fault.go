package robots

import "unicode/utf8"

// Fault says why a robots.txt that the server answered is not known. The numbers are part of the encoded site.
type Fault uint8

// The faults. There is no fault if the file is known, or if there was no answer to a request for it.
const (
	NoFault       Fault = iota
	FaultChunks         // chunking that cannot be followed
	FaultCut            // the body ended before its framing says
	FaultSlow           // the body did not end in time
	FaultLength         // Content-Length fields that contradict each other, or that are too large for a number
	FaultSurplus        // bytes behind the end of the body
	FaultHead           // no head of HTTP
	FaultCoding         // content codings that cannot be removed
	FaultNotText        // the body is not text
	FaultStatus         // a status that does not answer this request
	FaultRedirect       // a redirect that names no URL that can be fetched
	FaultMemory         // no memory for the body or its rules
	FaultMost           // the number of faults
)

// faultTexts has two texts for each fault: an annotation in crawl.log, and what people read.
var faultTexts = [FaultMost][2]string{ //nolint:gochecknoglobals // a table
	FaultChunks:   {"bad-chunks", "chunked body without a valid size"},
	FaultCut:      {"cut", "body that ends before its framing says"},
	FaultSlow:     {"slow", "body that did not end in time"},
	FaultLength:   {"bad-length", "Content-Length fields that make no sense"},
	FaultSurplus:  {"surplus", "body that goes on behind its Content-Length"},
	FaultHead:     {"bad-head", "answer without a head of HTTP"},
	FaultCoding:   {"bad-coding", "body whose Content-Encoding cannot be removed"},
	FaultNotText:  {"not-text", "body that is not text"},
	FaultStatus:   {"status", "status that does not answer the request"},
	FaultRedirect: {"redirect", "redirect without a URL that can be fetched"},
	FaultMemory:   {"no-memory", "body or rules for which there was no memory"},
}

// String returns the fault as an annotation of crawl.log; "" for NoFault.
func (f Fault) String() string { return f.text(0) }

// Seen says in words what was seen; "" for NoFault.
func (f Fault) Seen() string { return f.text(1) }

func (f Fault) text(i int) string {
	if f >= FaultMost {
		return ""
	}
	return faultTexts[f][i]
}

// IsText reports whether a body can be a robots.txt: it has no bytes that text does not have, or has a line that names
// an agent. strict says that only UTF-8 is text, since the codings of the body are in doubt.
func IsText(body []byte, strict bool) bool {
	if strict {
		return !hasBinary(body) && utf8.Valid(body)
	}
	if !hasBinary(body) {
		return true
	}
	p := parser{}
	p.lines(cutBody(body))
	return p.hasAgent
}

// hasBinary reports whether body has a byte that text does not have: see
// https://mimesniff.spec.whatwg.org/#binary-data-byte.
func hasBinary(body []byte) bool {
	for _, c := range body {
		if c < ' ' && (c <= 8 || c == 0x0b || c >= 0x0e && c != 0x1b) {
			return true
		}
	}
	return false
}
