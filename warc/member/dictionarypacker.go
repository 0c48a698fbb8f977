package member

import (
	"bytes"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"
)

// dictionaryPacker compresses texts when their prefix is known. With a dictionary no part of a frame can be changed
// later, because its blocks refer over the prefix into the dictionary. Until then it stores the texts uncompressed. The
// zero value has no dictionary.
type dictionaryPacker struct {
	id     uint32 // of the dictionary
	frame  []byte // for the start of a file
	z      *zstd.Encoder
	level  zstd.EncoderLevel
	words  []byte // the dictionary
	raw    []byte
	source source // a part of the first text that is not in raw
	packed bool   // the output contains the compressed texts, with this prefix
	prefix []byte // its own copy
}

// source is a part of a text that is read when it is compressed.
type source struct {
	r    io.ReaderAt
	size int64 // 0: there is none
	at   int   // it comes after raw[:at]
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
	l.level, l.words = zstd.EncoderLevelFromZstd(level), dictionary
	l.z, err = l.newEncoder()
	return err
}

func (l *dictionaryPacker) newEncoder() (*zstd.Encoder, error) {
	z, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(l.level), zstd.WithEncoderConcurrency(1),
		zstd.WithEncoderDict(l.words))
	if err != nil {
		return nil, fmt.Errorf("warc: compressor: %w", err)
	}
	return z, nil
}

// addSource adds a part of the current text.
func (l *dictionaryPacker) addSource(r io.ReaderAt, size int64) {
	l.source = source{r: r, size: size, at: len(l.raw)}
}

// begin starts a text with this prefix.
func (l *dictionaryPacker) begin(prefix []byte) {
	l.raw = append(l.raw, prefix...)
	l.packed = false
}

// pack compresses the texts with this prefix, over out.
func (l *dictionaryPacker) pack(out *sink, members []Member, prefix []byte) error {
	if l.packed && bytes.Equal(l.prefix, prefix) {
		return nil
	}
	out.reset()
	l.packed = false
	from := 0
	for i := range members {
		m := &members[i]
		size := m.Raw
		hasSource := i == 0 && l.source.size > 0
		if hasSource {
			size -= l.source.size
		}
		raw := l.raw[from : from+int(size)]
		from += int(size)
		if m.prefixAt >= 0 {
			copy(raw, prefix)
		}
		m.Start = out.size()
		if !hasSource {
			out.b = l.z.EncodeAll(raw, out.b)
		} else if err := l.packSource(out, raw); err != nil {
			return err
		}
		m.End = out.size()
	}
	l.packed = true
	l.prefix = append(l.prefix[:0], prefix...)
	return nil
}

// packSource compresses the first text, with its source.
func (l *dictionaryPacker) packSource(out *sink, raw []byte) error {
	z, err := l.newEncoder()
	if err != nil {
		return err
	}
	z.Reset(out)
	before, after := raw[:l.source.at], raw[l.source.at:]
	if _, err := z.Write(before); err != nil {
		return fmt.Errorf("warc: compressor: %w", err)
	}
	err = eachPiece(l.source.r, l.source.size, func(piece []byte) error {
		if _, err := z.Write(piece); err != nil {
			return fmt.Errorf("warc: compressor: %w", err)
		}
		if len(out.b) < scratchFrom {
			return nil
		}
		return out.moveOut()
	})
	if err != nil {
		return err
	}
	if _, err := z.Write(after); err != nil {
		return fmt.Errorf("warc: compressor: %w", err)
	}
	if err := z.Close(); err != nil {
		return fmt.Errorf("warc: compressor: %w", err)
	}
	return nil
}

// reset removes the texts.
func (l *dictionaryPacker) reset() {
	if cap(l.raw) > bufferKeep {
		l.raw = nil
	}
	l.raw, l.source, l.packed = l.raw[:0], source{}, false
}
