package history

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/zeebo/xxh3"
)

// The file: magic with the number of the format, names, the two rings, checksum. Numbers are little-endian.
//
//	"OWHIST01"
//	uint16 number of names; for each: uint8 length, bytes
//	for seconds, then minutes: uint32 number of samples; for each: int64 time, float32 for each name
//	uint64 XXH3 of all before it
const fileMagic = "OWHIST01"

// namesMost bounds the names of a file, which another version may have written.
const namesMost = 256

var errDamaged = errors.New("history: damaged file")

// Encode appends the form on disk. The minute under way is not in it.
func (h *History) Encode(b []byte) []byte {
	b = append(b, fileMagic...)
	names := Names()
	b = binary.LittleEndian.AppendUint16(b, uint16(len(names)))
	for _, name := range names {
		b = append(b, byte(len(name)))
		b = append(b, name...)
	}
	for _, r := range []*ring{&h.seconds, &h.minutes} {
		b = binary.LittleEndian.AppendUint32(b, uint32(r.count))
		for i := range r.count {
			b = binary.LittleEndian.AppendUint64(b, uint64(r.times[r.at(i)]))
			for _, v := range r.row(i) {
				b = binary.LittleEndian.AppendUint32(b, math.Float32bits(v))
			}
		}
	}
	return binary.LittleEndian.AppendUint64(b, xxh3.Hash(b))
}

// Decode reads what Encode wrote, of this version or another. Values of names that this version does not have are
// dropped; names that the file does not have are NaN.
func Decode(b []byte) (*History, error) {
	if len(b) < len(fileMagic)+8 || string(b[:len(fileMagic)]) != fileMagic {
		return nil, fmt.Errorf("%w: no file of this format", errDamaged)
	}
	body, sum := b[:len(b)-8], binary.LittleEndian.Uint64(b[len(b)-8:])
	if xxh3.Hash(body) != sum {
		return nil, fmt.Errorf("%w: checksum", errDamaged)
	}
	d := decoder{rest: body[len(fileMagic):]}
	columns := d.columns()
	h := New()
	for _, r := range []*ring{&h.seconds, &h.minutes} {
		d.ring(r, columns)
	}
	if d.isShort || len(d.rest) > 0 {
		return nil, fmt.Errorf("%w: length", errDamaged)
	}
	return h, nil
}

// decoder reads from the front of rest.
type decoder struct {
	rest    []byte
	isShort bool // something was missing
}

// next returns the next n bytes, nil if they are not there.
func (d *decoder) next(n int) []byte {
	if n > len(d.rest) {
		d.isShort, d.rest = true, nil
		return nil
	}
	b := d.rest[:n]
	d.rest = d.rest[n:]
	return b
}

func (d *decoder) uint32() uint32 {
	if b := d.next(4); b != nil {
		return binary.LittleEndian.Uint32(b)
	}
	return 0
}

// columns says for each name of the file which column of ours it is, -1 for none.
func (d *decoder) columns() (columns []int) {
	ours := make(map[string]int)
	for i, name := range Names() {
		ours[name] = i
	}
	count := d.next(2)
	if count == nil {
		return nil
	}
	for range min(int(binary.LittleEndian.Uint16(count)), namesMost) {
		length := d.next(1)
		if length == nil {
			return nil
		}
		column, known := ours[string(d.next(int(length[0])))]
		if !known {
			column = -1
		}
		columns = append(columns, column)
	}
	return columns
}

// ring reads the samples of one resolution. Those whose times do not increase are dropped by ring.add.
func (d *decoder) ring(r *ring, columns []int) {
	count := int64(d.uint32())
	if size := int64(8 + 4*len(columns)); count*size > int64(len(d.rest)) {
		d.isShort = true
		return
	}
	row := make([]float32, r.width)
	for range count {
		t := int64(binary.LittleEndian.Uint64(d.next(8)))
		for i := range row {
			row[i] = float32(math.NaN())
		}
		for _, column := range columns {
			v := math.Float32frombits(d.uint32())
			if column >= 0 {
				row[column] = v
			}
		}
		r.add(t, row)
	}
}
