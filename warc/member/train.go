package member

import (
	"crypto/rand"
	"encoding/binary"
	"fmt"

	"github.com/klauspost/compress/dict"
	"github.com/klauspost/compress/zstd"
)

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
