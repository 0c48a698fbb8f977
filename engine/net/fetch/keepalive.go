package fetch

import (
	"bytes"
	"time"

	"orbweaver/internal/httphead"
)

// When a connection may carry another exchange (RFC 9112, section 9.3).

// irregularFlags are the flags that make the end of a body uncertain.
const irregularFlags = FlagLenient | FlagBothLengths | FlagSurplus | FlagNotHTTP | FlagBadLength

// persists reports whether the connection can be used again after this response, and for how long if the server has
// said so; else 0. The body must have ended as its framing says: only then the start of the next response is known.
func (p *Page) persists() (allowed time.Duration, ok bool) {
	if !p.Complete || p.Flags&irregularFlags != 0 || p.Status == 101 || !httphead.HasPrefix(p.Raw, "http/1.1") {
		return 0, false
	}
	for name, value := range p.Head().Fields() {
		switch {
		case httphead.EqualFold(name, "connection"):
			if hasToken(value, "close") {
				return 0, false
			}
		case httphead.EqualFold(name, "keep-alive"):
			if allowed = keepAliveTimeout(value); allowed < 0 {
				return 0, false
			}
		}
	}
	return allowed, true
}

// keepAliveMax is the longest time for which a server is believed to keep a connection.
const keepAliveMax = 24 * time.Hour

// keepAliveTimeout reads "timeout=5, max=100": a second less than the server says, since it counts from earlier than we
// do; 0 if it does not say, negative if that leaves nothing.
func keepAliveTimeout(value []byte) time.Duration {
	for token := range bytes.SplitSeq(value, []byte{','}) {
		name, number, found := bytes.Cut(token, []byte{'='})
		if !found || !httphead.EqualFold(httphead.TrimBlanks(name), "timeout") {
			continue
		}
		n, ok := parseDecimal(httphead.TrimBlanks(number))
		if !ok || n > int64(keepAliveMax/time.Second) {
			return 0
		}
		if n <= 1 {
			return -1
		}
		return time.Duration(n-1) * time.Second
	}
	return 0
}

// hasToken says whether a comma-separated list has a word, in any case.
func hasToken(value []byte, word string) bool {
	for token := range bytes.SplitSeq(value, []byte{','}) {
		if httphead.EqualFold(httphead.TrimBlanks(token), word) {
			return true
		}
	}
	return false
}
