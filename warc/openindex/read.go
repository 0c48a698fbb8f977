package openindex

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"hash/crc32"
	"io"
	"strconv"

	"orbweaver/internal/vfs"
	"orbweaver/warc/cdxj"
)

// Suffix is that of the file, behind the name of the index.
const Suffix = ".open"

// header is the first line.
const header = "orbweaver-open-index-1\n"

// lineMax is the length in bytes of the longest line that is read.
const lineMax = 256 << 10

// tailMost is how many bytes of the WARC file a mark has the digest of.
const tailMost = 1 << 10

// mark ends a batch of lines. Its line begins with a space, as no line of an index does, and ends with a checksum.
type mark struct {
	End     int64             `json:"end"`     // of the part of the WARC file that this batch and those before it index
	Tail    string            `json:"tail"`    // digest of the bytes before End, at most tailMost of them
	Records map[string]uint64 `json:"records"` // number of records before End by type
	Digest  []byte            `json:"digest,omitempty"`
}

// Part is what is known of the first part of a WARC file.
type Part struct {
	Lines   cdxj.Lines // of all records before End, in their order
	End     int64
	Records map[string]uint64 // before End, by type
	Digest  []byte            // state of the digest of the bytes before End; nil if it is unknown

	length int64  // of the file up to the last mark
	sum    uint32 // of these bytes
}

// Read reads the file of this name, as far as it agrees with the first size bytes of the WARC file. Without a usable
// file the Part is empty.
func Read(fsys vfs.FS, name string, archive io.ReaderAt, size int64) *Part {
	file, err := fsys.Open(name)
	if err != nil {
		return new(Part)
	}
	defer func() { _ = file.Close() }() // opened for reading
	length, err := file.Size()
	if err != nil {
		return new(Part)
	}
	r := reading{
		in:      bufio.NewReaderSize(io.NewSectionReader(file, 0, length), lineMax),
		archive: archive, size: size,
	}
	return r.read()
}

// reading is one Read.
type reading struct {
	in      *bufio.Reader
	archive io.ReaderAt
	size    int64

	part   Part
	length int64  // of what was read
	sum    uint32 // of these bytes
	offset int64  // of the last record
}

func (r *reading) read() *Part {
	if first, err := r.in.ReadSlice('\n'); err != nil || string(first) != header {
		return &r.part
	}
	r.length, r.sum = int64(len(header)), checksum(0, []byte(header))
	whole := 0 // lines that a mark covers
	for {
		line, err := r.in.ReadSlice('\n')
		if err != nil {
			break
		}
		r.length += int64(len(line))
		line = line[:len(line)-1]
		if !bytes.HasPrefix(line, []byte(" ")) {
			if !r.add(line) {
				break
			}
			continue
		}
		if !r.take(line) {
			break
		}
		whole = r.part.Lines.Len()
	}
	r.part.Lines.Cut(whole)
	return &r.part
}

// add takes a line of the index. The records of lines have increasing offsets.
func (r *reading) add(line []byte) bool {
	offset := cdxj.Offset(line)
	if offset <= r.offset || offset < r.part.End {
		return false
	}
	r.offset = offset
	r.sum = checksum(checksum(r.sum, line), []byte("\n"))
	r.part.Lines.AddWhole(line)
	return true
}

// take takes a mark, if it is whole and the WARC file agrees.
func (r *reading) take(line []byte) bool {
	last := bytes.LastIndexByte(line, ' ')
	text, hexadecimal := line[:last], line[last+1:]
	r.sum = checksum(r.sum, text)
	said, err := strconv.ParseUint(string(hexadecimal), 16, 32)
	if err != nil || uint32(said) != r.sum {
		return false
	}
	var m mark
	if err := json.Unmarshal(text, &m); err != nil || m.End <= r.part.End || m.End > r.size || r.offset >= m.End {
		return false
	}
	if tail, err := tailOf(r.archive, m.End); err != nil || tail != m.Tail {
		return false
	}
	r.part.End, r.part.Records, r.part.Digest, r.part.length, r.part.sum = m.End, m.Records, m.Digest, r.length, r.sum
	return true
}

// tailOf returns the digest of the last bytes before the end of a part of the WARC file.
func tailOf(archive io.ReaderAt, end int64) (string, error) {
	b := make([]byte, min(end, tailMost))
	if n, err := archive.ReadAt(b, end-int64(len(b))); n < len(b) {
		return "", err
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:16]), nil
}

// checksum continues a CRC-32C.
func checksum(sum uint32, b []byte) uint32 {
	return crc32.Update(sum, crc32.MakeTable(crc32.Castagnoli), b)
}
