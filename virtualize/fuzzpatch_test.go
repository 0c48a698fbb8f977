package virtualize

import (
	"encoding/binary"
	"errors"
	"io"
	"maps"
	"slices"
	"testing"

	"orbweaver/internal/vfs"
)

// crowded returns the files of a Virtualizer with moved blocks of long queues, after its first checkpoint.
func crowded(f *testing.F) (files map[string][]byte) {
	disk := vfs.NewMem(1)
	v, err := Open(disk, small, nil)
	if err != nil {
		f.Fatal(err)
	}
	v.collector.liveRatioMin = 1
	for i := range 1500 {
		if err := v.Append(uint64(i%5), number(i)); err != nil {
			f.Fatal(err)
		}
	}
	_, takeErr := v.Take(0, 100, func([]byte) {})
	_, dropErr := v.Drop(1)
	_, collectErr := v.Collect(8000)
	cut, cutErr := cutNow(v)
	if v.queues.log.segments.moved.count == 0 {
		f.Fatal("nothing was moved")
	}
	if err := errors.Join(takeErr, dropErr, collectErr, cutErr, v.Release(cut), v.Close()); err != nil {
		f.Fatal(err)
	}
	names, err := disk.List("v")
	if err != nil {
		f.Fatal(err)
	}
	files = map[string][]byte{}
	for _, name := range names {
		if files[name], err = vfs.ReadFile(disk, "v/"+name); err != nil {
			f.Fatal(err)
		}
	}
	return files
}

// Changes bytes of good files, and corrects the checksum of the index and optionally those of the blocks. A patch is
// five bytes: file, offset, value.
func FuzzPatched(f *testing.F) {
	files := crowded(f)
	names := slices.Sorted(maps.Keys(files))
	f.Add([]byte{0, 0, 0, 90, 1}, false)
	f.Add([]byte{1, 0, 0x1f, 0xf0, 7, 1, 0, 0x1f, 0xe8, 3}, true)
	f.Fuzz(func(t *testing.T, patches []byte, mend bool) {
		disk := vfs.NewMem(1)
		if err := disk.MkdirAll("v"); err != nil {
			t.Fatal(err)
		}
		bad := map[string][]byte{}
		for name, data := range files {
			bad[name] = slices.Clone(data)
		}
		for ; len(patches) >= 5; patches = patches[5:] {
			data := bad[names[int(patches[0])%len(names)]]
			data[int(binary.BigEndian.Uint32(patches)&0xffffff)%len(data)] ^= patches[4]
		}
		index, cut := mended(bad[names[0]])
		bad[names[0]] = index
		for _, name := range names {
			if mend && name != names[0] {
				mendBlocks(bad[name])
			}
			data := bad[name]
			write := func(w io.Writer) error { _, err := w.Write(data); return err }
			if err := vfs.WriteAtomic(disk, "v/"+name, write); err != nil {
				t.Fatal(err)
			}
		}
		v, err := Open(disk, small, &cut)
		if err == nil {
			exercise(t, v)
		} else if !errors.Is(err, ErrCorrupt) {
			t.Fatal(err)
		}
	})
}

// mendBlocks recomputes the checksum of every block that can be found.
func mendBlocks(data []byte) {
	s := &segment{data: data, dataEnd: uint32(len(data)), slots: uint32(len(data)-segmentHead) / slotBytes}
	for i := range s.slots {
		if sl, next, body, err := s.body(i); err == nil {
			sl.sum = sl.checksum(body)
			sl.put(s.slotAt(i), next)
		}
	}
}
