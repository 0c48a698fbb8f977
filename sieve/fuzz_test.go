package sieve

import (
	"encoding/binary"
	"errors"
	"slices"
	"testing"

	"orbweaver/internal/vfs"

	"github.com/zeebo/xxh3"
)

// No block makes decode or a lookup panic. What decode accepts ascends, and lookups find exactly these keys.
func FuzzBlock(f *testing.F) {
	for _, keys := range keySets() {
		k := flat(keys)
		dst := make([]byte, blockBytes)
		encodeBlock(dst, k.first(fitting(k.hi, 40)), 0, 40)
		f.Add(dst)
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		src := make([]byte, blockBytes+blockPad)
		copy(src[:blockBytes], raw)
		binary.LittleEndian.PutUint64(src, xxh3.Hash(src[8:blockBytes])) // otherwise no input would pass the checksum
		number := binary.LittleEndian.Uint32(src[20:])
		head, fault := readHead(src, number)
		if fault != "" {
			return
		}
		var b keyBlock
		k, fault := b.decode(src, number)
		if fault != "" {
			find := finder{ranks: newByteRanks()}
			find.reset(src, head)
			for at := head.base; at < 1<<63; at += 1 << 57 {
				has(&find, key{hi: at})
			}
			for step := range uint64(64) {
				has(&find, key{hi: head.base + step<<head.width})
			}
			return
		}
		checkFinder(t, src, head, k)
		for i := 1; i < k.len(); i++ {
			if !k.at(i - 1).less(k.at(i)) {
				t.Fatalf("key %d is not above the one before", i)
			}
		}
		checkEncode(t, k)
	})
}

// checkFinder looks up each key of a block and its neighbours.
func checkFinder(t *testing.T, src []byte, head blockHead, b keys) {
	t.Helper()
	find := finder{ranks: newByteRanks()}
	find.reset(src, head)
	for i := range b.len() {
		k := b.at(i)
		if has(&find, k) != 2 {
			t.Fatalf("key %d of %d, %v, is not found", i, b.len(), k)
		}
		for _, near := range []key{{k.hi, k.lo + 1}, {k.hi + 1, k.lo}, {k.hi + 1<<head.width, k.lo}} {
			if k.less(near) && (i+1 == b.len() || near.less(b.at(i+1))) && has(&find, near) != 0 {
				t.Fatalf("%v is found, behind key %d of %d, %v", near, i, b.len(), k)
			}
		}
	}
}

// has looks a key up in both ways and returns how many of them find it.
func has(f *finder, k key) int {
	e := newEntry(k, 0)
	hits := []uint8{7}
	if f.parts == 0 {
		f.start()
	}
	f.find([]entry{e}, hits)
	return int(hits[0] + f.seek(e))
}

// checkEncode writes ascending keys to blocks of several widths and reads them again.
func checkEncode(t *testing.T, k keys) {
	t.Helper()
	dst := make([]byte, blockBytes)
	var b keyBlock
	k = k.first(min(k.len(), 300))
	for _, width := range []uint{0, 1, 7, 8, 33, 34, 40, 55, 56} {
		for left := k; left.len() > 0; {
			n := fitting(left.hi, width)
			encodeBlock(dst, left.first(n), 3, width)
			got, fault := b.decode(dst, 3)
			if fault != "" || !slices.Equal(got.hi, left.hi[:n]) || !slices.Equal(got.lo, left.lo[:n]) {
				t.Fatalf("%d keys at width %d: %s", n, width, fault)
			}
			left = left.from(n)
		}
	}
}

// No files make Open panic. A sieve that opens can be used, or reports corruption.
func FuzzOpen(f *testing.F) {
	mem := vfs.NewMem(1)
	s := open(f, mem, small, nil)
	addAll(s, 1, 2, 3, 4, 5)
	flush(f, s)
	addAll(s, 6, 1, 7)
	refuseAfter(f, s, 1)
	cut := durable(f, s)
	content := func(k kind, serial uint64) []byte {
		b, err := vfs.ReadFile(mem, fileName("sieve", k, serial))
		must(f, err)
		return b
	}
	run, pending, mask := content(
		kindRun,
		cut.Runs[0].Serial,
	), content(
		kindPending,
		cut.Frozen.Serial,
	), content(
		kindMask,
		cut.FrozenMask.Serial,
	)
	for _, stored := range []bool{false, true} {
		f.Add(run, pending, mask, uint64(5), uint64(3), uint64(1), stored)
		f.Add(run[:len(run)-1], pending[:len(pending)-1], mask, uint64(5), uint64(1), uint64(0), stored)
		f.Add([]byte(runMagic), []byte(pendingMagic), []byte(maskMagic), uint64(1), uint64(1), uint64(1), stored)
	}
	f.Fuzz(func(t *testing.T, run, pending, mask []byte, keys, payloads, left uint64, stored bool) {
		mend(run, pending, mask)
		mem := vfs.NewMem(1)
		must(t, mem.MkdirAll("sieve"))
		replace(t, mem, fileName("sieve", kindRun, 0), run)
		replace(t, mem, fileName("sieve", kindPending, 1), pending)
		replace(t, mem, fileName("sieve", kindMask, 2), mask)
		cut := &Checkpoint{
			Generation: 1, Serial: 3,
			Runs:         []FileCheckpoint{{Serial: 0, Count: keys, Bytes: int64(len(run))}},
			Frozen:       &FileCheckpoint{Serial: 1, Count: payloads, Bytes: int64(len(pending))},
			FrozenStored: stored,
		}
		if len(mask) > 0 {
			cut.FrozenMask = &FileCheckpoint{Serial: 2, Count: left, Bytes: int64(len(mask))}
		}
		s, err := Open(mem, small, cut)
		if err != nil {
			if !errors.Is(err, vfs.ErrCorrupt) {
				t.Fatalf("not called corrupt: %v", err)
			}
			return
		}
		sound := s.Check()
		n := uint64(0)
		_, err = s.Flush(func([]byte) error { n++; return nil })
		if sound == nil && err != nil { // the other case is possible: a lookup does not read everything
			t.Fatalf("Check finds nothing, Flush says %v", err)
		}
		if err == nil && n > payloads {
			t.Fatalf("%d payloads of %d came out", n, payloads)
		}
		must(t, s.Close())
	})
}

// mend makes the checksums right where the lengths allow it.
func mend(run, pending, mask []byte) {
	if at := len(run) - footerBytes; at >= 0 {
		foot := run[at:]
		if blocks := binary.LittleEndian.Uint64(foot[16:]); blocks*blockBytes <= uint64(at) && blocks < 1<<20 {
			binary.LittleEndian.PutUint64(foot[40:], xxh3.Hash(run[blocks*blockBytes:at]))
			for b := range blocks {
				block := run[b*blockBytes:][:blockBytes]
				binary.LittleEndian.PutUint64(block, xxh3.Hash(block[8:]))
			}
		}
		binary.LittleEndian.PutUint64(foot[56:], xxh3.Hash(foot[:56]))
	}
	for at := len(pendingMagic); at+frameHeader <= len(pending); {
		head := pending[at:]
		n := frameHeader + int(binary.LittleEndian.Uint32(head))
		if n > len(head) {
			break
		}
		binary.LittleEndian.PutUint64(head[8:], xxh3.HashSeed(head[frameHeader:n], binary.LittleEndian.Uint64(head)))
		binary.LittleEndian.PutUint64(head[16:], xxh3.Hash(head[:16]))
		at += n
	}
	if at := len(mask) - 8; at >= 0 {
		binary.LittleEndian.PutUint64(mask[at:], xxh3.Hash(mask[:at]))
	}
}
