package member

import (
	"bytes"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/dict"
	"github.com/klauspost/compress/zstd"
)

// A .warc.zst may begin with a frame that decoders pass over and that holds a dictionary, itself a zstd frame or as it
// is: all other frames of the file refer to it (Zstandard Compression for WARC Files 1.0, of the IIPC).
//
//	| 5d 2a 4d 18 | length 4 | dictionary | frame: warcinfo | frame: one record | ...

// dictionaryMagic starts the frame with the dictionary.
const dictionaryMagic = "\x5d\x2a\x4d\x18"

// dictionaryHeader is the number of bytes before the dictionary in its frame.
const dictionaryHeader = 8

// ErrDictionary is returned for bytes that are no zstd dictionary or have no dictionary number.
var ErrDictionary = errors.New("warc: no zstd dictionary")

// dictionaryID returns the number of a dictionary, which is stored in the frames. Without it a reader could not
// distinguish a wrong dictionary from a damaged frame.
func dictionaryID(dictionary []byte) (uint32, error) {
	d, err := zstd.InspectDictionary(dictionary)
	if err != nil {
		return 0, fmt.Errorf("%w: %w", ErrDictionary, err)
	}
	if len(dictionary) > dictionaryMax || d.ID() == 0 {
		return 0, fmt.Errorf("%w: number %d, %d bytes", ErrDictionary, d.ID(), len(dictionary))
	}
	return d.ID(), nil
}

// dictionaryFrame returns the frame with the dictionary for the start of a file.
func dictionaryFrame(dictionary []byte) ([]byte, error) {
	z, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedBestCompression), zstd.WithEncoderConcurrency(1))
	if err != nil {
		return nil, fmt.Errorf("warc: compressor: %w", err)
	}
	frame := append([]byte(dictionaryMagic), 0, 0, 0, 0)
	frame = z.EncodeAll(dictionary, frame)
	if err := z.Close(); err != nil {
		return nil, fmt.Errorf("warc: compressor: %w", err)
	}
	binary.LittleEndian.PutUint32(frame[4:], uint32(len(frame)-dictionaryHeader))
	return frame, nil
}

// unpackDictionary returns the dictionary of a frame.
func unpackDictionary(content []byte) ([]byte, error) {
	if !bytes.HasPrefix(content, []byte(zstdMagic)) {
		return content, nil
	}
	z, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(dictionaryMax))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrCompression, err)
	}
	defer z.Close()
	dictionary, err := z.DecodeAll(content, nil)
	if err != nil {
		return nil, fmt.Errorf("%w: dictionary: %w", ErrCompression, err)
	}
	return dictionary, nil
}

// ReadDictionary returns the dictionary at the start of a .warc.zst, for readers that start in its middle, and the
// length of its frame in bytes. Without a dictionary it returns nil and 0.
func ReadDictionary(r io.ReaderAt) (dictionary []byte, length int64, err error) {
	head := make([]byte, dictionaryHeader)
	if n, err := r.ReadAt(head, 0); n < len(head) && !errors.Is(err, io.EOF) {
		return nil, 0, fmt.Errorf("warc: dictionary: %w", err)
	} else if n < len(head) || string(head[:4]) != dictionaryMagic {
		return nil, 0, nil
	}
	size := int64(binary.LittleEndian.Uint32(head[4:]))
	if size > dictionaryMax {
		return nil, 0, fmt.Errorf("%w: dictionary of %d bytes", ErrTooLarge, size)
	}
	content := make([]byte, size)
	if n, err := r.ReadAt(content, dictionaryHeader); int64(n) < size {
		if errors.Is(err, io.EOF) {
			err = fmt.Errorf("%w: the file ends in its dictionary", ErrTruncated)
		}
		return nil, 0, err
	}
	dictionary, err = unpackDictionary(content)
	return dictionary, dictionaryHeader + size, err
}

// TrainDictionary computes a dictionary of at most size bytes for records like the samples, each the whole text of one.
// It needs some hundreds of samples; a hundred times the size of the dictionary is plenty. It takes seconds.
func TrainDictionary(samples [][]byte, size int) ([]byte, error) {
	var number [4]byte
	_, _ = rand.Read(number[:]) // never fails: it ends the process instead
	// Smaller and larger numbers are reserved for registered dictionaries.
	id := binary.LittleEndian.Uint32(number[:])&(1<<31-1) | 1<<15
	const tables = 512 // most bytes before the content
	d, err := dict.BuildZstdDict(samples, dict.Options{
		MaxDictSize: size - tables, HashBytes: 6, ZstdDictID: id, ZstdDictCompat: true, ZstdLevel: zstd.SpeedDefault,
	})
	if err == nil {
		_, err = dictionaryID(d)
	}
	if err != nil {
		return nil, fmt.Errorf("warc: training on %d samples: %w", len(samples), err)
	}
	return d, nil
}
