package warc

import (
	"crypto/rand"
	"encoding/binary"
	"fmt"

	"github.com/klauspost/compress/dict"
	"github.com/klauspost/compress/zstd"
)

// Train makes a dictionary of at most so many bytes that suits records like the samples, each the whole text of one. Some hundreds of
// samples are needed, and a hundred times the dictionary's size is plenty. It takes seconds.
func Train(samples [][]byte, size int) ([]byte, error) {
	var number [4]byte
	_, _ = rand.Read(number[:])                                   // never fails: it ends the process instead
	id := binary.LittleEndian.Uint32(number[:])&(1<<31-1) | 1<<15 // what is below is for registered dictionaries, what is above too
	const tables = 512                                            // what stands before the words, at most
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
