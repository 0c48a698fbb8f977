package virtualize

import (
	"encoding/binary"
	"errors"
	"io"
	"testing"

	"github.com/zeebo/xxh3"

	"orbweaver/internal/vfs"
)

// Open accepts or refuses arbitrary bytes as index file and as segment, without panic. If Check accepts them, all items
// can be read; otherwise the error is ErrCorrupt.
func FuzzOpen(f *testing.F) {
	disk := vfs.NewMem(1)
	v, err := Open(disk, small, nil)
	if err != nil {
		f.Fatal(err)
	}
	for i := range 60 {
		if err := v.Append(uint64(i%3), make([]byte, i)); err != nil {
			f.Fatal(err)
		}
	}
	flushErr := v.queues.flush()
	if err := v.Append(7, []byte("in the buffer")); err != nil {
		f.Fatal(err)
	}
	cut, err := cutNow(v)
	if err = errors.Join(flushErr, err, v.Close()); err != nil {
		f.Fatal(err)
	}
	goodIndex, err := vfs.ReadFile(disk, indexName("v", cut.Generation))
	if err != nil {
		f.Fatal(err)
	}
	goodSegment, err := vfs.ReadFile(disk, segmentName("v", 1))
	if err != nil {
		f.Fatal(err)
	}
	head, slots := goodSegment[:segmentHead+2000], goodSegment[len(goodSegment)-500:]
	f.Add(goodIndex, head, slots)
	f.Add(goodIndex[:sectionHead+8], []byte{}, []byte{})
	f.Add([]byte(indexMagic), []byte(segmentMagic), []byte{0})
	f.Fuzz(func(t *testing.T, index, front, back []byte) {
		if len(index) < sectionHead+sectionTail || len(front)+len(back) > int(small.SegmentBytes) {
			return
		}
		index, cut := mended(index)
		segment := make([]byte, small.SegmentBytes)
		copy(segment, front)
		copy(segment[len(segment)-len(back):], back)
		putSegmentHead(segment, 1, firstModel())
		disk := vfs.NewMem(1)
		if err := disk.MkdirAll("v"); err != nil {
			t.Fatal(err)
		}
		for name, data := range map[string][]byte{indexName("v", 1): index, segmentName("v", 1): segment} {
			if err := vfs.WriteAtomic(disk, name, func(w io.Writer) error { _, err := w.Write(data); return err }); err != nil {
				t.Fatal(err)
			}
		}
		v, err := Open(disk, small, &cut)
		if err != nil {
			return
		}
		exercise(t, v)
	})
}

// mended returns a copy of an index file of one section with a correct checksum, so that more of the code is reached,
// and a possible checkpoint for it.
func mended(index []byte) ([]byte, Checkpoint) {
	index = append([]byte(nil), index...)
	end := len(index) - sectionTail
	sum := xxh3.Hash(index[:end])
	binary.LittleEndian.PutUint64(index[end:], sum)
	return index, Checkpoint{
		Generation: 1, Base: 1, Length: uint64(len(index)), Checksum: sum,
		Items: binary.LittleEndian.Uint64(index[56:]), Queues: binary.LittleEndian.Uint64(index[64:]),
	}
}

// exercise calls all methods of an opened Virtualizer.
func exercise(t *testing.T, v *Virtualizer) {
	checked := v.Check()
	if checked != nil && !errors.Is(checked, ErrCorrupt) {
		t.Fatalf("check: %v", checked)
	}
	var keys []uint64
	if err := v.queues.idx.each(func(_ uint32, e *entry) error { keys = append(keys, e.key); return nil }); err != nil {
		t.Fatal(err)
	}
	fail := func(what string, err error) {
		if err != nil && (checked == nil || !errors.Is(err, ErrCorrupt)) {
			t.Fatalf("%s: %v; check: %v", what, err, checked)
		}
	}
	v.collector.liveRatioMin = 1
	for i, key := range keys {
		fail("each", v.Each(key, func([]byte) bool { return true }))
		if err := v.Append(key, []byte("more")); err != nil && !errors.Is(err, ErrTooMany) {
			t.Fatal(err)
		}
		// Collect may find damage in a dead block, which Check does not read.
		if _, err := v.Collect(10000); err != nil && !errors.Is(err, ErrCorrupt) {
			t.Fatalf("collect: %v", err)
		}
		if i%3 == 0 {
			_, err := v.Drop(key)
			fail("drop", err)
			continue
		}
		want := v.Len(key)
		n, err := v.Take(key, 1<<30, func([]byte) {})
		fail("take", err)
		if err == nil && uint64(n) != want {
			t.Fatalf("took %d of %d", n, want)
		}
	}
	if _, err := cutNow(v); err != nil && !errors.Is(err, ErrTooMany) {
		t.Fatal(err)
	}
	fail("check at the end", v.Check())
	if err := v.Close(); err != nil {
		t.Fatal(err)
	}
}
