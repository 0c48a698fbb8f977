package novelty

import "bytes"

const (
	addressTable    = 1 << 12              // places for the words of addresses
	addressWordsMax = addressTable * 3 / 4 // words of addresses that are kept
	addressBytesMax = 128 << 10            // bytes of the addresses of a page that are read
	decodings       = 3                    // an address in an address in an address is decoded
)

// Addresses are the addresses in a page, as absolute URLs.
type Addresses interface {
	// EachAddress calls f for each address. f borrows it.
	EachAddress(f func(url []byte))
}

// addressWords are the words of the addresses of one page: its own, and those in it. What stands in an address is no
// new text. The zero value is ready.
type addressWords struct {
	table   [addressTable]uint64 // open addressing; 0 is empty
	count   int
	bytes   int
	decoded []byte
	add     func(url []byte) // addURL, made once
}

// read forgets the previous page, and reads the addresses of another one.
func (a *addressWords) read(own []byte, others Addresses) {
	clear(a.table[:])
	a.count, a.bytes = 0, 0
	a.addURL(own)
	if others == nil {
		return
	}
	if a.add == nil {
		a.add = a.addURL
	}
	others.EachAddress(a.add)
}

// addURL adds the words of an address, percent-decoded and as they stand.
func (a *addressWords) addURL(url []byte) {
	if a.bytes += len(url); a.bytes > addressBytesMax {
		return
	}
	a.addText(url)
	for range decodings {
		if bytes.IndexByte(url, '%') < 0 {
			return
		}
		a.decoded = appendDecoded(a.decoded[:0], url) // in place: what is decoded is not longer
		url = a.decoded
		a.addText(url)
	}
}

func (a *addressWords) addText(b []byte) {
	for i := 0; ; {
		t := nextToken(b, i)
		if t.from == len(b) {
			return
		}
		i = t.end
		a.put(t.hash)
		if t.hasDigit {
			a.put(newFigure(t.hash, b[t.from:t.end]).hash(0))
		}
	}
}

func (a *addressWords) put(h uint64) {
	at := h % addressTable
	for a.table[at] != 0 {
		if a.table[at] == h {
			return
		}
		at = (at + 1) % addressTable
	}
	if a.count < addressWordsMax {
		a.table[at] = h
		a.count++
	}
}

func (a *addressWords) has(h uint64) bool {
	for at := h % addressTable; a.table[at] != 0; at = (at + 1) % addressTable {
		if a.table[at] == h {
			return true
		}
	}
	return false
}

// hasNear reports whether a figure, or the next or previous one, stands in an address.
func (a *addressWords) hasNear(f figure) bool {
	return a.has(f.hash(0)) || a.has(f.hash(1)) || a.has(f.hash(-1))
}

// appendDecoded appends b with each %XX decoded once. dst may be the beginning of b.
func appendDecoded(dst, b []byte) []byte {
	for i := 0; i < len(b); i++ {
		c := b[i]
		if c == '%' && i+2 < len(b) {
			if high, low := hexValue(b[i+1]), hexValue(b[i+2]); high|low < 16 {
				c = high<<4 | low
				i += 2
			}
		}
		dst = append(dst, c)
	}
	return dst
}

// hexValue returns the value of a hexadecimal digit, or a number above 15.
func hexValue(c byte) byte {
	switch lower := c | 0x20; {
	case isDigit(c):
		return c - '0'
	case lower >= 'a' && lower <= 'f':
		return lower - 'a' + 10
	default:
		return 0xff
	}
}
