package diskq

import (
	"encoding/binary"
	"errors"
	"io"
	"testing"

	"orbweaver/internal/vfs"
)

// Open accepts or refuses arbitrary bytes as a segment with an arbitrary checkpoint, without panic. Read returns only
// items that the checkpoint counts.
func FuzzOpen(f *testing.F) {
	disk := vfs.NewMem(1)
	q, err := Open(disk, smallOptions, nil)
	if err != nil {
		f.Fatal(err)
	}
	for i := range 20 {
		if err := q.Append(make([]byte, i)); err != nil {
			f.Fatal(err)
		}
	}
	cut, err := q.Checkpoint()
	if err = errors.Join(err, q.Close()); err != nil {
		f.Fatal(err)
	}
	good, err := vfs.ReadFile(disk, directory{dir: "q"}.name(0))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good, uint16(cut.HeadOffset), uint16(0), uint16(cut.TailOffset), uint16(cut.Count), false)
	f.Add(good, uint16(cut.HeadOffset), uint16(3), uint16(cut.TailOffset), uint16(cut.Count-3), true)
	f.Add([]byte(magic), uint16(0), uint16(0), uint16(0), uint16(0), true)
	f.Fuzz(func(t *testing.T, data []byte, head, skip, tail, count uint16, repair bool) {
		if repair && len(data) > reserved {
			// Give the changed payload a correct checksum, to reach more code.
			data = append([]byte(nil), data...)
			n := min(int(binary.LittleEndian.Uint32(data[segmentHead:])), len(data)-reserved)
			items := binary.LittleEndian.Uint32(data[segmentHead+4:])
			putBlockHead(data[segmentHead:], data[reserved:reserved+max(0, n)], 0, int64(segmentHead), items)
		}
		disk := vfs.NewMem(1)
		if err := disk.MkdirAll("q"); err != nil {
			t.Fatal(err)
		}
		write := func(w io.Writer) error { _, err := w.Write(data); return err }
		if err := vfs.WriteAtomic(disk, directory{dir: "q"}.name(0), write); err != nil {
			t.Fatal(err)
		}
		cut := Checkpoint{
			HeadOffset: uint64(head),
			HeadSkip:   uint64(skip),
			TailOffset: uint64(tail),
			Count:      uint64(count),
		}
		q, err := Open(disk, smallOptions, &cut)
		if err != nil {
			return
		}
		checked := q.Check()
		read := uint64(0)
		for {
			_, ok, err := q.Read(nil)
			if err != nil && checked == nil {
				t.Fatalf("passes Check and cannot be read: %v", err)
			}
			if !ok {
				break
			}
			read++
		}
		if read > uint64(count) || (checked == nil && read != uint64(count)) {
			t.Fatalf("%d items read, %d in the cut, check %v", read, count, checked)
		}
		if err := q.Close(); err != nil {
			t.Fatal(err)
		}
	})
}
