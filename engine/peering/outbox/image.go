package outbox

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"

	"orbweaver/internal/vfs"
)

// ErrImage means that the file with the image of a checkpoint is damaged.
var ErrImage = errors.New("the list of unsent messages is damaged")

// AppendChecksum makes the content of the file that holds the image of a checkpoint.
func AppendChecksum(image []byte) []byte {
	return binary.LittleEndian.AppendUint32(image, crc32.Checksum(image, crc32.MakeTable(crc32.Castagnoli)))
}

// ReadImage reads that file.
func ReadImage(fsys vfs.FS, name string) ([]byte, error) {
	b, err := vfs.ReadFile(fsys, name)
	if err != nil {
		return nil, fmt.Errorf("outbox: %w", err)
	}
	size := len(b) - 4
	if size < 0 || crc32.Checksum(b[:size], crc32.MakeTable(crc32.Castagnoli)) != binary.LittleEndian.Uint32(b[size:]) {
		return nil, fmt.Errorf("outbox: %w: %s", ErrImage, name)
	}
	return b[:size], nil
}
