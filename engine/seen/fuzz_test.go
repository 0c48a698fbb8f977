package seen

import (
	"encoding/binary"
	"errors"
	"testing"

	"orbweaver/internal/vfs"

	"github.com/zeebo/xxh3"
)

// FuzzOpen: no bytes make Open panic, and what opens passes Check. With mend, checksums are put right where lengths
// allow, so that the fuzzer gets past them.
func FuzzOpen(f *testing.F) {
	b := []byte(fileMagic)
	f.Add(b, uint64(0), false)
	for i := range uint64(3) {
		b = appendEntry(b, digestOf(i), firstOf(i))
	}
	f.Add(b, uint64(3), false)
	f.Add(b[:len(b)-1], uint64(3), true)
	f.Add(append(b, b[8:]...), uint64(6), true)
	f.Fuzz(func(t *testing.T, b []byte, count uint64, mend bool) {
		if mend {
			mendChecksums(b)
		}
		disk := vfs.NewMem(1)
		must(t, disk.MkdirAll("frontier"))
		file, err := disk.Create(small.File)
		must(t, err)
		_, err = file.Write(b)
		must(t, err)
		m, err := Open(disk, small, &Cut{Length: int64(len(b)), Count: count})
		if err != nil {
			if !errors.Is(err, ErrCorrupt) {
				t.Fatalf("not called corrupt: %v", err)
			}
			return
		}
		if err := m.Check(); err != nil && !twice(b) {
			t.Fatal(err)
		}
		insert(t, m, 1<<40, true)
		has(t, m, 1<<40, true)
	})
}

func mendChecksums(b []byte) {
	for at := len(fileMagic); at+entryHeader <= len(b); {
		n := int(binary.LittleEndian.Uint32(b[at:]))
		if n > len(b)-at-entryHeader {
			return
		}
		body := b[at+entryHeader:][:n]
		binary.LittleEndian.PutUint32(b[at+4:], uint32(xxh3.Hash(body)))
		at += entryHeader + n
	}
}

// twice reports whether two entries have one digest, which Check is right to complain about.
func twice(b []byte) bool {
	there := map[Digest]bool{}
	for at := len(fileMagic); at < len(b); {
		n, _ := entryBytes(b[at:])
		d, _, _ := decodeEntry(b[at : at+n])
		if there[d] {
			return true
		}
		there[d] = true
		at += n
	}
	return false
}
