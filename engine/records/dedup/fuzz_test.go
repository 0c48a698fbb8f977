package dedup

import (
	"encoding/binary"
	"errors"
	"testing"

	"orbweaver/internal/vfs"

	"github.com/zeebo/xxh3"
)

// FuzzEntries: no bytes make Open panic, and a map that opens passes Check. With mend, checksums are corrected where
// lengths allow, so that the fuzzer gets past them.
func FuzzEntries(f *testing.F) {
	b := appendHead(nil, 5)
	f.Add(b, uint64(0), false)
	for i := range uint64(3) {
		b = appendEntry(b, int64(len(b)), digestOf(i), firstOf(i))
	}
	f.Add(b, uint64(3), false)
	f.Add(b[:len(b)-1], uint64(3), true)
	f.Add(append(b, b[headBytes:]...), uint64(6), true)
	f.Fuzz(func(t *testing.T, b []byte, count uint64, mend bool) {
		if mend {
			mendEntries(b)
		}
		disk := vfs.NewMem(1)
		must(t, disk.MkdirAll(small.Dir))
		rewrite(t, disk, entriesFile, b)
		m, err := Open(disk, small, &Checkpoint{Length: int64(len(b)), Count: count})
		if err != nil {
			if !errors.Is(err, vfs.ErrCorrupt) {
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

func mendEntries(b []byte) {
	if len(b) < headBytes {
		return
	}
	copy(b, fileMagic)
	binary.LittleEndian.PutUint64(b[16:], xxh3.Hash(b[:16]))
	for at := headBytes; at < len(b); {
		n, fault := entryBytes(b[at:])
		if fault != "" || n > len(b)-at {
			return
		}
		binary.LittleEndian.PutUint32(b[at:], entrySum(b[at:at+n], int64(at)))
		at += n
	}
}

// twice reports whether two entries have one digest, which Check is right to complain about.
func twice(b []byte) bool {
	there := map[Digest]bool{}
	for at := headBytes; at < len(b); {
		n, _ := entryBytes(b[at:])
		d, _, _ := decodeEntry(b[at:at+n], int64(at))
		if there[d] {
			return true
		}
		there[d] = true
		at += n
	}
	return false
}

// FuzzRun: no bytes in a run make Open, Lookup, Check or a merge panic, or return a wrong result without an error.
func FuzzRun(f *testing.F) {
	disk := vfs.NewMem(1)
	m := open(f, disk, nil)
	fill(f, m, 40)
	checkpoint := saved(f, m)
	name := runName(small.Dir, checkpoint.Runs[0].Serial)
	whole, err := vfs.ReadFile(disk, name)
	must(f, err)
	f.Add(0, uint64(1), false)
	f.Add(len(whole)-1, uint64(1), true)
	f.Add(blockHeader, uint64(0xff), true)
	f.Add(blockHeader, uint64(0xff), false)
	f.Add(blockHeader+8, uint64(0xff), false)
	f.Add(int(binary.LittleEndian.Uint64(whole[len(whole)-footerBytes+24:]))*blockBytes, uint64(0xff), true)
	f.Add(blockHeader+7, uint64(0xff00), true)
	f.Add(len(whole)-footerBytes-directoryBytes, uint64(3), true)
	f.Add(len(whole)-footerBytes-directoryBytes-16, uint64(3), true)
	f.Fuzz(func(t *testing.T, at int, change uint64, mend bool) {
		if at < 0 || at > len(whole)-8 || change == 0 {
			return
		}
		b := append([]byte(nil), whole...)
		binary.LittleEndian.PutUint64(b[at:], binary.LittleEndian.Uint64(b[at:])^change)
		if mend {
			mendRun(b, checkpoint.Runs[0].Serial)
		}
		disk := disk.KillClone()
		rewrite(t, disk, name, b)
		m, err := Open(disk, small, checkpoint)
		if err != nil {
			if !errors.Is(err, vfs.ErrCorrupt) {
				t.Fatalf("not called corrupt: %v", err)
			}
			return
		}
		for i := range uint64(60) {
			first, ok, err := m.Lookup(digestOf(i))
			if err == nil && ok && (i >= 40 || first.URI != firstOf(i).URI) {
				t.Fatalf("digest %d is said to be that of %q", i, first.URI)
			}
			// A digest can only be hidden by forged checksums.
			if err == nil && !ok && i < 40 && !mend || err != nil && !errors.Is(err, vfs.ErrCorrupt) {
				t.Fatalf("digest %d: there is %v, %v", i, ok, err)
			}
		}
		same := string(b) == string(whole)
		// The same holds for damage in parts that are not read.
		if err := m.Check(); err == nil != same && !(mend && err == nil) {
			t.Fatalf("Check: %v", err)
		}
		for i := range uint64(200) {
			if _, _, err := m.Insert(digestOf(1000+i), firstOf(i)); err != nil &&
				(same || !errors.Is(err, vfs.ErrCorrupt)) {
				t.Fatal(err)
			}
		}
	})
}

// mendRun puts right all checksums that can be found.
func mendRun(b []byte, serial uint64) {
	foot := b[len(b)-footerBytes:]
	directory := b[len(b)-footerBytes-directoryBytes : len(b)-footerBytes]
	at := int(binary.LittleEndian.Uint64(foot[24:])) * blockBytes
	for i := 0; i < at && i+blockBytes <= len(b); i += blockBytes {
		binary.LittleEndian.PutUint64(b[i:], xxh3.HashSeed(b[i+8:i+blockBytes], serial))
	}
	for i := range segments {
		keys, width := binary.LittleEndian.Uint32(directory[16*i:]), binary.LittleEndian.Uint32(directory[16*i+4:])
		if keys > 1000 || width > widthMax || at < 0 {
			return
		}
		_, n := filterBytes(int(keys), uint(width))
		if at+int(n) > len(b) {
			return
		}
		if keys > 0 {
			binary.LittleEndian.PutUint64(directory[16*i+8:], xxh3.Hash(b[at:at+int(n)]))
		}
		at += int(n)
	}
	binary.LittleEndian.PutUint64(foot[48:], xxh3.Hash(directory))
	binary.LittleEndian.PutUint64(foot[56:], xxh3.Hash(foot[:56]))
}
