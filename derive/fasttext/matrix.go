package fasttext

import (
	"encoding/binary"
	"math"
)

// matrix has a row of numbers for each word and n-gram, or for each label.
type matrix interface {
	// rows is how many there are.
	rows() int64
	// addRow adds a row to sum, which has the length of a row.
	addRow(sum []float32, row int32)
	// dot returns the product of a row and a vector of its length.
	dot(vector []float32, row int32) float32
}

// dense is a matrix as it is in the file.
type dense struct {
	data   []byte
	stride int // bytes of a row
}

func (in *input) dense(width int32) *dense {
	rows, columns := in.int64(), in.int64()
	if in.err == nil && columns != int64(width) {
		in.err = faultf("rows of %d numbers, want %d", columns, width)
		return nil
	}
	return &dense{in.array(rows, columns, 4), 4 * int(width)}
}

func (m *dense) rows() int64 { return int64(len(m.data) / m.stride) }

func (m *dense) addRow(sum []float32, row int32) {
	at := int(row) * m.stride
	numbers := m.data[at : at+m.stride]
	for i := range sum {
		if len(numbers) < 4 {
			break
		}
		sum[i] += math.Float32frombits(binary.LittleEndian.Uint32(numbers))
		numbers = numbers[4:]
	}
}

func (m *dense) dot(vector []float32, row int32) (product float32) {
	at := int(row) * m.stride
	numbers := m.data[at : at+m.stride]
	for _, v := range vector {
		if len(numbers) < 4 {
			break
		}
		product += v * math.Float32frombits(binary.LittleEndian.Uint32(numbers))
		numbers = numbers[4:]
	}
	return product
}

// quantiser has 256 vectors (centroids) for each part of a row. A code of one byte stands for such a part.
type quantiser struct {
	parts     int // of a row
	width     int // of a part
	lastWidth int // of the last part
	centroids []float32
}

// codes is the number of values of a code.
const codes = 256

func (in *input) quantiser(width int32) (q quantiser) {
	found := in.int32()
	q.parts, q.width, q.lastWidth = int(in.int32()), int(in.int32()), int(in.int32())
	switch {
	case in.err != nil:
	case found != width:
		in.err = faultf("a quantiser of %d numbers, want %d", found, width)
	case q.parts < 1 || q.parts > int(width) || q.width < 1 || q.width > int(width) ||
		q.lastWidth < 1 || q.lastWidth > q.width || int64(q.parts-1)*int64(q.width)+int64(q.lastWidth) != int64(width):
		in.err = faultf("a quantiser of %d parts of %d numbers, the last of %d", q.parts, q.width, q.lastWidth)
	default:
		q.centroids = in.floats(int64(width) * codes)
	}
	return q
}

// centroid returns what a code stands for.
func (q *quantiser) centroid(part int, code byte) []float32 {
	at, width := (part*codes+int(code))*q.width, q.width
	if part == q.parts-1 {
		at, width = part*codes*q.width+int(code)*q.lastWidth, q.lastWidth
	}
	return q.centroids[at : at+width]
}

// quantised is a matrix whose rows are codes. A row may have a factor of its own, quantised too.
type quantised struct {
	quantiser

	codes     []byte
	factors   quantiser
	factorsOf []byte // the code of each row; empty: all factors are 1
}

func (in *input) quantised(width int32) *quantised {
	hasFactors := in.byte() != 0
	rows, columns, size := in.int64(), in.int64(), int64(in.int32())
	if in.err == nil && (columns != int64(width) || rows < 0) {
		in.err = faultf("%d quantised rows of %d numbers, want %d numbers", rows, columns, width)
		return nil
	}
	m := &quantised{codes: in.take(size)}
	m.quantiser = in.quantiser(width)
	if in.err == nil && (rows > size || rows*int64(m.parts) != size) {
		in.err = faultf("%d codes for %d rows of %d parts", size, rows, m.parts)
		return nil
	}
	if hasFactors {
		m.factorsOf = in.take(rows)
		m.factors = in.quantiser(1)
	}
	return m
}

func (m *quantised) rows() int64 { return int64(len(m.codes) / m.parts) }

// row returns the codes and the factor of a row.
func (m *quantised) row(row int32) (codes []byte, factor float32) {
	at := int(row) * m.parts
	factor = 1
	if len(m.factorsOf) > 0 {
		factor = m.factors.centroid(0, m.factorsOf[row])[0]
	}
	return m.codes[at : at+m.parts], factor
}

func (m *quantised) addRow(sum []float32, row int32) {
	codes, factor := m.row(row)
	for part, code := range codes {
		values := m.centroid(part, code)
		if len(values) > len(sum) {
			break
		}
		for i, v := range values {
			sum[i] += factor * v
		}
		sum = sum[len(values):]
	}
}

func (m *quantised) dot(vector []float32, row int32) (product float32) {
	codes, factor := m.row(row)
	for part, code := range codes {
		values := m.centroid(part, code)
		if len(values) > len(vector) {
			break
		}
		for i, v := range values {
			product += vector[i] * v
		}
		vector = vector[len(values):]
	}
	return factor * product
}
