package inflate

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"testing"
)

// bitWriter writes a DEFLATE stream bit by bit.
type bitWriter struct {
	b []byte
	n uint
}

func (w *bitWriter) put(v uint64, n uint) {
	for i := range n {
		if w.n&7 == 0 {
			w.b = append(w.b, 0)
		}
		w.b[len(w.b)-1] |= byte(v>>i&1) << (w.n & 7)
		w.n++
	}
}

// emptyBlock writes the shortest block with codes of its own that holds nothing: 11 bytes.
func (w *bitWriter) emptyBlock(last uint64) {
	w.put(last, 1)
	w.put(2, 2)
	w.put(0, 5)  // 257 literals and lengths
	w.put(0, 5)  // 1 distance
	w.put(14, 4) // 18 lengths of lengths, in this order
	for _, symbol := range []int{16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1} {
		if symbol == 18 || symbol == 1 {
			w.put(1, 3)
		} else {
			w.put(0, 3)
		}
	}
	w.put(1, 1) // 138 and 118 times nothing
	w.put(127, 7)
	w.put(1, 1)
	w.put(107, 7)
	w.put(0, 1) // the end of the block has one bit
	w.put(0, 1) // and so has the one distance
	w.put(0, 1) // the end
}

// emptyFixed writes an empty block with the fixed codes: 10 bits.
func (w *bitWriter) emptyFixed() {
	w.put(0, 1)
	w.put(1, 2)
	w.put(0, 7)
}

// A stream that ends within the lengths of a block's words is truncated, even if zeros behind it would be corrupt.
func TestZ4_AStreamThatEndsInABlocksHeaderIsTruncated(t *testing.T) {
	d := NewDecoder()
	begun := []byte{0x05, 0x20, 0x12, 0x00} // the word for a repeat is a zero, and there is nothing to repeat
	if _, _, err := d.Raw(nil, begun, 1<<20); !errors.Is(err, ErrTruncated) {
		t.Errorf("the header alone: %v", err)
	}
	for _, src := range [][]byte{append(begun, 0), {0x24, 0x10, 0x24, 0x24}, packRaw(t, html(2000), 9)} {
		for n := range min(len(src)+1, 200) {
			sameAsLibrary(t, d, src[:n])
		}
	}
}

func emptyBlocks(n int) []byte {
	w := &bitWriter{}
	for range n - 1 {
		w.emptyBlock(0)
	}
	w.emptyBlock(1)
	return w.b
}

// 80,000 empty blocks are 880 KB, gzip makes 4 KB of them, and their tables took 400 ms.
func TestZ7_BlocksWithoutOutputAreBounded(t *testing.T) {
	d := NewDecoder()
	for _, n := range []int{1, blocksFree} {
		src := emptyBlocks(n)
		if out, used, err := d.Raw(nil, src, 1<<20); err != nil || len(out) > 0 || used != len(src) {
			t.Errorf("%d empty blocks: %d bytes, %v", n, len(out), err)
		}
	}
	src := emptyBlocks(80_000)
	if _, _, err := d.Raw(nil, src, 1<<20); !errors.Is(err, ErrWork) {
		t.Errorf("80,000 empty blocks in %d bytes: %v, want %v", len(src), err, ErrWork)
	}
	if most := blocksFree + len(src)/blocksInput + 1; d.blocks > most {
		t.Errorf("tables were made for %d blocks, more than %d", d.blocks, most)
	}
	// Members do not start the count again.
	var members []byte
	for range 80 {
		members = append(members, 0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255)
		members = append(members, emptyBlocks(1000)...)
		members = append(members, 0, 0, 0, 0, 0, 0, 0, 0)
	}
	if _, err := d.Gzip(nil, members, 1<<20); !errors.Is(err, ErrWork) {
		t.Errorf("80 members of 1,000 empty blocks: %v, want %v", err, ErrWork)
	}
	if most := blocksFree + len(members)/blocksInput + 1; d.blocks > most {
		t.Errorf("tables were made for %d blocks of many members, more than %d", d.blocks, most)
	}
}

