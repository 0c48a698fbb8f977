package sieve

import (
	"fmt"

	"orbweaver/internal/vfs"
)

// payloads are the payloads of a bucket in order of arrival: older ones in the pending file, the others in chunks. A
// payload is identified by its number of arrival.
type payloads struct {
	arrivals int       // number of payloads added
	chunks   chunkList // from number written on

	// file contains the payloads before written in its first fileBytes bytes. It is nil if there are none.
	file      *storeFile
	written   int
	fileBytes int64
}

// add copies a payload behind its key. grown reports that it needed a new chunk.
func (p *payloads) add(k key, payload []byte) (grown bool) {
	size := recordSize(len(payload))
	if grown = !p.chunks.fits(size); grown {
		p.chunks.grow(size)
	}
	c := &p.chunks.chunks[len(p.chunks.chunks)-1]
	at := len(c.buf)
	c.buf = c.buf[:at+size]
	putRecord(c.buf[at:], k, payload)
	c.records++
	p.arrivals++
	return grown
}

// moveFirst removes the first chunk from memory. It is now in the file, which is valid up to the given number of bytes.
func (p *payloads) moveFirst(fileBytes int64) {
	p.fileBytes = fileBytes
	p.written += p.chunks.removeFirst()
}

// checkpointFile returns the current state of the file.
func (p *payloads) checkpointFile() *FileCheckpoint {
	if p.file.checkpointBytes != p.fileBytes {
		p.file.checkpointBytes, p.file.synced = p.fileBytes, false
	}
	return &FileCheckpoint{Serial: p.file.serial, Count: uint64(p.written), Bytes: p.fileBytes}
}

// each calls visit with the live payloads and their numbers in order of arrival. For frames without live payloads it
// reads only the header. S4: frames and chunks contain the payloads in the order in which they were added.
func (p *payloads) each(live *liveSet, visit func(i int, payload []byte) error) error {
	if err := p.eachWritten(live, visit); err != nil {
		return err
	}
	base := p.written
	for _, c := range p.chunks.chunks {
		if ok, err := live.visit(c.buf, base, c.records, visit); err != nil {
			return err
		} else if !ok {
			panic("BUG: S2: a chunk does not contain its payloads")
		}
		base += c.records
	}
	return nil
}

// eachWritten does this for the payloads in the file.
func (p *payloads) eachWritten(live *liveSet, visit func(i int, payload []byte) error) error {
	var fr frame
	base := 0
	for at := int64(len(pendingMagic)); p.file != nil && at < p.fileBytes; at = fr.end() {
		first := int64(frameWhole)
		if base < p.written && !live.contains(base, 1) {
			first = frameHeader
		}
		if err := fr.read(p.file, at, p.fileBytes, first); err != nil {
			return err
		}
		if fr.records > p.written-base {
			return &vfs.CorruptError{File: p.file.Name(), Offset: at, What: "more records than the bucket has"}
		}
		if live.contains(base, fr.records) {
			body, err := fr.body(p.file)
			if err != nil {
				return err
			}
			if ok, err := live.visit(body, base, fr.records, visit); err != nil {
				return err
			} else if !ok {
				return fr.corrupt(p.file)
			}
		}
		base += fr.records
	}
	if base != p.written {
		return &vfs.CorruptError{
			File:   p.file.Name(),
			Offset: p.fileBytes,
			What:   fmt.Sprintf("%d records, want %d", base, p.written),
		}
	}
	return nil
}
