package fasttext

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// ErrFormat is wrapped by every error of Open.
var ErrFormat = errors.New("fasttext: not a supervised model of fastText")

func faultf(format string, values ...any) error {
	return fmt.Errorf("%w: %s", ErrFormat, fmt.Sprintf(format, values...))
}

// input is the rest of a file. After its end all values are zero, and err is set.
type input struct {
	rest []byte
	err  error
}

// take returns the next n bytes; nil at the end.
func (in *input) take(n int64) []byte {
	if n < 0 || n > int64(len(in.rest)) {
		if in.err == nil {
			in.err = faultf("the file ends too early")
		}
		in.rest = nil
		return nil
	}
	taken := in.rest[:n:n]
	in.rest = in.rest[n:]
	return taken
}

func (in *input) byte() byte {
	if b := in.take(1); b != nil {
		return b[0]
	}
	return 0
}

func (in *input) int32() int32 {
	if b := in.take(4); b != nil {
		return int32(binary.LittleEndian.Uint32(b))
	}
	return 0
}

func (in *input) int64() int64 {
	if b := in.take(8); b != nil {
		return int64(binary.LittleEndian.Uint64(b))
	}
	return 0
}

// text returns the bytes before the next zero.
func (in *input) text() []byte {
	end := bytes.IndexByte(in.rest, 0)
	if end < 0 {
		in.take(int64(len(in.rest)) + 1)
		return nil
	}
	text := in.take(int64(end))
	in.take(1)
	return text
}

// array returns the bytes of rows times columns items of this size each.
func (in *input) array(rows, columns, size int64) []byte {
	if rows < 0 || columns < 0 || columns > 0 && rows > int64(len(in.rest))/columns/size {
		rows, columns, size = 1, 1, -1 // more than there is
	}
	return in.take(rows * columns * size)
}

// floats returns n numbers.
func (in *input) floats(n int64) []float32 {
	b := in.array(n, 1, 4)
	numbers := make([]float32, len(b)/4)
	for i := range numbers {
		numbers[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
	}
	return numbers
}