// A server that flushes each line of a long page is honest, and so is one that compresses each row of a table.
func TestZ7_FlushedLinesAreNotBounded(t *testing.T) {
	for _, level := range []int{flate.BestSpeed, flate.DefaultCompression, flate.HuffmanOnly} {
		var packed, want bytes.Buffer
		w, err := flate.NewWriter(&packed, level)
		if err != nil {
			t.Fatal(err)
		}
		for i := range 40_000 {
			line := fmt.Sprintf("<tr><td>%d</td><td>%x</td></tr>\n", i, i*i*2654435761)
			want.WriteString(line)
			_, _ = w.Write([]byte(line))
			_ = w.Flush()
		}
		_ = w.Close()
		d := NewDecoder()
		out, _, err := d.Raw(nil, packed.Bytes(), 16<<20)
		if err != nil || !bytes.Equal(out, want.Bytes()) {
			t.Errorf(
				"level %d: %d bytes in %d blocks with codes from %d bytes: %v", level, len(out), d.blocks, packed.Len(), err,
			)
		}
	}
}

// FuzzBlocks asserts what a byte can cost: it repeats a stream as members of 1 MB, and counts the blocks for which
// tables were made.
func FuzzBlocks(f *testing.F) {
	f.Add(emptyBlocks(1))
	f.Add(emptyBlocks(50))
	mixed := &bitWriter{}
	mixed.emptyFixed()
	mixed.emptyBlock(0)
	mixed.emptyFixed()
	mixed.emptyBlock(1)
	f.Add(mixed.b)
	f.Add(packRaw(f, []byte("a text that is not too long"), 6))
	d := NewDecoder()
	f.Fuzz(func(t *testing.T, src []byte) {
		const limit = 4 << 20
		out, used, err := d.Raw(nil, src, limit)
		if err != nil {
			return
		}
		member := append([]byte{0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255}, src[:used]...)
		member = binary.LittleEndian.AppendUint32(member, crc32.ChecksumIEEE(out))
		member = binary.LittleEndian.AppendUint32(member, uint32(len(out)))
		members := bytes.Repeat(member, 1<<20/len(member)+1)
		out, err = d.Gzip(nil, members, limit)
		if err != nil && !errors.Is(err, ErrWork) && !errors.Is(err, ErrLimit) {
			t.Fatalf("members of a sound stream: %v", err)
		}
		if most := blocksFree + len(members)/blocksInput + len(out)/blocksOutput + 1; d.blocks > most {
			t.Fatalf(
				"tables were made for %d blocks, more than %d, of %d bytes from which came %d", d.blocks, most, len(members),
				len(out),
			)
		}
	})
}

// BenchmarkEmptyBlocks measures what 4,096 blocks cost that hold nothing, beside the library.
func BenchmarkEmptyBlocks(b *testing.B) {
	mixed := &bitWriter{}
	for range blocksFree - 1 {
		mixed.emptyBlock(0)
		mixed.emptyFixed()
	}
	mixed.emptyBlock(1)
	for name, src := range map[string][]byte{"own-codes": emptyBlocks(blocksFree), "mixed": mixed.b} {
		b.Run(name+"/ours", func(b *testing.B) {
			d := NewDecoder()
			b.SetBytes(int64(len(src)))
			for b.Loop() {
				if _, _, err := d.Raw(nil, src, 1<<20); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(name+"/standard", func(b *testing.B) {
			r := flate.NewReader(nil)
			b.SetBytes(int64(len(src)))
			var buf [1]byte
			for b.Loop() {
				_ = r.(flate.Resetter).Reset(bytes.NewReader(src), nil)
				if n, _ := r.Read(buf[:]); n > 0 {
					b.Fatal(n)
				}
			}
		})
	}
}
