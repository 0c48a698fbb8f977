package textfile

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"unicode/utf16"
	"unicode/utf8"
)

// A decoder turns UTF-16 into UTF-8, and takes a byte order mark away. Other bytes pass unchanged.
type decoder struct {
	in     *bufio.Reader
	isOpen bool             // the encoding is known
	order  binary.ByteOrder // of UTF-16; nil for other text
	half   rune             // the first half of a pair, 0 for none
	ready  []byte           // decoded, not yet read
	buffer []byte           // of ready
	err    error
}

// ErrNoText says that a file is none that a person can write with an editor.
var ErrNoText = errors.New("no text")

// readSize is how much is read at once, in bytes.
const readSize = 64 << 10

func newDecoder(in io.Reader) *decoder { return &decoder{in: bufio.NewReaderSize(in, readSize)} }

// Read implements io.Reader.
func (d *decoder) Read(b []byte) (int, error) {
	if !d.isOpen {
		d.isOpen = true
		d.err = d.begin()
	}
	if d.err == nil && d.order == nil {
		return d.in.Read(b)
	}
	for len(d.ready) == 0 {
		if d.err != nil {
			return 0, d.err
		}
		d.ready, d.err = d.units(d.buffer[:0])
		d.buffer = d.ready
	}
	n := copy(b, d.ready)
	d.ready = d.ready[n:]
	return n, nil
}

// begin finds the encoding from the first bytes. It waits for no more than the first piece that comes.
func (d *decoder) begin() error {
	if _, err := d.in.Peek(1); err != nil {
		return err
	}
	begin, _ := d.in.Peek(min(d.in.Buffered(), 4096))
	for _, f := range []struct{ magic, what string }{
		{"PK\x03\x04", "a ZIP archive, perhaps a spreadsheet"}, {"%PDF", "a PDF"}, {"{\\rtf", "RTF"},
		{"\xff\xfe\x00\x00", "UTF-32"}, {"\x00\x00\xfe\xff", "UTF-32"}, {"\x1f\x8b", "packed with gzip"},
	} {
		if bytes.HasPrefix(begin, []byte(f.magic)) {
			return fmt.Errorf("%w: it is %s: save it as text in UTF-8", ErrNoText, f.what)
		}
	}
	mark := 0
	switch {
	case bytes.HasPrefix(begin, []byte("\xef\xbb\xbf")):
		mark = 3
	case bytes.HasPrefix(begin, []byte("\xff\xfe")):
		mark, d.order = 2, binary.LittleEndian
	case bytes.HasPrefix(begin, []byte("\xfe\xff")):
		mark, d.order = 2, binary.BigEndian
	default:
		d.order = guessOrder(begin)
	}
	_, err := d.in.Discard(mark)
	return err
}

// guessOrder finds UTF-16 without a mark: most characters of such text are ASCII, so every other byte is zero.
func guessOrder(begin []byte) binary.ByteOrder {
	var zeros [2]int
	for i, c := range begin {
		if c == 0 {
			zeros[i&1]++
		}
	}
	switch most := len(begin) / 4; {
	case zeros[1] > most && zeros[0] <= zeros[1]/8:
		return binary.LittleEndian
	case zeros[0] > most && zeros[1] <= zeros[0]/8:
		return binary.BigEndian
	default:
		return nil
	}
}

// units decodes the next units of UTF-16.
func (d *decoder) units(to []byte) ([]byte, error) {
	for range readSize / 4 {
		var b [2]byte
		n, err := io.ReadFull(d.in, b[:])
		if n < len(b) {
			if d.half != 0 || n > 0 {
				to = utf8.AppendRune(to, utf8.RuneError)
			}
			d.half = 0
			if errors.Is(err, io.ErrUnexpectedEOF) {
				err = io.EOF
			}
			return to, err
		}
		unit := rune(d.order.Uint16(b[:]))
		whole := utf16.DecodeRune(d.half, unit)
		switch {
		case d.half != 0 && whole != utf8.RuneError:
			to, d.half = utf8.AppendRune(to, whole), 0
			continue
		case d.half != 0:
			to, d.half = utf8.AppendRune(to, utf8.RuneError), 0
		}
		if isFirstHalf := unit >= 0xd800 && unit < 0xdc00; isFirstHalf {
			d.half = unit
			continue
		}
		to = utf8.AppendRune(to, unit) // a second half alone becomes U+FFFD
	}
	return to, nil
}

// windows1252 are the characters of the bytes 0x80 to 0x9f; the bytes above are those of Latin-1.
const windows1252 = "€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f\u0090‘’“”•–—˜™š›œ\u009džŸ"

// UTF8 returns a line as UTF-8. It returns line itself if it is UTF-8; else it is read as Windows-1252.
func UTF8(line []byte) []byte {
	if utf8.Valid(line) {
		return line
	}
	special := []rune(windows1252)
	var out []byte
	for _, c := range line {
		r := rune(c)
		if i := int(c) - 0x80; i >= 0 && i < len(special) {
			r = special[i]
		}
		out = utf8.AppendRune(out, r)
	}
	return out
}
