package corpus

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"encoding/binary"
	"hash/crc32"
)

// Gzipped returns the gzip form of a payload; the same at every call.
func Gzipped(b []byte) []byte {
	var buf bytes.Buffer
	z, err := gzip.NewWriterLevel(&buf, gzip.BestSpeed)
	if err != nil {
		panic("BUG: simweb: gzip level: " + err.Error())
	}
	_, _ = z.Write(b) // a bytes.Buffer does not fail
	_ = z.Close()
	return buf.Bytes()
}

// Packer makes gzip forms.
type Packer struct {
	z   [2]*flate.Writer // of BestSpeed and of segmentLevel; nil until they are needed
	out appender
}

// appender is a Writer that appends.
type appender struct{ b []byte }

// Write appends p. It never fails.
func (a *appender) Write(p []byte) (int, error) {
	a.b = append(a.b, p...)
	return len(p), nil
}

// stretch appends the packed form of text, which refers to nothing before it, and fills its last byte.
func (p *Packer) stretch(dst, text []byte, level int) []byte {
	k := 0
	if level > flate.BestSpeed {
		k = 1
	}
	p.out.b = dst
	if p.z[k] == nil {
		var err error
		if p.z[k], err = flate.NewWriter(&p.out, level); err != nil {
			panic("BUG: simweb: deflate level: " + err.Error())
		}
	} else {
		p.z[k].Reset(&p.out)
	}
	_, _ = p.z[k].Write(text) // an appender does not fail
	_ = p.z[k].Flush()
	dst, p.out.b = p.out.b, nil
	return dst
}

const (
	gzipHead  = "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03"
	gzipEmpty = "\x03\x00" // the last block, with nothing in it
)

// Gzip appends the gzip form of a payload in which these segments lie; the same at every call.
func (p *Packer) Gzip(dst, payload []byte, marks []Placement) []byte {
	dst = append(dst, gzipHead...)
	from := 0
	for _, m := range marks {
		if m.at > from {
			dst = p.stretch(dst, payload[from:m.at], flate.BestSpeed)
		}
		dst = append(dst, m.of.packed...)
		from = m.at + len(m.of.text)
	}
	if from < len(payload) {
		dst = p.stretch(dst, payload[from:], flate.BestSpeed)
	}
	dst = append(dst, gzipEmpty...)
	dst = binary.LittleEndian.AppendUint32(dst, crc32.ChecksumIEEE(payload))
	return binary.LittleEndian.AppendUint32(dst, uint32(len(payload)))
}
