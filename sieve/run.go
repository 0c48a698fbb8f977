package sieve

import (
	"encoding/binary"
	"fmt"
	"io"

	"orbweaver/internal/vfs"

	"github.com/zeebo/xxh3"
)

const (
	runMagic    = "OWSIEVE2"
	footerBytes = 64
	indexBytes  = keyBytes // per block: its first key
)

// run is a sorted file of keys. It is immutable. Its sparse index, the first key of each block, is in memory.
type run struct {
	file    *storeFile
	count   uint64
	bytes   int64
	last    key
	firstHi []uint64
	firstLo []uint8
}

func (r *run) blocks() int     { return len(r.firstHi) }
func (r *run) first(b int) key { return key{hi: r.firstHi[b], lo: r.firstLo[b]} }

// block returns the only block that may contain k, searching from block `from` on; from-1 if k is before that block. It
// first uses doubling steps, because the keys of a lookup ascend and the next one is usually near.
func (r *run) block(k key, from int) int {
	if k.less(r.first(from)) {
		return from - 1
	}
	lo, step := from, 1
	for lo+step < r.blocks() && !k.less(r.first(lo+step)) {
		lo += step
		step *= 2
	}
	hi := min(lo+step, r.blocks())
	for hi-lo > 1 { // first(lo) <= k, and first(hi) > k or hi is the end
		mid := int(uint(lo+hi) / 2)
		if k.less(r.first(mid)) {
			hi = mid
		} else {
			lo = mid
		}
	}
	return lo
}

// corrupt returns the error for a fault in the run's file.
func (r *run) corrupt(offset int64, what string) error {
	return &vfs.CorruptError{File: r.file.Name(), Offset: offset, What: what}
}

// footer is the last 64 bytes of a run.
type footer struct {
	count     uint64
	blocks    uint64
	last      key
	indexHash uint64
}

func (f footer) encode() []byte {
	b := make([]byte, 0, footerBytes)
	b = append(b, runMagic...)
	b = binary.LittleEndian.AppendUint64(b, f.count)
	b = binary.LittleEndian.AppendUint64(b, f.blocks)
	b = binary.LittleEndian.AppendUint64(b, f.last.hi)
	b = binary.LittleEndian.AppendUint64(b, uint64(f.last.lo))
	b = binary.LittleEndian.AppendUint64(b, f.indexHash)
	b = binary.LittleEndian.AppendUint64(b, 0)
	return binary.LittleEndian.AppendUint64(b, xxh3.Hash(b))
}

func decodeFooter(b []byte) (f footer, fault string) {
	switch {
	case string(b[:8]) != runMagic:
		return f, "no run file of this version"
	case binary.LittleEndian.Uint64(b[56:]) != xxh3.Hash(b[:56]):
		return f, "footer checksum"
	}
	return footer{
		count:     binary.LittleEndian.Uint64(b[8:]),
		blocks:    binary.LittleEndian.Uint64(b[16:]),
		last:      key{hi: binary.LittleEndian.Uint64(b[24:]), lo: uint8(binary.LittleEndian.Uint64(b[32:]))},
		indexHash: binary.LittleEndian.Uint64(b[40:]),
	}, ""
}

// openRun opens a run of a checkpoint and reads its index. Blocks are verified when they are read.
func openRun(fsys vfs.FS, name string, c FileCheckpoint, generation uint64) (*run, error) {
	f, err := fsys.Open(name) // files of a checkpoint were synced: nothing will be written
	if err != nil {
		return nil, fmt.Errorf("sieve: %w", err)
	}
	r := &run{
		file:  &storeFile{File: f, kind: kindRun, serial: c.Serial, firstCheckpoint: generation, synced: true},
		count: c.Count, bytes: c.Bytes,
	}
	if err := r.load(); err != nil {
		return nil, closeAfter(f, err)
	}
	return r, nil
}

// load reads footer and index and compares them with the checkpoint.
func (r *run) load() error {
	size, err := r.file.Size()
	if err != nil {
		return fmt.Errorf("sieve: %w", err)
	}
	if size != r.bytes || size < footerBytes {
		return r.corrupt(size, fmt.Sprintf("file length, want %d", r.bytes))
	}
	b := make([]byte, footerBytes)
	if err := readAt(r.file, b, size-footerBytes); err != nil {
		return err
	}
	foot, fault := decodeFooter(b)
	if fault != "" {
		return r.corrupt(size-footerBytes, fault)
	}
	body := uint64(size - footerBytes)
	if foot.count != r.count || foot.blocks == 0 || foot.blocks > body/blockBytes ||
		foot.blocks*(blockBytes+indexBytes) != body {
		return r.corrupt(size-footerBytes, "footer does not fit the file")
	}
	indexAt := int64(foot.blocks) * blockBytes
	index := make([]byte, foot.blocks*indexBytes)
	if err := readAt(r.file, index, indexAt); err != nil {
		return err
	}
	if xxh3.Hash(index) != foot.indexHash {
		return r.corrupt(indexAt, "index checksum")
	}
	r.last = foot.last
	r.firstHi, r.firstLo = make([]uint64, foot.blocks), make([]uint8, foot.blocks)
	for i := range r.firstHi {
		k := key{hi: binary.LittleEndian.Uint64(index[i*indexBytes:]), lo: index[i*indexBytes+8]}
		if i > 0 && !r.first(i-1).less(k) {
			return r.corrupt(indexAt, "index does not ascend")
		}
		r.firstHi[i], r.firstLo[i] = k.hi, k.lo
	}
	return nil
}

// readAt fills b. If the file ends before, it is corrupt.
func readAt(f vfs.File, b []byte, off int64) error {
	n, err := f.ReadAt(b, off)
	if n == len(b) {
		return nil
	}
	if err == nil || err == io.EOF { //nolint:errorlint // io.ReaderAt promises io.EOF itself
		return &vfs.CorruptError{File: f.Name(), Offset: off + int64(n), What: "file ends early"}
	}
	return fmt.Errorf("sieve: %w", err)
}

// closeAfter closes c after a failure and returns err.
func closeAfter(c io.Closer, err error) error {
	_ = c.Close() // err is more important
	return err
}
