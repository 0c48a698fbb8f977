package sieve

import (
	"encoding/binary"
	"fmt"

	"orbweaver/internal/vfs"

	"github.com/zeebo/xxh3"
)

const (
	pendingMagic = "OWSIEVP2"
	frameHeader  = 16
	frameBytes   = 256 << 10 // a frame is closed once it has so many
)

// savePending appends the entries of an image that earlier cuts have not saved to the filling bucket's file. A failed
// save may leave a torn frame behind what counts; the next one writes over it.
func (s *Sieve) savePending(im *Image) error {
	if len(im.entries) == 0 {
		return nil
	}
	b, f := im.filling, im.filling.file
	if f == nil {
		var err error
		if f, err = s.create(kindPending); err != nil {
			return err
		}
	}
	f.synced = false
	bytes, err := writeFrames(f, b.savedBytes, func(yield func(key, []byte) bool) {
		for _, e := range im.entries {
			if !yield(e.key(), im.arena.payload(e)) {
				return
			}
		}
	})
	s.mu.Lock()
	b.file = f
	if err == nil {
		b.savedEntries, b.savedBytes = im.total, b.savedBytes+bytes
	}
	s.mu.Unlock()
	return err
}

// saveFrozen writes what is left of a frozen bucket to a file of its own, since its earlier file, if any, has more or
// less, unless that was done and nothing has happened to it since. Only a Flush that failed leaves such a bucket.
func (s *Sieve) saveFrozen(b *bucket) error {
	left := b.left.Load()
	if b.savedLeft == left {
		return nil
	}
	f, err := s.create(kindPending)
	if err != nil {
		return err
	}
	bytes, err := writeFrames(f, 0, func(yield func(key, []byte) bool) {
		if b.stage < stageStored {
			for _, e := range b.arrivals() {
				if !yield(e.key(), b.chunks.payload(e)) {
					return
				}
			}
			return
		}
		b.unemitted(func(p []byte) bool { return yield(key{}, p) })
	})
	if err != nil {
		s.drop(f)
		return err
	}
	s.drop(b.file)
	s.mu.Lock()
	b.file, b.savedBytes, b.savedLeft = f, bytes, left
	s.mu.Unlock()
	return nil
}

// unemitted visits the live payloads from the cursor on without moving it.
func (b *bucket) unemitted(visit func(payload []byte) bool) {
	at := b.cursorByte
	for c := b.cursorChunk; c < b.live; c, at = c+1, 0 {
		for at < len(b.chunks[c]) {
			p, dead, size := b.chunks.record(c, at)
			if !dead && !visit(p) {
				return
			}
			at += size
		}
	}
}

// writeFrames writes records from an offset on and returns how many bytes they took, the magic included at offset 0.
func writeFrames(f vfs.File, offset int64, records func(yield func(key, []byte) bool)) (bytes int64, err error) {
	buf := make([]byte, 0, frameBytes+frameBytes/4)
	if offset == 0 {
		buf = append(buf, pendingMagic...)
	}
	start := len(buf) // of the frame
	buf = append(buf, make([]byte, frameHeader)...)
	var count uint32
	flush := func() {
		frame := buf[start:]
		binary.LittleEndian.PutUint32(frame, uint32(len(frame)-frameHeader))
		binary.LittleEndian.PutUint32(frame[4:], count)
		binary.LittleEndian.PutUint64(frame[8:], frameHash(frame))
		if _, err = f.WriteAt(buf, offset+bytes); err != nil {
			err = fmt.Errorf("sieve: %w", err)
		}
		bytes += int64(len(buf))
		buf, start, count = buf[:frameHeader], 0, 0
	}
	records(func(k key, payload []byte) bool {
		buf = binary.LittleEndian.AppendUint64(buf, k.hi)
		buf = append(buf, k.lo)
		buf = binary.AppendUvarint(buf, uint64(len(payload)))
		buf = append(buf, payload...)
		if count++; len(buf)-start >= frameBytes {
			flush()
		}
		return err == nil
	})
	if err == nil && count > 0 {
		flush()
	}
	return bytes, err
}

// frameHash covers length, count and body.
func frameHash(frame []byte) uint64 {
	return xxh3.HashSeed(frame[frameHeader:], binary.LittleEndian.Uint64(frame))
}

// loadPending reads the first c.Bytes bytes of a pending file into b, and cuts off what is behind them.
func loadPending(fsys vfs.FS, name string, c FileCut, generation uint64, b *bucket) error {
	if _, err := fsys.Size(name); err != nil {
		return fmt.Errorf("sieve: %w", err) // OpenRW would make a file that is missing
	}
	f, err := fsys.OpenRW(name)
	if err != nil {
		return fmt.Errorf("sieve: %w", err)
	}
	if err := readPending(f, c, b); err != nil {
		return closeAfter(f, err)
	}
	b.file = &storeFile{File: f, serial: c.Serial, firstCut: generation, synced: true}
	b.savedEntries, b.savedBytes = len(b.entries), c.Bytes
	return nil
}

func readPending(f vfs.File, c FileCut, b *bucket) error {
	size, err := f.Size()
	if err != nil {
		return fmt.Errorf("sieve: %w", err)
	}
	corrupt := func(at int64, what string) error {
		return &CorruptError{File: f.Name(), Offset: at, What: what}
	}
	if size < c.Bytes || c.Bytes < int64(len(pendingMagic)) {
		return corrupt(size, fmt.Sprintf("file length, want %d", c.Bytes))
	}
	head := make([]byte, frameHeader)
	if err := readAt(f, head[:len(pendingMagic)], 0); err != nil {
		return err
	}
	if string(head[:len(pendingMagic)]) != pendingMagic {
		return corrupt(0, "not a pending file, or of another version")
	}
	var frame []byte
	for at := int64(len(pendingMagic)); at < c.Bytes; at += int64(len(frame)) {
		if c.Bytes-at < frameHeader {
			return corrupt(at, "frame header ends early")
		}
		if err := readAt(f, head, at); err != nil {
			return err
		}
		length := frameHeader + int64(binary.LittleEndian.Uint32(head))
		if length > c.Bytes-at {
			return corrupt(at, "frame ends early")
		}
		frame = append(frame[:0], make([]byte, length)...)
		if err := readAt(f, frame, at); err != nil {
			return err
		}
		if binary.LittleEndian.Uint64(frame[8:]) != frameHash(frame) {
			return corrupt(at, "frame checksum")
		}
		if !b.addFrame(frame) {
			return corrupt(at, "frame does not hold what it says")
		}
	}
	if uint64(len(b.entries)) != c.Count {
		return corrupt(c.Bytes, fmt.Sprintf("%d records, want %d", len(b.entries), c.Count))
	}
	if size > c.Bytes {
		if err := f.Truncate(c.Bytes); err != nil {
			return fmt.Errorf("sieve: %w", err)
		}
	}
	return nil
}

// addFrame adds a frame's records; false if they are not count records that end where the frame does.
func (b *bucket) addFrame(frame []byte) bool {
	body := frame[frameHeader:]
	for range binary.LittleEndian.Uint32(frame[4:]) {
		if len(body) < keyBytes {
			return false
		}
		k := key{hi: binary.LittleEndian.Uint64(body), lo: body[8]}
		body = body[keyBytes:]
		length, n := binary.Uvarint(body)
		if n <= 0 || length > uint64(len(body)-n) {
			return false
		}
		end := n + int(length)
		b.add(k, body[n:end])
		body = body[end:]
	}
	return len(body) == 0
}
