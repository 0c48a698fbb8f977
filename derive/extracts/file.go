package extracts

import (
	"errors"
	"fmt"
	"io"

	"orbweaver/warc"
	"orbweaver/warc/header"
	"orbweaver/warc/member"
)

// file writes records whose header lines are given in their order, each as a gzip member. Readers of these files take
// some lines by position.
type file struct {
	out    io.Writer
	packer *member.Packer
	header []byte
}

// level of compression: 1, the fastest.
const level = 1

func newFile(out io.Writer) (*file, error) {
	p, err := member.NewPacker(member.PackerOptions{Level: level})
	if err != nil {
		return nil, err
	}
	return &file{out: out, packer: p}, nil
}

// version of WARC: readers of these files expect no other.
const version = "WARC/1.0\r\n"

// write writes a record with these fields. Content-Length gets the length of the block as its value.
func (f *file) write(fields []warc.Field, block []byte) error {
	h := append(f.header[:0], version...)
	for _, field := range fields {
		if field.Name == header.LengthName {
			h = header.AppendLength(h, int64(len(block)))
		} else {
			h = header.AppendField(h, field.Name, field.Value)
		}
	}
	f.header = append(h, "\r\n"...)
	f.packer.Reset()
	f.packer.Begin(false)
	err := errors.Join(f.packer.Write(f.header), f.packer.Write(block), f.packer.Write([]byte("\r\n\r\n")), f.packer.End())
	if err != nil {
		return fmt.Errorf("extracts: %w", err)
	}
	out, err := f.packer.Output()
	if err != nil {
		return fmt.Errorf("extracts: %w", err)
	}
	_, err = f.out.Write(out.Tail)
	return err
}
