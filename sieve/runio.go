package sieve

import (
	"encoding/binary"
	"fmt"

	"github.com/zeebo/xxh3"
)

// windowBlocks is how many blocks one read or write moves when many are wanted: 256 KiB, where a disk that turns and
// a system call that costs a microsecond both stop mattering.
const windowBlocks = 64

// window reads blocks of a run through a buffer of up to windowBlocks blocks.
type window struct {
	r      *run
	ahead  int // blocks per read
	first  int // blocks [first, end) are in buf
	end    int
	buf    []byte
	keys   keyBlock
	finder finder
	blocks uint64 // decoded or asked
	bytes  int64  // read from the file
}

// reset points the window at a run and keeps its memory.
func (w *window) reset(r *run, ahead int) {
	w.r, w.ahead, w.first, w.end = r, ahead, 0, 0
	if need := min(ahead, r.blocks()) * blockBytes; len(w.buf) < need {
		w.buf = make([]byte, need)
	}
}

// fetch reads block b, unless the last read brought it too.
func (w *window) fetch(b int) ([]byte, error) {
	if b < w.first || b >= w.end {
		end := min(b+w.ahead, w.r.blocks())
		w.first, w.end = 0, 0 // nothing is there if the read fails
		if err := readAt(w.r.file, w.buf[:(end-b)*blockBytes], int64(b)*blockBytes); err != nil {
			return nil, err
		}
		w.first, w.end = b, end
		w.bytes += int64(end-b) * blockBytes
	}
	w.blocks++
	at := (b - w.first) * blockBytes
	return w.buf[at : at+blockBytes], nil
}

// load decodes block b into w.keys and verifies it against the index.
func (w *window) load(b int) error {
	src, err := w.fetch(b)
	if err != nil {
		return err
	}
	fault := w.keys.decode(src, uint32(b))
	if fault == "" {
		// Neighbouring blocks must not overlap, else the run is not ascending although each block is.
		last := w.keys.key(w.keys.n - 1)
		if w.keys.key(0) != w.r.first(b) ||
			b+1 < w.r.blocks() && !last.less(w.r.first(b+1)) || b+1 == w.r.blocks() && last != w.r.last {
			fault = "block does not agree with the index"
		}
	}
	if fault != "" {
		return w.r.corrupt(int64(b)*blockBytes, fault)
	}
	return nil
}

// look makes block b ready to be asked for keys. It verifies less than load: checksum, header and first key.
func (w *window) look(b int) error {
	src, err := w.fetch(b)
	if err != nil {
		return err
	}
	head, fault := readHead(src, uint32(b))
	if fault == "" && head.first(src) != w.r.first(b) {
		fault = "block does not agree with the index"
	}
	if fault != "" {
		return w.r.corrupt(int64(b)*blockBytes, fault)
	}
	w.finder.reset(src, head)
	return nil
}

// source gives ascending keys, one at a time: a run, or the entries of a bucket.
type source struct {
	cur     key
	ok      bool // cur is valid
	w       *window
	next    int // block
	at      int // key within the block
	seen    uint64
	entries []entry
}

func fromEntries(e []entry) *source {
	s := &source{entries: e, ok: len(e) > 0}
	if s.ok {
		s.cur = e[0].key()
	}
	return s
}

func fromRun(r *run) (*source, error) {
	s := &source{w: &window{}}
	s.w.reset(r, windowBlocks)
	return s, s.advance()
}

// advance moves to the next key.
func (s *source) advance() error {
	if s.w == nil {
		s.entries = s.entries[1:]
		if s.ok = len(s.entries) > 0; s.ok {
			s.cur = s.entries[0].key()
		}
		return nil
	}
	if s.at == s.w.keys.n {
		if s.next == s.w.r.blocks() {
			s.ok = false
			if s.seen != s.w.r.count {
				return s.w.r.corrupt(int64(s.next)*blockBytes, fmt.Sprintf("%d keys, the footer says %d", s.seen, s.w.r.count))
			}
			return nil
		}
		if err := s.w.load(s.next); err != nil {
			s.ok = false
			return err
		}
		s.next++
		s.at = 0
	}
	s.cur, s.ok = s.w.keys.key(s.at), true
	s.at++
	s.seen++
	return nil
}

// runWriter writes a run to a new file.
type runWriter struct {
	file   *storeFile
	width  uint
	block  keyBlock
	buf    []byte
	bytes  int64
	count  uint64
	last   key
	indexH []uint64
	indexL []uint8
}

func newRunWriter(f *storeFile, expected uint64) *runWriter {
	blocks := min(expected/(blockBytes/16)+1, windowBlocks) // a guess: keys take less than 16 bytes
	return &runWriter{file: f, width: widthFor(expected), buf: make([]byte, 0, blocks*blockBytes)}
}

// add appends a key, which must be above all before it: S3.
func (w *runWriter) add(k key) error {
	if w.count > 0 && !w.last.less(k) {
		panic("BUG: S3: keys written to a run do not ascend")
	}
	if !w.block.fits(k, w.width) {
		if err := w.endBlock(); err != nil {
			return err
		}
	}
	w.block.add(k)
	w.last = k
	w.count++
	return nil
}

func (w *runWriter) endBlock() error {
	at := len(w.buf)
	w.buf = w.buf[:at+blockBytes]
	w.block.encode(w.buf[at:], uint32(len(w.indexH)), w.width)
	first := w.block.key(0)
	w.indexH, w.indexL = append(w.indexH, first.hi), append(w.indexL, first.lo)
	w.block.n = 0
	if len(w.buf) == cap(w.buf) {
		return w.write()
	}
	return nil
}

func (w *runWriter) write() error {
	n, err := w.file.Write(w.buf)
	w.bytes += int64(n)
	w.buf = w.buf[:0]
	if err != nil {
		return fmt.Errorf("sieve: %w", err)
	}
	return nil
}

// finish writes the rest, index and footer included, and gives the run. At least one key must have been added.
func (w *runWriter) finish() (*run, error) {
	if err := w.endBlock(); err != nil {
		return nil, err
	}
	foot := footer{count: w.count, blocks: uint64(len(w.indexH)), last: w.last}
	if err := w.write(); err != nil {
		return nil, err
	}
	index := make([]byte, 0, len(w.indexH)*indexBytes+footerBytes)
	for i := range w.indexH {
		index = binary.LittleEndian.AppendUint64(index, w.indexH[i])
		index = append(index, w.indexL[i])
	}
	foot.indexHash = xxh3.Hash(index)
	w.buf = append(index, foot.encode()...)
	if err := w.write(); err != nil {
		return nil, err
	}
	return &run{file: w.file, count: w.count, bytes: w.bytes, last: w.last, firstHi: w.indexH, firstLo: w.indexL}, nil
}
