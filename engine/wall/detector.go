package wall

import (
	"bytes"
	"slices"

	"orbweaver/engine/fetch"
	"orbweaver/engine/fetch/coding"
)

// bodyMax is the largest body in bytes, as sent and decoded, that is searched for a marker.
const bodyMax = 64 << 10

// Detector detects walls. It is for one goroutine.
type Detector struct {
	decoder *coding.Decoder
	body    []byte // of the Page in hand
	hasBody bool   // body is that of the Page in hand
}

// NewDetector returns a Detector.
func NewDetector() *Detector { return &Detector{decoder: coding.New(coding.Options{SizeMax: bodyMax})} }

// Service returns the service whose wall p is; "" for a page.
func (d *Detector) Service(p *fetch.Page) string {
	if !p.HasHead() {
		return ""
	}
	d.body, d.hasBody = nil, false
	// Lines and not Head.Fields: that takes twice the time here, and five allocations for each page.
	for rest := []byte(p.Head()); len(rest) > 0; {
		line, after, _ := bytes.Cut(rest, []byte{'\n'})
		rest = after
		if !mayMatch(line) {
			continue
		}
		name, value, _ := bytes.Cut(line, []byte{':'})
		for i := range rules {
			if len(rules[i].field) != len(name) || !hasPrefix(name, rules[i].field) {
				continue
			}
			if r := rules[i]; r.hasStatus(p.Status) && contains(value, r.value) && d.hasMarker(r.marker, p) {
				return r.service
			}
		}
	}
	for _, r := range anyHead {
		if r.hasStatus(p.Status) && d.hasMarker(r.marker, p) {
			return r.service
		}
	}
	return ""
}

func (r rule) hasStatus(status int) bool {
	return r.statuses == nil || slices.Contains(r.statuses, status)
}

func (d *Detector) hasMarker(marker string, p *fetch.Page) bool {
	return marker == "" || bytes.Contains(d.bodyOf(p), []byte(marker))
}

// bodyOf returns the decoded body; nothing if it is too long.
func (d *Detector) bodyOf(p *fetch.Page) []byte {
	if d.hasBody || p.PayloadLen > bodyMax {
		return d.body
	}
	d.body, _ = p.Decoded(d.decoder)
	d.hasBody = true
	return d.body
}

// mayMatch reports whether a rule may have the field in this line, by its first letter.
func mayMatch(line []byte) bool {
	if len(line) == 0 {
		return false
	}
	c := line[0] | 0x20
	return c == 'x' || c == 'c' || c == 's'
}

// contains reports whether a value has a part, in lower case, in any case. Of long values the first bytes count.
func contains(value []byte, part string) bool {
	value = value[:min(len(value), valueMax)]
	for i := 0; i+len(part) <= len(value); i++ {
		if hasPrefix(value[i:], part) {
			return true
		}
	}
	return false
}

// hasPrefix reports whether text begins with letters that are in lower case, in any case. Text is not shorter.
func hasPrefix(text []byte, letters string) bool {
	for i := range len(letters) {
		c := text[i]
		if c >= 'A' && c <= 'Z' {
			c |= 0x20
		}
		if c != letters[i] {
			return false
		}
	}
	return true
}

// valueMax is how many bytes of the value of a field are looked at.
const valueMax = 256
