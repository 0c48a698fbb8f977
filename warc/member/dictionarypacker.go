package member

import (
	"bytes"
	"fmt"

	"github.com/klauspost/compress/zstd"
)

// dictionaryPacker compresses texts when their prefix is known. With a dictionary no part of a frame can be changed
// later, because its blocks refer over the prefix into the dictionary. Until then it stores the texts uncompressed. The
// zero value has no dictionary.
type dictionaryPacker struct {
	id     uint32 // of the dictionary
	frame  []byte // for the start of a file
	z      *zstd.Encoder
	raw    []byte
	packed bool   // the output contains the compressed texts, with this prefix
	prefix []byte // its own copy
}

// init sets the dictionary.
func (l *dictionaryPacker) init(dictionary []byte, level int) error {
	var err error
	if l.id, err = dictionaryID(dictionary); err != nil {
		return err
	}
	if l.frame, err = dictionaryFrame(dictionary); err != nil {
		return err
	}
	l.z, err = zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.EncoderLevelFromZstd(level)),
		zstd.WithEncoderConcurrency(1), zstd.WithEncoderDict(dictionary))
	if err != nil {
		return fmt.Errorf("warc: compressor: %w", err)
	}
	return nil
}

// begin starts a text with this prefix.
func (l *dictionaryPacker) begin(prefix []byte) {
	l.raw = append(l.raw, prefix...)
	l.packed = false
}

// pack compresses the texts with this prefix, over out.
func (l *dictionaryPacker) pack(out []byte, members []Member, prefix []byte) []byte {
	if l.packed && bytes.Equal(l.prefix, prefix) {
		return out
	}
	out = out[:0]
	from := 0
	for i := range members {
		m := &members[i]
		raw := l.raw[from : from+int(m.Raw)]
		from += int(m.Raw)
		if m.prefixAt >= 0 {
			copy(raw, prefix)
		}
		m.Start = len(out)
		out = l.z.EncodeAll(raw, out)
		m.End = len(out)
	}
	l.packed = true
	l.prefix = append(l.prefix[:0], prefix...)
	return out
}

// reset removes the texts.
func (l *dictionaryPacker) reset() {
	if cap(l.raw) > bufferKeep {
		l.raw = nil
	}
	l.raw, l.packed = l.raw[:0], false
}
