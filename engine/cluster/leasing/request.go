package leasing

import (
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"time"
)

// Addr is an IP address. An IPv4 address has its IPv6 form.
type Addr [16]byte

// Kind is the kind of a request. Its value is part of the format.
type Kind byte

// The kinds of requests.
const (
	Acquire Kind = 'W' // the agent wants to begin exchanges
	Renew   Kind = 'H' // an exchange continues
	Release Kind = 'F' // the agent does not need the lease any more
)

// Request is what an agent asks the granter of an address.
type Request struct {
	Kind Kind
	Addr Addr
	// Delay is the time that must pass between the end of an exchange and the next exchange. For Release it counts from
	// now.
	Delay time.Duration
}

// Response is the granter's response to a request. The response to Release has no meaning.
type Response struct {
	Granted  bool
	Shared   bool          // other agents want the address too: the holder must release it as soon as possible
	StartsIn time.Duration // until the lease begins; only if granted
	EndsIn   time.Duration // until the lease ends; only if granted
	RetryIn  time.Duration // until the agent should ask again; only if not granted
}

// ErrMalformed is wrapped by errors about requests and responses that cannot be parsed.
var ErrMalformed = errors.New("addresslease: malformed requests or responses")

// maxDuration is the longest time that is sent or accepted.
const maxDuration = time.Hour

// AppendRequest appends a request in the form that is sent: kind, address, and the delay in milliseconds as a varint.
// The delay is rounded up, and is at most an hour.
func AppendRequest(dst []byte, r Request) []byte {
	dst = append(dst, byte(r.Kind))
	dst = append(dst, r.Addr[:]...)
	return appendDuration(dst, r.Delay, time.Millisecond-1)
}

// Requests parses what AppendRequest wrote. An error ends the sequence. It borrows b while it runs.
func Requests(b []byte) iter.Seq2[Request, error] {
	return func(yield func(Request, error) bool) {
		for len(b) > 0 {
			r, rest, err := parseRequest(b)
			if !yield(r, err) || err != nil {
				return
			}
			b = rest
		}
	}
}

func parseRequest(b []byte) (r Request, rest []byte, err error) {
	r.Kind = Kind(b[0])
	if r.Kind != Acquire && r.Kind != Renew && r.Kind != Release {
		return r, nil, fmt.Errorf("%w: request of kind %#x", ErrMalformed, b[0])
	}
	n := copy(r.Addr[:], b[1:])
	if n < len(r.Addr) {
		return r, nil, fmt.Errorf("%w: an address of %d bytes", ErrMalformed, n)
	}
	r.Delay, rest, err = parseDuration(b[1+n:])
	return r, rest, err
}

// The first byte of a response.
const (
	refused byte = iota
	granted
	grantedShared
)

// AppendResponse appends a response in the form that is sent. The first byte is 0 if the lease is refused, 1 if it is
// granted, and 2 if it is granted and shared. StartsIn and EndsIn follow, or RetryIn, in milliseconds as varints.
// EndsIn is rounded down, the other two are rounded up.
func AppendResponse(dst []byte, r Response) []byte {
	if !r.Granted {
		return appendDuration(append(dst, refused), r.RetryIn, time.Millisecond-1)
	}
	kind := granted
	if r.Shared {
		kind = grantedShared
	}
	return appendDuration(appendDuration(append(dst, kind), r.StartsIn, time.Millisecond-1), r.EndsIn, 0)
}

// ParseResponses parses exactly n responses that AppendResponse wrote.
func ParseResponses(b []byte, n int) (responses []Response, err error) {
	for len(b) > 0 && len(responses) < n {
		if b[0] > grantedShared {
			return nil, fmt.Errorf("%w: response of kind %#x", ErrMalformed, b[0])
		}
		r := Response{Granted: b[0] != refused, Shared: b[0] == grantedShared}
		b = b[1:]
		last := &r.RetryIn
		if r.Granted {
			last = &r.EndsIn
			if r.StartsIn, b, err = parseDuration(b); err != nil {
				return nil, err
			}
		}
		if *last, b, err = parseDuration(b); err != nil {
			return nil, err
		}
		responses = append(responses, r)
	}
	if len(b) > 0 || len(responses) < n {
		return nil, fmt.Errorf("%w: %d responses and %d further bytes for %d requests",
			ErrMalformed, len(responses), len(b), n)
	}
	return responses, nil
}

// appendDuration adds round before it divides by a millisecond.
func appendDuration(dst []byte, d, round time.Duration) []byte {
	return binary.AppendUvarint(dst, uint64((min(max(d, 0), maxDuration)+round)/time.Millisecond))
}

func parseDuration(b []byte) (time.Duration, []byte, error) {
	ms, n := binary.Uvarint(b)
	if n <= 0 || ms > uint64(maxDuration/time.Millisecond) {
		return 0, nil, fmt.Errorf("%w: a time of %d ms", ErrMalformed, ms)
	}
	return time.Duration(ms) * time.Millisecond, b[n:], nil
}
