package dedup

import (
	"encoding/binary"
	"fmt"

	"github.com/zeebo/xxh3"

	"orbweaver/internal/vfs"
)

// openRun opens the run that a checkpoint names and reads its filters into memory. The blocks are read when they are
// needed.
func openRun(fsys vfs.FS, dir string, c RunCheckpoint) (*run, error) {
	file, err := fsys.Open(runName(dir, c.Serial))
	if err != nil {
		return nil, fmt.Errorf("dedup: %w", err)
	}
	r := &run{file: file, serial: c.Serial, keys: c.Digests, bytes: c.Bytes, synced: true}
	if err = r.load(); err != nil {
		_ = file.Close() // err says already why it is of no use
		return nil, err
	}
	return r, nil
}

func (r *run) load() error {
	size, err := r.file.Size()
	if err != nil {
		return fmt.Errorf("dedup: %w", err)
	}
	const tail = directoryBytes + footerBytes
	if size != r.bytes || size < tail {
		return r.corrupt(min(size, r.bytes), fmt.Sprintf("%d bytes long, the checkpoint has %d", size, r.bytes))
	}
	b := make([]byte, tail)
	if err := readAt(r.file, b, size-tail); err != nil {
		return err
	}
	directory, foot := b[:directoryBytes], b[directoryBytes:]
	if fault := r.parseFooter(foot, xxh3.Hash(directory)); fault != "" {
		return r.corrupt(size-footerBytes, fault)
	}
	filters, fault := r.parseDirectory(directory)
	if fault == "" && int64(r.blocks)*blockBytes+filters != size-tail {
		fault = "the parts of the file do not add up"
	}
	if fault != "" {
		return r.corrupt(size-tail, fault)
	}
	return r.loadFilters(directory)
}

func (r *run) parseFooter(foot []byte, directory uint64) (fault string) {
	field := func(i int) uint64 { return binary.LittleEndian.Uint64(foot[8*i:]) }
	switch {
	case string(foot[:8]) != runMagic:
		return "not a run, or of another version"
	case field(7) != xxh3.Hash(foot[:footerBytes-8]):
		return "footer checksum"
	case field(6) != directory:
		return "directory checksum"
	case field(1) != r.serial || field(2) != r.keys:
		return "not the run that the checkpoint names"
	case field(3) > uint64(r.bytes)/blockBytes || field(3) >= 1<<32 || field(4) > field(5) || field(5) > offsetMax:
		return "footer"
	}
	r.blocks, r.start, r.end = uint32(field(3)), int64(field(4)), int64(field(5))
	return ""
}

// parseDirectory finds the segments and returns the length of all filters.
func (r *run) parseDirectory(b []byte) (filters int64, fault string) {
	var keys, blocks uint64
	for i := range r.segs {
		s := &r.segs[i]
		s.keys, s.block = binary.LittleEndian.Uint32(b[16*i:]), uint32(blocks)
		width := binary.LittleEndian.Uint32(b[16*i+4:])
		if width > widthMax || uint64(s.keys) > r.keys {
			return 0, fmt.Sprintf("segment %d in the directory", i)
		}
		s.width = uint8(width)
		keys += uint64(s.keys)
		blocks += uint64(s.blocks())
		_, n := filterBytes(int(s.keys), uint(width))
		filters += n
	}
	if keys != r.keys || blocks != uint64(r.blocks) {
		return 0, "the segments do not add up"
	}
	return filters, ""
}

func (r *run) loadFilters(directory []byte) error {
	at := int64(r.blocks) * blockBytes
	var b []byte
	for i := range r.segs {
		s := &r.segs[i]
		if s.keys == 0 {
			continue
		}
		_, n := filterBytes(int(s.keys), uint(s.width))
		if int64(cap(b)) < n {
			b = make([]byte, n+n/8)
		}
		b = b[:n]
		if err := readAt(r.file, b, at); err != nil {
			return err
		}
		if xxh3.Hash(b) != binary.LittleEndian.Uint64(directory[16*i+8:]) {
			return r.corrupt(at, fmt.Sprintf("checksum of filter %d", i))
		}
		f := newFilter(int(s.keys), uint(s.width))
		for k := range f.kept() {
			f.words[k] = binary.LittleEndian.Uint64(b[8*k:])
		}
		if !f.end() {
			return r.corrupt(at, fmt.Sprintf("filter %d", i))
		}
		s.filter.Store(f)
		at += n
	}
	return nil
}
