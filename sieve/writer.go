package sieve

import (
	"encoding/binary"
	"fmt"

	"github.com/zeebo/xxh3"
)

// writerAhead is the number of blocks of keys that a writer collects before it encodes them. The rest moves to the
// front.
const writerAhead = 8

// runWriter writes a run to a new file.
type runWriter struct {
	file   *storeFile
	width  uint
	keys   keys // not yet in a block; the arrays have space for more
	n      int  // number of these keys
	buf    []byte
	bytes  int64
	count  uint64
	last   key
	indexH []uint64
	indexL []uint8
}

func newRunWriter(f *storeFile, expected uint64) *runWriter {
	width := widthFor(expected)
	room := writerAhead * blockKeysMost(width)
	blocks := min(expected/(blockBytes/16)+1, windowBlocks) // an estimate: keys take less than 16 bytes
	return &runWriter{
		file: f, width: width, keys: keys{hi: make([]uint64, room), lo: make([]uint8, room)},
		buf: make([]byte, 0, blocks*blockBytes),
	}
}

// add appends keys. They must ascend and be greater than all earlier ones (S3).
func (w *runWriter) add(k keys) error {
	for k.len() > 0 {
		n := copy(w.keys.hi[w.n:], k.hi)
		copy(w.keys.lo[w.n:], k.lo)
		w.n += n
		k = k.from(n)
		if w.n == w.keys.len() {
			if err := w.writeBlocks(blockKeysMost(w.width)); err != nil {
				return err
			}
		}
	}
	return nil
}

// writeBlocks encodes blocks until fewer than `least` keys are left.
func (w *runWriter) writeBlocks(least int) error {
	left := w.keys.first(w.n)
	for left.len() >= least {
		n := fitting(left.hi, w.width)
		if err := w.block(left.first(n)); err != nil {
			return err
		}
		left = left.from(n)
	}
	w.n = copy(w.keys.hi, left.hi)
	copy(w.keys.lo, left.lo)
	return nil
}

// block writes one block.
func (w *runWriter) block(k keys) error {
	first := k.at(0)
	if w.count > 0 && !w.last.less(first) {
		panic("BUG: S3: keys written to a run do not ascend")
	}
	at := len(w.buf)
	w.buf = w.buf[:at+blockBytes]
	encodeBlock(w.buf[at:], k, uint32(len(w.indexH)), w.width)
	w.indexH, w.indexL = append(w.indexH, first.hi), append(w.indexL, first.lo)
	w.count += uint64(k.len())
	w.last = k.at(k.len() - 1)
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

// finish writes the rest, the index and the footer, and returns the run. At least one key must have been added.
func (w *runWriter) finish() (*run, error) {
	if err := w.writeBlocks(1); err != nil {
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
