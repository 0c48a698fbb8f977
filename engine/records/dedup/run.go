package dedup

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"path"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/zeebo/xxh3"

	"orbweaver/internal/vfs"
)

const (
	// segments checkpoint a run by the first bits of the hashes into pieces that are merged, and forgotten, one by one.
	segmentBits  = 8
	segments     = 1 << segmentBits
	segmentShift = 64 - segmentBits

	blockBytes   = 1024 // never across a page
	blockHeader  = 16
	recordBytes  = 12
	blockRecords = (blockBytes - blockHeader) / recordBytes

	runMagic       = "OWSEENR1"
	footerBytes    = 64
	directoryBytes = segments * 16

	errOutsideRun = "a record leads out of the run's part of the entries"

	offsetMax = 1<<40 - 1
	hashMask  = 1<<segmentShift - 1
)

// run is a file that maps hashes to offsets, sorted, for all entries in [start, end) of the entries file. It never
// changes.
type run struct {
	file       vfs.File
	serial     uint64
	keys       uint64
	blocks     uint32
	start, end int64
	segs       [segments]segment
	bytes      int64
	// firstCheckpoint is the generation of the first Checkpoint that names the file; zero while none does. Map.mu
	// guards it.
	firstCheckpoint uint64
	synced          bool // Sync's alone
}

// segment is where in the run the hashes with the same first bits are.
type segment struct {
	keys   uint32
	width  uint8
	block  uint32
	filter atomic.Pointer[filter] // nil without keys, and when a younger run has taken over
}

func runName(dir string, serial uint64) string {
	return path.Join(dir, fmt.Sprintf("run-%012d", serial))
}

// runSerial tells whether a base name is a run's.
func runSerial(base string) (serial uint64, ok bool) {
	digits, ok := strings.CutPrefix(base, "run-")
	if !ok {
		return 0, false
	}
	serial, err := strconv.ParseUint(digits, 10, 64)
	return serial, err == nil && path.Base(runName("", serial)) == base
}

func (s *segment) blocks() uint32 { return (s.keys + blockRecords - 1) / blockRecords }

// filterMemory is what the filters take that are in memory.
func (r *run) filterMemory() (n int64) {
	for i := range r.segs {
		if f := r.segs[i].filter.Load(); f != nil {
			n += int64(len(f.words)) * 8
		}
	}
	return n
}

func (r *run) corrupt(offset int64, what string) error {
	return &vfs.CorruptError{File: r.file.Name(), Offset: offset, What: what}
}

// search appends the offsets of all records with the hash to p.offsets. It returns false if the segment's filter was
// released: a younger run has replaced it.
func (r *run) search(p *probe, hash uint64) (bool, error) {
	s := &r.segs[hash>>segmentShift]
	if s.keys == 0 {
		return true, nil
	}
	f := s.filter.Load()
	if f == nil {
		return false, nil
	}
	from, to := f.find(hash)
	have := len(p.offsets)
	for i := from; i < to; i++ {
		if i == from || i%blockRecords == 0 {
			number := s.block + uint32(i/blockRecords)
			if err := readAt(r.file, p.block[:], int64(number)*blockBytes); err != nil {
				return false, err
			}
			p.reads++
			if fault := checkBlock(p.block[:], r.serial, number, s.recordsIn(number)); fault != "" {
				return false, r.corrupt(int64(number)*blockBytes, fault)
			}
		}
		if rec := getRecord(p.block[:], i%blockRecords, hash>>segmentShift); rec.hash == hash {
			if rec.offset < r.start || rec.offset >= r.end {
				return false, r.corrupt(int64(s.block+uint32(i/blockRecords))*blockBytes, errOutsideRun)
			}
			p.offsets = append(p.offsets, rec.offset)
		}
	}
	if from < to && len(p.offsets) == have {
		p.errs++
	}
	return true, nil
}

// recordsIn is how many records a block of the segment has.
func (s *segment) recordsIn(number uint32) int {
	return min(blockRecords, int(s.keys)-int(number-s.block)*blockRecords)
}

// putRecord writes record i of a block.
func putRecord(block []byte, i int, s slot) {
	b := block[blockHeader+i*recordBytes:][:recordBytes]
	binary.LittleEndian.PutUint64(b, s.hash&hashMask|uint64(s.offset)<<segmentShift)
	binary.LittleEndian.PutUint32(b[8:], uint32(s.offset>>segmentBits))
}

func getRecord(block []byte, i int, segment uint64) slot {
	b := block[blockHeader+i*recordBytes:][:recordBytes]
	v := binary.LittleEndian.Uint64(b)
	return slot{
		hash:   v&hashMask | segment<<segmentShift,
		offset: int64(v>>segmentShift | uint64(binary.LittleEndian.Uint32(b[8:]))<<segmentBits),
	}
}

// sealBlock completes a block whose records are written and whose rest is zero.
func sealBlock(b []byte, serial uint64, number uint32, n int) {
	binary.LittleEndian.PutUint32(b[8:], number)
	binary.LittleEndian.PutUint32(b[12:], uint32(n))
	binary.LittleEndian.PutUint64(b, xxh3.HashSeed(b[8:], serial))
}

func checkBlock(b []byte, serial uint64, number uint32, n int) (fault string) {
	switch {
	case binary.LittleEndian.Uint64(b) != xxh3.HashSeed(b[8:], serial):
		return "block checksum"
	case binary.LittleEndian.Uint32(b[8:]) != number:
		return "block of another place"
	case binary.LittleEndian.Uint32(b[12:]) != uint32(n):
		return "number of records in a block"
	}
	return ""
}

// appendFooter appends the directory and what ends the file. sums are the checksums of the filters.
func (r *run) appendFooter(b []byte, sums *[segments]uint64) []byte {
	at := len(b)
	for i := range r.segs {
		b = binary.LittleEndian.AppendUint32(b, r.segs[i].keys)
		b = binary.LittleEndian.AppendUint32(b, uint32(r.segs[i].width))
		b = binary.LittleEndian.AppendUint64(b, sums[i])
	}
	directory := xxh3.Hash(b[at:])
	at = len(b)
	b = append(b, runMagic...)
	for _, v := range []uint64{r.serial, r.keys, uint64(r.blocks), uint64(r.start), uint64(r.end), directory} {
		b = binary.LittleEndian.AppendUint64(b, v)
	}
	return binary.LittleEndian.AppendUint64(b, xxh3.Hash(b[at:]))
}

// readAt fills b; a file that ends early is corrupt.
func readAt(f vfs.File, b []byte, offset int64) error {
	n, err := f.ReadAt(b, offset)
	if n == len(b) {
		return nil
	}
	if err == nil || errors.Is(err, io.EOF) {
		return &vfs.CorruptError{File: f.Name(), Offset: offset + int64(n), What: "file ends early"}
	}
	return fmt.Errorf("dedup: %w", err)
}
