package capture

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"slices"

	"github.com/zeebo/xxh3"

	"orbweaver/internal/extsort"
	"orbweaver/internal/vfs"
)

// ErrIndexCorrupt is wrapped by errors about a damaged file.
var ErrIndexCorrupt = errors.New("catalogue: damaged")

const (
	entryBytes   = 24
	blockEntries = 170
	fenceBytes   = 12
	serialShift  = 42
	offsetMax    = 1<<(serialShift-1) - 1
	serialMax    = 1<<(64-serialShift) - 1
)

// IndexBlockBytes is the length of the buffer that Lookup needs, in bytes.
const IndexBlockBytes = blockEntries * entryBytes

// Place is where a record begins in the archive.
type Place struct {
	Serial  uint32 // number of the archive file
	Offset  int64  // offset in that file, in bytes
	Revisit bool   // a revisit record: the payload is in another record
}

// IndexEntry returns the place of a URL as an entry for the sorter. ok is false if the serial or the offset is too
// large for the format.
func IndexEntry(fp xxh3.Uint128, at Place) (e extsort.Entry, ok bool) {
	tag := uint64(at.Serial)<<serialShift | uint64(at.Offset)<<1
	if at.Revisit {
		tag |= 1
	}
	return extsort.Entry{
			Hi:  fp.Hi,
			Lo:  fp.Lo,
			Tag: tag,
		}, at.Serial <= serialMax && at.Offset >= 0 &&
			at.Offset <= offsetMax
}

func placeOf(tag uint64) Place {
	return Place{Serial: uint32(tag >> serialShift), Offset: int64(tag >> 1 & offsetMax), Revisit: tag&1 != 0}
}

// IndexCheckpoint describes the content of a file, for the manifest.
type IndexCheckpoint struct {
	Entries int64  `json:"entries"`
	Sum     uint32 `json:"sum"` // checksum of the fence
}

// blocks returns the number of blocks.
func (c IndexCheckpoint) blocks() int64 { return (c.Entries + blockEntries - 1) / blockEntries }

func (c IndexCheckpoint) length() int64 { return c.Entries*entryBytes + c.blocks()*fenceBytes }

// WriteIndex writes the file with all entries of the sorter, synced and replaced in one step. It does not close the
// sorter.
func WriteIndex(fsys vfs.FS, name string, s *extsort.Sorter) (IndexCheckpoint, error) {
	var checkpoint IndexCheckpoint
	err := vfs.WriteAtomic(fsys, name, func(w io.Writer) error {
		b := builder{out: bufio.NewWriterSize(w, 256<<10)}
		if err := b.all(s); err != nil {
			return err
		}
		checkpoint = IndexCheckpoint{Entries: b.n, Sum: crc32.Checksum(b.fence, castagnoli())}
		_, _ = b.out.Write(b.fence) // bufio keeps the first error for Flush
		return b.out.Flush()
	})
	if err != nil {
		return IndexCheckpoint{}, fmt.Errorf("catalogue: %w", err)
	}
	return checkpoint, nil
}

// builder writes the blocks.
type builder struct {
	out   *bufio.Writer
	n     int64
	block []byte
	fence []byte
}

func (b *builder) all(s *extsort.Sorter) error {
	var held extsort.Entry // the last entry, not yet written
	some := false
	for e, err := range s.Sorted() {
		if err != nil {
			return err
		}
		if stale := held.Hi == e.Hi && held.Lo == e.Lo && held.Tag&1 != 0; some && !stale {
			b.add(held)
		}
		held, some = e, true
	}
	if some {
		b.add(held)
	}
	b.end()
	return nil
}

func (b *builder) add(e extsort.Entry) {
	b.block = binary.LittleEndian.AppendUint64(b.block, e.Hi)
	b.block = binary.LittleEndian.AppendUint64(b.block, e.Lo)
	b.block = binary.LittleEndian.AppendUint64(b.block, e.Tag)
	if b.n++; len(b.block) == IndexBlockBytes {
		b.end()
	}
}

// end completes a block.
func (b *builder) end() {
	if len(b.block) == 0 {
		return
	}
	b.fence = append(b.fence, b.block[:8]...)
	b.fence = binary.LittleEndian.AppendUint32(b.fence, crc32.Checksum(b.block, castagnoli()))
	_, _ = b.out.Write(b.block) // bufio keeps the first error for Flush
	b.block = b.block[:0]
}

func castagnoli() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) }

// Index is an open file. It is safe for concurrent use; each caller of Lookup brings its own buffer.
type Index struct {
	file       vfs.File
	checkpoint IndexCheckpoint
	first      []uint64 // high half of the first entry of each block
	sums       []uint32 // checksum of each block
}

