package virtualize

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"orbweaver/internal/vfs"
)

// notingDisk notes the ranges that are expected of mappings, as pages of a few bytes.
type notingDisk struct {
	vfs.FS
	t     *testing.T
	pages map[notedPage]bool
}

type notedPage struct {
	file string
	at   int
}

// notedBytes is the size of a page here, so that neighbours of a block are other pages.
const notedBytes = 32

func (d *notingDisk) Create(name string) (vfs.File, error) {
	f, err := d.FS.Create(name)
	return notingFile{f, d}, err
}

type notingFile struct {
	vfs.File
	disk *notingDisk
}

func (f notingFile) Map(length int64) (vfs.Mapping, error) {
	m, err := f.File.Map(length)
	return notingMapping{m, f}, err
}

type notingMapping struct {
	vfs.Mapping
	file notingFile
}

func (m notingMapping) Expect(offset, length int) {
	if offset < 0 || length <= 0 || offset+length > len(m.Bytes()) {
		m.file.disk.t.Errorf("expects %d bytes from %d on, of %d", length, offset, len(m.Bytes()))
	}
	m.file.disk.note(m.file.Name(), offset, length)
}

func (d *notingDisk) note(file string, offset, length int) {
	for at := offset / notedBytes; at <= (offset+length-1)/notedBytes; at++ {
		d.pages[notedPage{file, at}] = true
	}
}

// touched are the pages that Take(key, limit) reads.
func (d *notingDisk) touched(v *Virtualizer, key uint64, limit int) {
	id, ok := v.queues.idx.find(key)
	if !ok {
		return
	}
	l := &v.queues.log
	for e := *v.queues.idx.at(id); e.disk > 0 && limit > 0; {
		s, body, left, next, err := l.headSlot(&e)
		if err != nil {
			d.t.Fatal(err)
		}
		name, i := segmentName(v.opts.Dir, s.number), uint32(0)
		if _, i = l.segments.locate(e.head); i+1 < s.slots {
			d.note(name, len(s.data)-int(i+2)*slotBytes, slotBytes)
		}
		d.note(name, len(s.data)-int(i+1)*slotBytes, slotBytes)
		sl, _ := parseSlot(s.slotAt(i))
		d.note(name, int(sl.offset), len(body))
		limit -= int(left)
		e.first, e.head, e.disk = e.first+left, next, e.disk-uint32(left)
	}
}

func TestReadAhead_expectsWhatTheNextTakesTouch(t *testing.T) {
	for seed := range uint64(30) {
		rng := rand.New(rand.NewPCG(seed, 7))
		disk := &notingDisk{FS: vfs.NewMem(seed), t: t, pages: map[notedPage]bool{}}
		v, err := Open(disk, Options{Dir: "v", SegmentBytes: 8192, BufferBytes: 4096, ReadAheadFrom: 1}, nil)
		must(t, err)
		for i := range 4000 {
			key := 1 + rng.Uint64N(12)
			switch rng.IntN(8) {
			case 0:
				_, err = v.Take(key, rng.IntN(30), func([]byte) {})
			case 1:
				_, err = v.Collect(1 << 14)
			default:
				err = v.Append(key, []byte(randomItem(rng, i)))
			}
			must(t, err)
		}
		for range 50 {
			keys := make([]uint64, rng.IntN(6))
			for i := range keys {
				keys[i] = rng.Uint64N(14) // some are of no queue
			}
			limit := rng.IntN(60)
			clear(disk.pages)
			v.ReadAhead(keys, limit)
			expected := maps.Clone(disk.pages)
			clear(disk.pages)
			for _, key := range keys {
				disk.touched(v, key, limit)
			}
			if !maps.Equal(expected, disk.pages) {
				t.Fatalf("seed %d: of %v, %d items each: %d pages, want %d", seed, keys, limit, len(expected), len(disk.pages))
			}
		}
		if v.Stats().Moved == 0 && v.Stats().Collected == 0 {
			t.Errorf("seed %d: no block was moved", seed)
		}
		must(t, v.Close())
	}
}

func TestReadAhead_doesNothingWhileTheLogIsShort(t *testing.T) {
	v, err := Open(vfs.NewMem(1), Options{Dir: "v", BufferBytes: 1 << 20}, nil)
	must(t, err)
	for i := range 200_000 {
		must(t, v.Append(uint64(i%100), fmt.Appendf(nil, "/an/item/%d/%d", i*i%1013, i)))
	}
	v.ReadAhead([]uint64{1, 2, 3}, 64)
	if s := v.Stats(); s.BlocksWritten == 0 || s.BlocksExpected != 0 {
		t.Errorf("%+v", s)
	}
	must(t, v.Close())
	v.ReadAhead([]uint64{1}, 64)
}

// A page that cannot be read is left to Take, which says so.
func TestReadAhead_leavesFaultsOfAMappingToTake(t *testing.T) {
	o := Options{Dir: t.TempDir(), SegmentBytes: int64(4 * os.Getpagesize()), BufferBytes: 4096, ReadAheadFrom: 1}
	v, err := Open(vfs.Disk(), o, nil)
	must(t, err)
	rng := rand.New(rand.NewPCG(1, 8))
	for i := range 2000 {
		must(t, v.Append(rng.Uint64N(20), []byte(randomItem(rng, i))))
	}
	files, err := os.ReadDir(o.Dir)
	must(t, err)
	for _, f := range files {
		if f.Name()[:4] == "seg-" {
			must(t, os.Truncate(o.Dir+"/"+f.Name(), 0))
		}
	}
	keys := slices.Collect(func(yield func(uint64) bool) {
		for k := uint64(0); k < 20 && yield(k); k++ {
		}
	})
	if v.ReadAhead(keys, 64); v.Stats().BlocksExpected != 0 {
		t.Errorf("%d blocks of files that are gone", v.Stats().BlocksExpected)
	}
	if _, err := v.Take(1, 64, func([]byte) {}); err == nil {
		t.Error("items of a file that is gone were taken")
	}
	_ = v.Close() // what it says of the truncated files is not asked here
}
