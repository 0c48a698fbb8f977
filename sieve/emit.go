package sieve

import (
	"fmt"
	"math/bits"

	"orbweaver/internal/vfs"
)

// leftStep is the number of emitted payloads after which unemitted is updated.
const leftStep = 1024

// emit passes the live payloads to f in order of arrival. After an error, the payloads that f accepted are not live any
// more; the refused one is. S4: frames and chunks contain the payloads in the order in which they were added.
func (b *bucket) emit(f func(payload []byte) error) (n uint64, err error) {
	err = b.each(func(i int, payload []byte) error {
		if err := f(payload); err != nil {
			return err
		}
		b.live[i/64] &^= 1 << (i % 64)
		if n++; n%leftStep == 0 {
			b.unemitted.Add(-leftStep)
		}
		return nil
	})
	b.unemitted.Add(-int64(n % leftStep))
	return n, err
}

// each calls visit with the live payloads and their numbers in order of arrival. For frames without live payloads it
// reads only the header.
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
			return &vfs.CorruptError{File: b.file.Name(), Offset: at, What: "more records than the bucket has"}
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
		return &vfs.CorruptError{
			File:   b.file.Name(),
			Offset: b.fileBytes,
			What:   fmt.Sprintf("%d records, want %d", base, b.written),
		}
	}
	for _, c := range b.chunks {
		if ok, err := b.visit(c.buf, base, c.records, visit); err != nil {
			return err
		} else if !ok {
			panic("BUG: S2: a chunk does not contain its payloads")
		}
		base += c.records
	}
	return nil
}

// visit calls the function with the live ones of n payloads in p. The first has number base. The result is false if p
// does not contain exactly n payloads.
func (b *bucket) visit(p []byte, base, n int, visit func(i int, payload []byte) error) (ok bool, err error) {
	for i := base; i < base+n; i++ {
		_, payload, rest, ok := splitRecord(p)
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

// lives reports whether at least one of the n payloads from number i on is live.
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
