package hostile

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"encoding/binary"
	"hash/crc32"
	"io"
	"strings"

	"github.com/andybalholm/brotli"
)

// compression holds the abuses of content encodings.
func compression() []Case {
	return []Case{
		{ID: "Z01", Play: func(x *Exchange) {
			if x.Path != "/" {
				x.HTML("found")
				return
			}
			x.encoded("gzip")
			x.sendGzip(bombStart, 10<<10)
		}},
		{ID: "Z02", Seeds: []string{"/zlib", "/deflate", "/br", "/zstd", "/zstd-window"}, Play: playBomb},
		layers(),
		lies(),
		damaged(),
	}
}

// encoded sends the head of a page of that encoding, which ends with the connection.
func (x *Exchange) encoded(encoding string) {
	x.Write(okHTML + "Content-Encoding: " + encoding + "\r\n\r\n")
}

// bombStart is what a bomb begins with: a page.
const bombStart = "<!doctype html><a href=\"/found\">before the bomb</a>\n"

// bombText is what bombs unpack to, over and over.
func bombText() []byte { return bytes.Repeat([]byte{' '}, 1<<20) }

// packer packs a stream.
type packer interface {
	io.WriteCloser
	Flush() error
}

// periodic gives a stream of bombText: its beginning, with so many MiB, what may be repeated for a MiB each, and its
// end.
func periodic(make func(io.Writer) packer) (begin, again, end []byte, mib int) {
	var b bytes.Buffer
	w := make(&b)
	text := bombText()
	next := func() []byte {
		_, _ = w.Write(text) // to memory
		_ = w.Flush()
		piece := bytes.Clone(b.Bytes())
		b.Reset()
		return piece
	}
	for before := next(); ; mib++ {
		begin = append(begin, before...)
		again = next()
		if bytes.Equal(before, again) { // the packer looks back on nothing but blanks
			break
		}
		before = again
	}
	_ = w.Close()
	return begin, again, b.Bytes(), mib + 1
}

func rawFlate(w io.Writer) packer {
	z, _ := flate.NewWriter(w, flate.BestCompression) // the level is one
	return z
}

// sendGzip sends start and so many MiB of blanks, about 1 KiB each, with the sum that is right for them.
func (x *Exchange) sendGzip(start string, mib int) {
	var b bytes.Buffer
	z := rawFlate(&b)
	_, _ = io.WriteString(z, start)
	_ = z.Flush()
	begin, again, end, has := periodic(rawFlate)
	x.Write("\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\xff" + b.String() + string(begin))
	x.Repeat(string(again), int64(len(again))*int64(mib-has))
	var sum [8]byte
	binary.LittleEndian.PutUint32(sum[:], sumOf(start, mib))
	binary.LittleEndian.PutUint32(sum[4:], uint32(len(start)+mib<<20)) // modulo 2^32, as the format has it
	x.Write(string(end) + string(sum[:]))
}

// sumOf is the CRC-32 of start and so many MiB of blanks. What a MiB adds to a sum is a linear map, so it need not be
// read again.
func sumOf(start string, mib int) uint32 {
	var bits [32]uint32 // what becomes of each bit of a sum
	text := bombText()
	none := crc32.Update(0, crc32.IEEETable, text)
	for i := range bits {
		bits[i] = crc32.Update(1<<i, crc32.IEEETable, text) ^ none
	}
	sum := crc32.ChecksumIEEE([]byte(start))
	for range mib {
		next := none
		for i, to := range bits {
			if sum>>i&1 == 1 {
				next ^= to
			}
		}
		sum = next
	}
	return sum
}

// playBomb sends bombs of other encodings, of gigabytes each.
func playBomb(x *Exchange) {
	switch x.Path {
	case "/zlib", "/deflate": // the encoding deflate is both
		x.encoded("deflate")
		begin, again, _, _ := periodic(rawFlate)
		if x.Path == "/zlib" {
			x.Write("\x78\xda")
		}
		x.Send(begin)
		x.Repeat(string(again), 10<<20)
	case "/br":
		x.encoded("br")
		begin, again, _, _ := periodic(func(w io.Writer) packer { return brotli.NewWriterLevel(w, 4) })
		x.Send(begin)
		x.Repeat(string(again), 1<<20)
	case "/zstd":
		x.encoded("zstd")
		x.Write("\x28\xb5\x2f\xfd\x00\x50") // a window of a MiB
		x.Repeat("\x02\x00\x10 ", 40<<10)   // 128 KiB of blanks
	case "/zstd-window":
		x.encoded("zstd")
		x.Write("\x28\xb5\x2f\xfd\x00\xa8") // a window of 2 GiB
		x.Repeat("\x02\x00\x10 ", 1<<20)
	}
}

func packed(text string) string {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = io.WriteString(z, text)
	_ = z.Close()
	return b.String()
}

// linked is a page with a link to a path.
func linked(path string) string {
	return "<!doctype html><title>" + path + "</title><p>" + strings.Repeat(
		"some text, ",
		200,
	) + "<a href=\"" + path + "\">a link</a>\n"
}

// wrapped packs text with gzip so many times.
func wrapped(text string, times int) string {
	for range times {
		text = packed(text)
	}
	return text
}

// layers makes case Z03.
func layers() Case {
	of := func(path, fields string, n int) made {
		return made{path, func() string { return okHTML + fields + "\r\n" + wrapped(linked(path+"/found"), n) }}
	}
	list := func(n int) string { return "Content-Encoding: gzip" + strings.Repeat(", gzip", n-1) + "\r\n" }
	return makes(
		"Z03",
		of("/said-twice", list(2), 1),
		of("/two", list(2), 2),
		of("/three", list(3), 3),
		of("/twenty", list(20), 20),
		of("/fields", strings.Repeat("Content-Encoding: gzip\r\n", 20), 20),
	)
}

// lies makes case Z04: one encoding is named and another sent.
func lies() Case {
	of := func(path, encoding string, times int) made {
		return made{path, func() string {
			return okHTML + "Content-Encoding: " + encoding + "\r\n\r\n" + wrapped(linked(path+"/found"), times)
		}}
	}
	return makes(
		"Z04",
		of("/plain", "gzip", 0),
		of("/br-plain", "br", 0),
		of("/zstd-plain", "zstd", 0),
		of("/deflate-plain", "deflate", 0),
		of(
			"/br",
			"br",
			1,
		),
		of("/zstd", "zstd", 1),
		of("/deflate", "deflate", 1),
		of("/unknown", "rot13", 0),
		of("/nonsense", "\"\x80, ,;", 0),
		of("/unsaid", "identity", 1),
	)
}

// damaged makes case Z05.
func damaged() Case {
	of := func(path string, body func(whole string) string) made {
		return made{path, func() string {
			return okHTML + "Content-Encoding: gzip\r\n\r\n" + body(
				packed(linked(path+"/found")+strings.Repeat("the end\n", 1000)),
			)
		}}
	}
	flipped := func(at int) func(string) string {
		return func(whole string) string {
			b := []byte(whole)
			b[len(b)-at] ^= 1
			return string(b)
		}
	}
	return makes(
		"Z05",
		of("/cut", func(s string) string { return s[:len(s)-10] }),
		of("/sum", flipped(5)),
		of("/length", flipped(1)),
		of("/tail", func(s string) string { return s + "\n<!-- served by a proxy -->" }),
		of("/members", func(s string) string { return s + strings.Repeat(packed("<p>more"), 1000) }),
		of("/bad-member", func(s string) string { return s + "\x1f\x8b\x08\xff" }),
		of("/no-sum", func(s string) string { return s[:len(s)-8] }),
	)
}
