package post

import (
	"fmt"
	"sync"

	"github.com/klauspost/compress/zstd"
	"google.golang.org/grpc/mem"
)

// packer packs and unpacks what frames carry: zstd at its fastest level. What does not become smaller goes as it is. Safe for all.
type packer struct {
	in   *zstd.Decoder
	out  *zstd.Encoder
	pool *buffers
}

// packLeast is what is worth packing, in bytes.
const packLeast = 128

func newPacker(pool *buffers, workers int) (*packer, error) {
	out, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(workers), zstd.WithEncoderCRC(false))
	if err != nil {
		return nil, err
	}
	// The capacity that Unpack brings is the limit, so that a bomb unpacks no further than it said it would.
	in, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(workers), zstd.WithDecodeAllCapLimit(true), zstd.WithDecoderMaxMemory(batchLimit),
		zstd.WithDecoderLowmem(true))
	if err != nil {
		return nil, err
	}
	return &packer{in, out, pool}, nil
}

// close lets go of its tables.
func (p *packer) close() error {
	p.in.Close()
	return p.out.Close()
}

// pack makes a load of a copy of the data, in a buffer that whoever sends it frees.
func (p *packer) pack(data []byte) (load, mem.Buffer) {
	b := p.pool.Get(len(data))
	if len(data) >= packLeast {
		// Room for one byte less than the data: an encoder that needs more makes room of its own, and the copy below is what goes.
		packed := p.out.EncodeAll(data, (*b)[:0])
		if len(packed) < len(data) {
			*b = packed
			return load{Form: formZstd, Size: len(data)}, mem.NewBuffer(b, p.pool)
		}
	}
	*b = (*b)[:len(data)]
	copy(*b, data)
	return load{Form: formPlain, Size: len(data)}, mem.NewBuffer(b, p.pool)
}

// unpack gives the data in a buffer of the pool. The caller puts it back.
func (p *packer) unpack(l load) (*[]byte, error) {
	b := p.pool.Get(l.Size)
	if l.Form == formPlain {
		copy(*b, l.Body)
		return b, nil
	}
	data, err := p.in.DecodeAll(l.Body, (*b)[:0:l.Size])
	if err == nil && len(data) != l.Size {
		err = fmt.Errorf("%d bytes were said to be %d", len(data), l.Size)
	}
	if err != nil {
		p.pool.Put(b)
		return nil, fmt.Errorf("%w: what it carries does not unpack: %w", errMalformed, err)
	}
	if len(data) == 0 || &data[0] != &(*b)[0] {
		*b = data
	}
	return b, nil
}

// buffers is a pool of byte slices, in the form that gRPC wants. Slices that are too small for a wish are dropped.
type buffers struct{ pool sync.Pool }

// Get implements mem.BufferPool: what is in the slice is anything.
func (p *buffers) Get(length int) *[]byte {
	if b, _ := p.pool.Get().(*[]byte); b != nil && cap(*b) >= length {
		*b = (*b)[:length]
		return b
	}
	b := make([]byte, length, max(length, roomLeast))
	return &b
}

// roomLeast is the capacity of the smallest slices there are.
const roomLeast = 4 << 10

// Put implements mem.BufferPool.
func (p *buffers) Put(b *[]byte) {
	if cap(*b) >= roomLeast {
		p.pool.Put(b)
	}
}
