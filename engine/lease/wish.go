package lease

import (
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"time"
)

// Addr is an IP address; IPv4 in its IPv6 form.
type Addr [16]byte

// Kind is what is wished.
type Kind byte

// The kinds of wishes. Their bytes go over the wire.
const (
	Want Kind = 'W' // to begin exchanges; For is the delay after each
	Hold Kind = 'H' // an exchange goes on; For is the delay after it
	Free Kind = 'F' // it is over; For is how long nobody may ask
)

// Wish is what an agent says to the keeper of an address.
type Wish struct {
	Kind Kind
	Addr Addr
	For  time.Duration
}

// Answer is what the keeper says to a wish. The answer to Free means nothing.
type Answer struct {
	Granted bool
	Shared  bool          // others want it, too: it is to be given back as soon as it is not needed
	From    time.Duration // of a lease: after how long it begins
	For     time.Duration // after how long it ends; or after how long to ask again, if it is not granted
}

// ErrWish says that wishes or answers cannot be read.
var ErrWish = errors.New("lease: these are no wishes")

// longest is the longest time that is sent or believed.
const longest = time.Hour

// AppendWish appends a wish as it goes over the wire: its kind, the address, and milliseconds as a varint, rounded up and at most an hour.
func AppendWish(b []byte, w Wish) []byte {
	b = append(b, byte(w.Kind))
	b = append(b, w.Addr[:]...)
	return appendTime(b, w.For, time.Millisecond-1)
}

// Wishes reads what AppendWish wrote. After an error there is nothing more.
func Wishes(b []byte) iter.Seq2[Wish, error] {
	return func(yield func(Wish, error) bool) {
		for len(b) > 0 {
			w, rest, err := readWish(b)
			if !yield(w, err) || err != nil {
				return
			}
			b = rest
		}
	}
}

func readWish(b []byte) (w Wish, rest []byte, err error) {
	w.Kind = Kind(b[0])
	if w.Kind != Want && w.Kind != Hold && w.Kind != Free {
		return w, nil, fmt.Errorf("%w: a wish of the kind %#x", ErrWish, b[0])
	}
	n := copy(w.Addr[:], b[1:])
	if n < len(w.Addr) {
		return w, nil, fmt.Errorf("%w: %d bytes of an address", ErrWish, n)
	}
	w.For, rest, err = readTime(b[1+n:])
	return w, rest, err
}

// The first byte of an answer.
const (
	refused byte = iota
	granted
	shared
)

// AppendAnswer appends an answer: 0 if it is not granted, 1, or 2 if it is shared; From, if it is granted; and For; both in milliseconds
// as varints. The end of a lease is rounded down, all else up.
func AppendAnswer(b []byte, a Answer) []byte {
	if !a.Granted {
		return appendTime(append(b, refused), a.For, time.Millisecond-1)
	}
	kind := granted
	if a.Shared {
		kind = shared
	}
	return appendTime(appendTime(append(b, kind), a.From, time.Millisecond-1), a.For, 0)
}

// Answers reads what AppendAnswer wrote, n of them and no more.
func Answers(b []byte, n int) (all []Answer, err error) {
	for len(b) > 0 && len(all) < n {
		if b[0] > shared {
			return nil, fmt.Errorf("%w: an answer that begins with %#x", ErrWish, b[0])
		}
		a := Answer{Granted: b[0] != refused, Shared: b[0] == shared}
		b = b[1:]
		if a.Granted {
			if a.From, b, err = readTime(b); err != nil {
				return nil, err
			}
		}
		if a.For, b, err = readTime(b); err != nil {
			return nil, err
		}
		all = append(all, a)
	}
	if len(b) > 0 || len(all) < n {
		return nil, fmt.Errorf("%w: %d answers and %d bytes, to %d wishes", ErrWish, len(all), len(b), n)
	}
	return all, nil
}

func appendTime(b []byte, d, up time.Duration) []byte {
	return binary.AppendUvarint(b, uint64((min(max(d, 0), longest)+up)/time.Millisecond))
}

func readTime(b []byte) (time.Duration, []byte, error) {
	ms, n := binary.Uvarint(b)
	if n <= 0 || ms > uint64(longest/time.Millisecond) {
		return 0, nil, fmt.Errorf("%w: a time of %d ms", ErrWish, ms)
	}
	return time.Duration(ms) * time.Millisecond, b[n:], nil
}
