package sieve

import (
	"encoding/binary"
	"fmt"

	"orbweaver/internal/vfs"

	"github.com/zeebo/xxh3"
)

const (
	maskMagic  = "OWSIEVM1"
	maskHeader = 16
)

// save writes which of the given number of payloads must still be emitted, unless the mask file already contains this.
// The bucket is frozen, and no flush runs.
func (l *liveSet) save(files *fileSet, payloads int) error {
	left := l.unemitted.Load()
	if l.bitmap == nil || l.mask.file != nil && l.mask.unemitted == left {
		return nil
	}
	buf := make([]byte, 0, maskHeader+8*len(l.bitmap)+8)
	buf = append(buf, maskMagic...)
	buf = binary.LittleEndian.AppendUint64(buf, uint64(payloads))
	for _, w := range l.bitmap {
		buf = binary.LittleEndian.AppendUint64(buf, w)
	}
	buf = binary.LittleEndian.AppendUint64(buf, xxh3.Hash(buf))
	f, err := files.create(kindMask)
	if err != nil {
		return err
	}
	if _, err := f.Write(buf); err != nil {
		files.drop(f)
		return fmt.Errorf("sieve: %w", err)
	}
	files.drop(l.mask.file)
	l.mask = maskFile{file: f, bytes: int64(len(buf)), unemitted: left}
	return nil
}

// openMask reads the mask file of a checkpoint for the given number of payloads.
func openMask(fsys vfs.FS, name string, c FileCheckpoint, generation, payloads uint64) (*storeFile, []uint64, error) {
	f, err := fsys.Open(name)
	if err != nil {
		return nil, nil, fmt.Errorf("sieve: %w", err)
	}
	live, err := readMask(f, c, payloads)
	if err != nil {
		return nil, nil, closeAfter(f, err)
	}
	return &storeFile{File: f, kind: kindMask, serial: c.Serial, firstCheckpoint: generation, synced: true}, live, nil
}

func readMask(f vfs.File, c FileCheckpoint, payloads uint64) ([]uint64, error) {
	size, err := f.Size()
	if err != nil {
		return nil, fmt.Errorf("sieve: %w", err)
	}
	corrupt := func(what string) error { return &vfs.CorruptError{File: f.Name(), What: what} }
	words := payloads/64 + min(payloads%64, 1)
	if size != c.Bytes || uint64(size) != maskHeader+8*words+8 {
		return nil, corrupt(fmt.Sprintf("file length, want %d", c.Bytes))
	}
	buf := make([]byte, size)
	if err := readAt(f, buf, 0); err != nil {
		return nil, err
	}
	body := buf[:size-8]
	switch {
	case string(buf[:len(maskMagic)]) != maskMagic:
		return nil, corrupt("no mask file of this version")
	case xxh3.Hash(body) != binary.LittleEndian.Uint64(buf[size-8:]):
		return nil, corrupt("mask checksum")
	case binary.LittleEndian.Uint64(buf[len(maskMagic):]) != payloads:
		return nil, corrupt("mask of another bucket")
	}
	live := make([]uint64, words)
	for i := range live {
		live[i] = binary.LittleEndian.Uint64(body[maskHeader+8*i:])
	}
	if payloads%64 != 0 && live[words-1]>>(payloads%64) != 0 || uint64(countSet(live)) != c.Count {
		return nil, corrupt("mask has another number of payloads than the checkpoint")
	}
	return live, nil
}
