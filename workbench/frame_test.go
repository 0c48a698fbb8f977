package workbench

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"testing"

	"orbweaver/internal/vfs"
)

// Values that cross the ends of frames are read as they were written, and each changed byte is found.
func TestReaderReadsWhatWriteWrote(t *testing.T) {
	var values, written bytes.Buffer
	for n := range uint64(3000) {
		values.Write(binary.AppendUvarint(nil, n*n*n))
		values.WriteByte(byte(n))
		text := bytes.Repeat([]byte{byte(n)}, int(n%300))
		values.Write(binary.AppendUvarint(nil, uint64(len(text))))
		values.Write(text)
	}
	written.WriteString(frameMagic)
	var chain uint64
	if _, err := writeFrame(&written, bytes.Clone(values.Bytes()), true, &chain); err != nil {
		t.Fatal(err)
	}
	read := func(in io.Reader) error {
		var r frameReader
		r.Reset(in, 0)
		r.Magic()
		for n := range uint64(3000) {
			if cube, low := r.Uvarint(), r.Byte(); r.Err == nil && (cube != n*n*n || low != byte(n)) {
				t.Fatalf("%d: %d, %d", n, cube, low)
			}
			if rest := r.Rest(); n%2 == 0 && len(rest) > 1000 {
				size, used := binary.Uvarint(rest)
				r.Pass(used + int(size))
			} else if text := r.Bytes(nil); r.Err == nil && !bytes.Equal(text, bytes.Repeat([]byte{byte(n)}, int(n%300))) {
				t.Fatalf("text %d: %q", n, text)
			}
		}
		if r.Err == nil && r.ChainHash != chain {
			t.Error("another chain hash")
		}
		return r.Err
	}
	if err := read(bytes.NewReader(written.Bytes())); err != nil {
		t.Fatal(err)
	}
	for at := 0; at < written.Len(); at += 997 {
		damaged := bytes.Clone(written.Bytes())
		damaged[at] ^= 1
		if err := read(bytes.NewReader(damaged)); !errors.Is(err, vfs.ErrCorrupt) {
			t.Errorf("byte %d changed: %v", at, err)
		}
	}
}
