package member

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"testing"
)

// repeatedFrame is a zstd frame of blocks, each 128 KiB of one repeated byte in four bytes.
func repeatedFrame(blocks int) []byte {
	frame := append([]byte(zstdMagic), 0, 10<<3)
	const isRepeated, size = 1 << 1, 128 << 10
	for i := range blocks {
		head := uint32(isRepeated | size<<3)
		if i == blocks-1 {
			head |= 1
		}
		frame = append(binary.LittleEndian.AppendUint32(frame, head)[:len(frame)+3], 'A')
	}
	return frame
}

// A frame of 64 KB that would unpack to 2 GiB ends at the bound, and the frame behind it is read. A file of this
// program has no bound.
func TestReader_boundsWhatIsUnpacked(t *testing.T) {
	const blocks = 16 << 10
	good := repeatedFrame(1)
	file := bytes.Join([][]byte{good, repeatedFrame(blocks), good}, nil)
	var z Reader
	defer z.Close()
	read := func(unbounded bool) (sizes []int64, failed error) {
		z.Reset(bytes.NewReader(file), ReaderOptions{Unbounded: unbounded})
		for {
			err := z.Next()
			if err == io.EOF { //nolint:errorlint // Next returns it unwrapped
				return sizes, failed
			}
			n := int64(0)
			if err == nil {
				n, err = io.Copy(io.Discard, onlyRead{&z})
			}
			if err != nil {
				failed = errors.Join(failed, err)
				if z.Resync() != nil {
					return sizes, failed
				}
				continue
			}
			sizes = append(sizes, n)
		}
	}
	sizes, err := read(false)
	if !errors.Is(err, ErrTooLarge) || len(sizes) != 2 || z.unpacked > UnpackedFree+UnpackedMost*int64(len(file))+1<<20 {
		t.Errorf("members of %v bytes, %d unpacked, %v", sizes, z.unpacked, err)
	}
	if sizes, err := read(true); err != nil || len(sizes) != 3 || sizes[1] != blocks*128<<10 {
		t.Errorf("without bound: members of %v bytes, %v", sizes, err)
	}
}

type onlyRead struct{ io.Reader }
