package fixity

import (
	"crypto/sha256"
	"encoding"
	"fmt"
	"hash"
	"io"
)

// Digest computes the SHA-256 of a file from its start, in order. It is not safe for concurrent use.
type Digest struct {
	Records map[string]uint64 // of the part that the reader of an earlier run's file has counted

	sum    hash.Hash
	length int64
	buffer []byte
}

// pieceLen is the length in bytes of what is read at a time.
const pieceLen = 64 << 10

// NewDigest returns the Digest of an empty file.
func NewDigest() *Digest {
	return &Digest{Records: map[string]uint64{}, sum: sha256.New()}
}

// Len is the number of bytes that the Digest contains.
func (d *Digest) Len() int64 { return d.length }

// Write adds bytes at the end. It never fails.
func (d *Digest) Write(b []byte) (int, error) {
	d.length += int64(len(b))
	return d.sum.Write(b) //nolint:wrapcheck // never fails
}

// ReadTo adds what the file has between Len and end. After an error Len says how far it is.
func (d *Digest) ReadTo(from io.ReaderAt, end int64) error {
	if d.buffer == nil && d.length < end {
		d.buffer = make([]byte, pieceLen)
	}
	for d.length < end {
		piece := d.buffer[:min(end-d.length, pieceLen)]
		if n, err := from.ReadAt(piece, d.length); n < len(piece) {
			return fmt.Errorf("warc: digest at %d: %w", d.length, err)
		}
		_, _ = d.Write(piece)
	}
	return nil
}

// State is what Restore needs to continue; nil if there is none.
func (d *Digest) State() []byte {
	state, err := d.sum.(encoding.BinaryMarshaler).MarshalBinary()
	if err != nil {
		return nil
	}
	return state
}

// Restore continues an empty Digest where another one was, after length bytes. If the state is that of no Digest, it
// stays empty.
func (d *Digest) Restore(state []byte, length int64) {
	if err := d.sum.(encoding.BinaryUnmarshaler).UnmarshalBinary(state); err == nil {
		d.length = length
	}
}

// SHA256 is the digest of the first Len bytes.
func (d *Digest) SHA256() (sum [32]byte) {
	d.sum.Sum(sum[:0])
	return sum
}

// File is what is known of a closed file of an archive.
type File struct {
	Name    string            // within the directory of the archive
	Bytes   int64             // its length
	SHA256  [32]byte          // of all its bytes, as they are stored
	Records map[string]uint64 // by WARC-Type
}

// Listener is told of the files of an archive.
//
// What a call of FileClosed promises:
//
//   - The file has its final name. Data, index and name are durable, and no byte changes while the Writer is open.
//   - The facts are those of the bytes that were written. They come from no second reading, except after a kill.
//   - A file is announced again with the same facts if this or another Listener returned an error. The Writer counts
//     the file as unfinished until then, and tries again. So an error must be one that can pass, as of a full disk.
//   - Files come in the order of their serials, unless one of them was returned with an error. Two calls never
//     overlap for one file, and can for different files. A call delays the finishing of other files, not the crawl.
//   - A kill between the final name and the call skips the call. A Listener that needs every file compares with the
//     directory when the archive is opened.
//
// A resume goes on at the last journaled page. A file that was closed after it is opened again, or removed.
// FileReopened is called before its first byte changes, whether FileClosed was called for the file or not. After an
// error of FileReopened the archive is not opened.
type Listener interface {
	FileClosed(f File) error
	FileReopened(name string) error
}
