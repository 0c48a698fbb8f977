package cold

import (
	"encoding/binary"
	"errors"
	"testing"

	"orbweaver/internal/vfs"
)

// No file makes Open panic or trust a length, whatever its records contain. The checksums are correct here.
func FuzzOpen(f *testing.F) {
	grave := appendRemoval(nil, removal{hash: 1, at: Position{1, segmentHead}, size: 32})
	f.Add([]byte{kindHost, 1, 3, 'k', 'f', 'f', kindHost, 2, 2, 'a', 'b', kindRemoval, 0, 3, 1, 2, 3})
	f.Add(append([]byte{kindHost, 1, 1, 'k', kindRemoval, 0, byte(len(grave))}, grave...))
	f.Add([]byte{9, 1, 1, 'k', kindHost, 200, 1, 'k'})
	f.Fuzz(func(t *testing.T, script []byte) {
		log := appendSegmentHead(nil, 1)
		for len(script) >= 3 {
			kind, keyLen, n := script[0], script[1], min(int(script[2]), len(script)-3)
			p := Position{1, int64(len(log))}
			log = appendRecord(log, p, kind, nil, script[3:3+n])
			binary.LittleEndian.PutUint16(log[p.Offset+12:], uint16(keyLen))
			binary.LittleEndian.PutUint64(log[p.Offset:], checksum(log[p.Offset+8:p.Offset+recordHead+int64(n)], p))
			script = script[3+n:]
		}
		open(t, log)
	})
}

// The same for bytes that are not records.
func FuzzRecord(f *testing.F) {
	f.Add(appendRecord(nil, Position{1, segmentHead}, kindHost, []byte("key"), []byte("form")))
	f.Add(appendRecord(nil, Position{1, segmentHead}, kindRemoval, nil, make([]byte, removalBody)))
	f.Add([]byte{0, 0, 0, 0, 0, 0, 0, 0, 255, 255, 255, 0, 0, 0, 1, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		p := Position{1, segmentHead}
		if r, fault := parseRecord(b, p); fault == "" && r.kind == kindHost {
			again := appendRecord(nil, p, kindHost, r.key, r.form)
			if string(again) != string(b[:r.size]) {
				t.Fatalf("%x is read as what would be written as %x", b[:r.size], again)
			}
		}
		open(t, append(appendSegmentHead(nil, 1), b...))
	})
}

// open opens a log of one file. If this succeeds, all hosts in the store can be taken.
func open(t *testing.T, log []byte) {
	t.Helper()
	disk := vfs.NewMem(1)
	if err := disk.MkdirAll("cold"); err != nil {
		t.Fatal(err)
	}
	overwrite(t, disk, "cold/00000001", log)
	cut := Checkpoint{Head: Position{1, segmentHead}, Tail: Position{1, int64(len(log)) &^ (recordAlign - 1)}}
	// The correct sums are unknown. The error of the first attempt contains them.
	s := newStore(disk, small().WithDefaults(), cut.Head, cut.Tail)
	if err := s.restore(&cut); err != nil && !errors.Is(err, vfs.ErrCorrupt) {
		t.Fatal(err)
	}
	cut.Hosts, cut.Sum = uint64(s.hosts.table.used), s.hosts.sum
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s, err := Open(disk, small(), &cut)
	if err != nil {
		if !errors.Is(err, vfs.ErrCorrupt) {
			t.Fatal(err)
		}
		return
	}
	var keys []string
	if err := s.Each(func(key, _ []byte) bool { keys = append(keys, string(key)); return true }); err != nil {
		t.Fatal(err)
	}
	for _, key := range keys {
		if _, found, err := s.Take(nil, []byte(key)); !found || err != nil {
			t.Fatalf("%q: %v, %v", key, found, err)
		}
	}
	if s.Len() != 0 {
		t.Fatal(s.Len(), "left")
	}
}
