package sieve

import (
	"fmt"
	"slices"

	"orbweaver/internal/vfs"
)

// loadFrozen restores the bucket that a failed flush left, with the mask of the payloads that must still be emitted.
func (b *bucket) loadFrozen(files *fileSet, cut *Checkpoint) error {
	var live []uint64
	if m := cut.FrozenMask; m != nil {
		name := files.name(kindMask, m.Serial)
		file, bitmap, err := openMask(files.fsys, name, *m, cut.Generation, cut.Frozen.Count)
		if err != nil {
			return err
		}
		b.live.mask = maskFile{file: file, bytes: m.Bytes, unemitted: int64(m.Count)}
		live = bitmap
	}
	if err := b.load(files, *cut.Frozen, cut.Generation, live); err != nil {
		return err
	}
	if cut.FrozenStored {
		b.entries.empty()
		b.stage = stageStored
	}
	return nil
}

// load reads the first c.Bytes bytes of a pending file, adds their keys, and truncates the rest. If live is not nil,
// only payloads with a bit in it are added.
func (b *bucket) load(files *fileSet, c FileCheckpoint, generation uint64, live []uint64) error {
	fsys, name := files.fsys, files.name(kindPending, c.Serial)
	if _, err := fsys.Size(name); err != nil {
		return fmt.Errorf("sieve: %w", err) // OpenRW would create a missing file
	}
	f, err := fsys.OpenRW(name)
	if err != nil {
		return fmt.Errorf("sieve: %w", err)
	}
	if err := b.readPending(f, c, live); err != nil {
		return closeAfter(f, err)
	}
	b.payloads.file = &storeFile{
		File: f, kind: kindPending, serial: c.Serial, firstCheckpoint: generation, synced: true, checkpointBytes: c.Bytes,
	}
	b.payloads.written, b.payloads.fileBytes = b.payloads.arrivals, c.Bytes
	return nil
}

// readPending reads the keys of a pending file.
func (b *bucket) readPending(f vfs.File, c FileCheckpoint, live []uint64) error {
	size, err := f.Size()
	if err != nil {
		return fmt.Errorf("sieve: %w", err)
	}
	if size < c.Bytes || c.Bytes < int64(len(pendingMagic)) {
		return &vfs.CorruptError{File: f.Name(), Offset: size, What: fmt.Sprintf("file length, want %d", c.Bytes)}
	}
	magic := make([]byte, len(pendingMagic))
	if err := readAt(f, magic, 0); err != nil {
		return err
	}
	if string(magic) != pendingMagic {
		return &vfs.CorruptError{File: f.Name(), What: "no pending file of this version"}
	}
	var fr frame
	for at := int64(len(magic)); at < c.Bytes; at = fr.end() {
		if err := fr.read(f, at, c.Bytes, frameWhole); err != nil {
			return err
		}
		body, err := fr.body(f)
		if err != nil {
			return err
		}
		if uint64(fr.records) > c.Count-uint64(b.payloads.arrivals) {
			return &vfs.CorruptError{File: f.Name(), Offset: at, What: fmt.Sprintf("more than %d records", c.Count)}
		}
		for range fr.records {
			k, _, rest, ok := splitRecord(body)
			if !ok {
				return fr.corrupt(f)
			}
			if (live == nil || isSet(live, b.payloads.arrivals)) && (b.only == nil || slices.Contains(b.only, k)) {
				b.entries.add(k, uint64(b.payloads.arrivals))
			}
			body = rest
			b.payloads.arrivals++
		}
		if len(body) > 0 {
			return fr.corrupt(f)
		}
	}
	if uint64(b.payloads.arrivals) != c.Count {
		return &vfs.CorruptError{
			File:   f.Name(),
			Offset: c.Bytes,
			What:   fmt.Sprintf("%d records, want %d", b.payloads.arrivals, c.Count),
		}
	}
	b.live.bitmap = live
	b.live.unemitted.Store(int64(b.entries.n))
	if size > c.Bytes {
		if err := f.Truncate(c.Bytes); err != nil {
			return fmt.Errorf("sieve: %w", err)
		}
	}
	return nil
}
