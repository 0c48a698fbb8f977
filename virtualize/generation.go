package virtualize

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/zeebo/xxh3"

	"orbweaver/internal/vfs"
)

const (
	indexMagic      = "orbwvi1\n"
	indexHead       = 80
	indexSegment    = 32
	indexRelocation = 16
	indexEntry      = 40
	indexTail       = 8
)

// writeIndex writes a generation file and returns its length and checksum. It syncs nothing. A file that could not be
// written whole is removed.
func (v *Virtualizer) writeIndex(generation uint64) (length, sum uint64, err error) {
	name := indexName(v.opts.Dir, generation)
	file, err := v.fsys.Create(name)
	if err != nil {
		return 0, 0, fmt.Errorf("virtualize: cut: %w", err)
	}
	w := &indexWriter{out: file, buf: make([]byte, 0, 128<<10), hash: xxh3.New()}
	v.encode(w, generation)
	w.flush()
	sum = w.hash.Sum64()
	w.u64(sum)
	w.flush()
	if err := errors.Join(w.err, file.Close()); err != nil {
		return 0, 0, fmt.Errorf("virtualize: cut: %w", errors.Join(err, vfs.RemoveIfExists(v.fsys, name)))
	}
	return w.length, sum, nil
}

// encode writes all but the checksum. Nothing may be buffered.
func (v *Virtualizer) encode(w *indexWriter, generation uint64) {
	var active, named uint64
	for _, s := range v.segments {
		if s != nil && s.live > 0 {
			named++
			if s == v.active {
				active = uint64(s.number)
			}
		}
	}
	w.buf = append(w.buf, indexMagic...)
	leaky := uint64(0)
	if v.leaky {
		leaky = 1
	}
	for _, n := range []uint64{
		generation, uint64(len(v.segments)), active, v.ordinal, v.total, leaky,
		named, uint64(len(v.reloc)), uint64(v.idx.count),
	} {
		w.u64(n)
	}
	for _, s := range v.segments {
		if s != nil && s.live > 0 {
			w.u64(uint64(s.number))
			w.u64(uint64(len(s.data)))
			w.u64(uint64(s.slots)<<32 | uint64(s.dataEnd))
			w.u64(uint64(s.live))
		}
	}
	for born, now := range v.reloc {
		w.u64(uint64(born))
		w.u64(uint64(now))
	}
	// encode returns no error: the writer keeps its first one.
	_ = v.idx.each(func(_ uint32, e *entry) error {
		w.u64(e.key)
		w.u64(e.first)
		w.u64(uint64(e.head))
		w.u64(uint64(e.tail))
		w.u64(uint64(e.disk)<<32 | uint64(e.headByte))
		return w.err
	})
}

// indexWriter buffers, hashes and writes numbers. It keeps its first error.
type indexWriter struct {
	out    io.Writer
	buf    []byte
	hash   *xxh3.Hasher
	length uint64
	err    error
}

func (w *indexWriter) u64(n uint64) {
	w.buf = binary.LittleEndian.AppendUint64(w.buf, n)
	if len(w.buf) > cap(w.buf)-64 {
		w.flush()
	}
}

func (w *indexWriter) flush() {
	if w.err == nil && len(w.buf) > 0 {
		_, _ = w.hash.Write(w.buf) // never fails
		_, w.err = w.out.Write(w.buf)
		w.length += uint64(len(w.buf))
	}
	w.buf = w.buf[:0]
}

// header is the beginning of a generation file.
type header struct {
	generation, next, active, ordinal, total, leaky uint64
	segments, relocations, entries                  uint64
}

// readIndex reads the generation file of a cut and checks that it is that one, whole and unchanged.
func readIndex(fsys vfs.FS, dir string, cut Cut) (h header, body []byte, err error) {
	data, err := vfs.ReadFile(fsys, indexName(dir, cut.Generation))
	if err != nil {
		return h, nil, fmt.Errorf("virtualize: open: %w", err)
	}
	if uint64(len(data)) != cut.Length || len(data) < indexHead+indexTail || string(data[:8]) != indexMagic {
		return h, nil, corrupt("generation %d has %d bytes, want %d", cut.Generation, len(data), cut.Length)
	}
	content, tail := data[:len(data)-indexTail], data[len(data)-indexTail:]
	sum := xxh3.Hash(content)
	if sum != cut.Checksum || sum != binary.LittleEndian.Uint64(tail) {
		return h, nil, corrupt("generation %d: checksum does not hold", cut.Generation)
	}
	for i, field := range []*uint64{
		&h.generation, &h.next, &h.active, &h.ordinal, &h.total, &h.leaky, &h.segments, &h.relocations, &h.entries,
	} {
		*field = binary.LittleEndian.Uint64(content[8+8*i:])
	}
	body = content[indexHead:]
	// Each count is bounded before they are multiplied, so that nothing overflows.
	most := uint64(len(body))
	if h.segments > most || h.relocations > most || h.entries > most ||
		h.segments*indexSegment+h.relocations*indexRelocation+h.entries*indexEntry != most {
		return h, nil, corrupt("generation %d: its parts do not fill it", cut.Generation)
	}
	if h.generation != cut.Generation || h.entries != cut.Queues || h.total != cut.Items {
		return h, nil, corrupt("generation %d is not what the cut %+v means", h.generation, cut)
	}
	if h.next == 0 || h.next > maxSegments || h.ordinal > maxOrdinal {
		return h, nil, corrupt("generation %d: %d segments, ordinal %d", h.generation, h.next, h.ordinal)
	}
	return h, body, nil
}