// OpenIndex opens the file that checkpoint describes and reads its fence. The error wraps ErrCorrupt if it is another
// or a damaged file, and fs.ErrNotExist if there is none.
func OpenIndex(fsys vfs.FS, name string, checkpoint IndexCheckpoint) (*Index, error) {
	f, err := fsys.Open(name)
	if err != nil {
		return nil, fmt.Errorf("catalogue: %w", err)
	}
	c := &Index{file: f, checkpoint: checkpoint}
	if err := c.readFence(); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", name, err), f.Close())
	}
	return c, nil
}

func (c *Index) readFence() error {
	size, err := c.file.Size()
	if err != nil {
		return err
	}
	if c.checkpoint.Entries < 0 || c.checkpoint.Entries > math.MaxInt64/64 || size != c.checkpoint.length() {
		return fmt.Errorf("%w: %d bytes, and %d entries", ErrIndexCorrupt, size, c.checkpoint.Entries)
	}
	n := c.checkpoint.blocks()
	from := c.checkpoint.Entries * entryBytes
	in := bufio.NewReaderSize(io.NewSectionReader(c.file, from, size-from), 64<<10)
	c.first, c.sums = make([]uint64, n), make([]uint32, n)
	sum := crc32.New(castagnoli())
	var b [fenceBytes]byte
	for i := range c.first {
		if _, err := io.ReadFull(in, b[:]); err != nil {
			return err
		}
		_, _ = sum.Write(b[:]) // a hash does not fail
		c.first[i], c.sums[i] = binary.LittleEndian.Uint64(b[:]), binary.LittleEndian.Uint32(b[8:])
	}
	if sum.Sum32() != c.checkpoint.Sum {
		return fmt.Errorf("%w: the fence", ErrIndexCorrupt)
	}
	return nil
}

// Close closes the file.
func (c *Index) Close() error { return c.file.Close() }

// Len returns the number of places.
func (c *Index) Len() int64 { return c.checkpoint.Entries }

// Lookup appends the places of a fingerprint to dst, in the order of the archive. It borrows buf, which must have
// BlockBytes bytes. The error wraps ErrCorrupt, or is that of the disk.
func (c *Index) Lookup(dst []Place, buf []byte, fp xxh3.Uint128) ([]Place, error) {
	i, _ := slices.BinarySearch(c.first, fp.Hi) // the first block that begins with fp.Hi or a larger value
	for i = max(i-1, 0); i < len(c.first) && c.first[i] <= fp.Hi; i++ {
		block, err := c.block(buf, i)
		if err != nil {
			return dst, err
		}
		for at := searchBlock(block, fp); at < len(block); at += entryBytes {
			if entryAt(block, at) != fp {
				break
			}
			dst = append(dst, placeOf(binary.LittleEndian.Uint64(block[at+16:])))
		}
	}
	return dst, nil
}

func entryAt(block []byte, at int) xxh3.Uint128 {
	return xxh3.Uint128{Hi: binary.LittleEndian.Uint64(block[at:]), Lo: binary.LittleEndian.Uint64(block[at+8:])}
}

// searchBlock returns the index of the first entry that is not less than fp.
func searchBlock(block []byte, fp xxh3.Uint128) int {
	low, high := 0, len(block)/entryBytes
	for low < high {
		mid := (low + high) / 2
		if e := entryAt(block, mid*entryBytes); e.Hi < fp.Hi || e.Hi == fp.Hi && e.Lo < fp.Lo {
			low = mid + 1
		} else {
			high = mid
		}
	}
	return low * entryBytes
}

// block reads a block into buf and checks it.
func (c *Index) block(buf []byte, i int) ([]byte, error) {
	from := int64(i) * IndexBlockBytes
	block := buf[:min(IndexBlockBytes, c.checkpoint.Entries*entryBytes-from)]
	if _, err := c.file.ReadAt(block, from); err != nil && err != io.EOF { //nolint:errorlint // io.ReaderAt's own word
		return nil, fmt.Errorf("catalogue: %w", err)
	}
	if crc32.Checksum(block, castagnoli()) != c.sums[i] {
		return nil, fmt.Errorf("%w: %s, block %d", ErrIndexCorrupt, c.file.Name(), i)
	}
	return block, nil
}

// Check reads the whole file, and checks the checksums and the order.
func (c *Index) Check() error {
	buf := make([]byte, IndexBlockBytes)
	var last extsort.Entry
	for i := range c.first {
		block, err := c.block(buf, i)
		if err != nil {
			return err
		}
		for at := 0; at < len(block); at += entryBytes {
			fp := entryAt(block, at)
			e := extsort.Entry{Hi: fp.Hi, Lo: fp.Lo, Tag: binary.LittleEndian.Uint64(block[at+16:])}
			if extsort.Compare(e, last) < 0 {
				return fmt.Errorf("%w: %s, block %d is out of order", ErrIndexCorrupt, c.file.Name(), i)
			}
			last = e
		}
	}
	return nil
}
