package sieve

import (
	"fmt"
	"math/bits"
)

// leftStep is how many payloads are emitted until they are counted.
const leftStep = 1024

// emit hands out the live payloads in order of arrival. After an error those that f took are not live any more, and the
// one it refused is.
// S4: frames and chunks hold the payloads in the order in which they were added.
func (b *bucket) emit(f func(payload []byte) error) (n uint64, err error) {
	err = b.each(func(i int, payload []byte) error {
		if err := f(payload); err != nil {
			return err
		}
		b.live[i/64] &^= 1 << (i % 64)
		if n++; n%leftStep == 0 {
			b.left.Add(-leftStep)
		}
		return nil
	})
	b.left.Add(-int64(n % leftStep))
	return n, err
}

// each visits the live payloads in order of arrival with their numbers. Of frames without any only the header is read.
func (b *bucket) each(visit func(i int, payload []byte) error) error {
	var fr frame
	base := 0
	for at := int64(len(pendingMagic)); b.file != nil && at < b.fileBytes; at = fr.end() {
		first := int64(frameWhole)
		if base < b.written && !b.lives(base, 1) {
			first = frameHeader
		}
		if err := fr.read(b.file, at, b.fileBytes, first); err != nil {
			return err
		}
		if fr.records > b.written-base {
			return &CorruptError{File: b.file.Name(), Offset: at, What: "more records than there were"}
		}
		if b.lives(base, fr.records) {
			p, err := fr.body(b.file)
			if err != nil {
				return err
			}
			if ok, err := b.visit(p, base, fr.records, visit); err != nil {
				return err
			} else if !ok {
				return fr.corrupt(b.file)
			}
		}
		base += fr.records
	}
	if base != b.written {
		return &CorruptError{File: b.file.Name(), Offset: b.fileBytes, What: fmt.Sprintf("%d records, want %d", base, b.written)}
	}
	for _, c := range b.chunks {
		if ok, err := b.visit(c.buf, base, c.records, visit); err != nil {
			return err
		} else if !ok {
			panic("BUG: S2: a chunk does not hold its payloads")
		}
		base += c.records
	}
	return nil
}

// visit visits the live ones of n payloads of which the first has number base; false if p does not hold just so many.
func (b *bucket) visit(p []byte, base, n int, visit func(i int, payload []byte) error) (ok bool, err error) {
	for i := base; i < base+n; i++ {
		_, payload, rest, ok := cutRecord(p)
		if !ok {
			return false, nil
		}
		if b.live == nil || isSet(b.live, i) {
			if err := visit(i, payload); err != nil {
				return true, err
			}
		}
		p = rest
	}
	return len(p) == 0, nil
}

// lives reports whether one of n payloads from number i on is to be emitted.
func (b *bucket) lives(i, n int) bool {
	if b.live == nil {
		return n > 0
	}
	for end := i + n; i < end; {
		w := b.live[i/64] >> (i % 64)
		if skip := bits.TrailingZeros64(w); w != 0 && i+skip < end {
			return true
		}
		i += 64 - i%64
	}
	return false
}
