package textfile

import (
	"bytes"
	"encoding/binary"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf16"
)

// utf16Of encodes a text.
func utf16Of(text string, order binary.AppendByteOrder) string {
	var b []byte
	for _, unit := range utf16.Encode([]rune(text)) {
		b = order.AppendUint16(b, unit)
	}
	return string(b)
}

// linesOf reads all lines, in pieces of all sizes.
func linesOf(t *testing.T, in string) (texts []string, err error) {
	t.Helper()
	for _, slow := range []func(io.Reader) io.Reader{
		func(r io.Reader) io.Reader { return r }, iotest.DataErrReader, iotest.HalfReader,
	} {
		lines, got := Read(slow(strings.NewReader(in)), 100), []string(nil)
		for lines.Scan() {
			if got = append(got, string(lines.Text())); len(got) != lines.Number() {
				t.Errorf("%q: line %d has the number %d", in, len(got), lines.Number())
			}
		}
		if texts != nil && !slices.Equal(got, texts) {
			t.Errorf("%q: %q, and by another reader %q", in, texts, got)
		}
		texts, err = got, lines.Err()
	}
	return texts, err
}

// One text comes out the same, whatever editor has saved it.
func TestRead_allEditorsSaveTheSameLines(t *testing.T) {
	const text = "http://a.test/\n\n  http://b.test/é \n# Bücher 𝒳\nhttp://c.test/"
	want := []string{"http://a.test/", "", "http://b.test/é", "# Bücher 𝒳", "http://c.test/"}
	for _, ends := range []string{"\n", "\r\n", "\r"} {
		for _, last := range []string{"", ends} {
			whole := strings.ReplaceAll(text, "\n", ends) + last
			for what, in := range map[string]string{
				"UTF-8": whole, "UTF-8 with BOM": "\ufeff" + whole,
				"UTF-16 LE with BOM": utf16Of("\ufeff"+whole, binary.LittleEndian),
				"UTF-16 LE":          utf16Of(whole, binary.LittleEndian),
				"UTF-16 BE with BOM": utf16Of("\ufeff"+whole, binary.BigEndian),
				"UTF-16 BE":          utf16Of(whole, binary.BigEndian),
			} {
				if got, err := linesOf(t, in); !slices.Equal(got, want) || err != nil {
					t.Errorf("%s, %q: %q, %v", what, ends, got, err)
				}
			}
		}
	}
}

// Invisible characters around a line, joined files and other character sets do not change what it says.
func TestRead_takesInvisibleCharactersAway(t *testing.T) {
	for in, want := range map[string][]string{
		"a\u00a0\n\u200bb\u200b\n\ufeffc": {"a", "b", "c"}, // the mark of a file that was appended
		"caf\xe9\n\x80 uro":               {"café", "€ uro"},
		"a\r\r\n\nb":                      {"a", "", "", "b"},
		"":                                nil, "\n": {""}, "\ufeff": nil, "x": {"x"}, "\xff\xfe": nil,
		"\xff\xfea\x00\x3d\xd8": {"a\ufffd"}, // half a pair at the end
		"\xff\xfea\x00\n\x00b":  {"a", "\ufffd"},
	} {
		if got, err := linesOf(t, in); !slices.Equal(got, want) || err != nil {
			t.Errorf("%q: %q, %v; want %q", in, got, err, want)
		}
	}
}

// What is no text is refused by its name. Lines of it would be refused one by one, or read as nonsense.
func TestRead_refusesWhatIsNoText(t *testing.T) {
	for in, want := range map[string]string{
		"PK\x03\x04xl/workbook": "spreadsheet", "%PDF-1.7": "PDF", "{\\rtf1 http://a/}": "RTF", "\x1f\x8b\x08": "gzip",
		"\xff\xfe\x00\x00h\x00\x00\x00": "UTF-32",
	} {
		if got, err := linesOf(t, in); err == nil || !strings.Contains(err.Error(), want) || len(got) > 0 {
			t.Errorf("%q: %q, %v", in, got, err)
		}
	}
}

// A line that is too long is one line, and the lines behind it keep their numbers.
func TestRead_boundsALine(t *testing.T) {
	lines := Read(strings.NewReader("a\n"+strings.Repeat("x", 1<<20)+"\nb\n"), 100)
	var cut []bool
	for lines.Scan() {
		cut = append(cut, lines.IsCut())
		if len(lines.Raw()) > 100 {
			t.Errorf("line %d has %d bytes", lines.Number(), len(lines.Raw()))
		}
	}
	if !slices.Equal(cut, []bool{false, true, false}) || lines.Err() != nil || string(lines.Raw()) != "" {
		t.Errorf("%v, %v, %q", cut, lines.Err(), lines.Raw())
	}
}

// A program that asks line by line gets its answer before the next line is there.
func TestRead_doesNotWaitForMore(t *testing.T) {
	in, out := io.Pipe()
	lines := Read(in, 100)
	for _, line := range []string{"a\n", "b\r", "c\n"} {
		go func() { _, _ = out.Write([]byte(line)) }()
		if !lines.Scan() || string(lines.Raw()) != line[:1] {
			t.Fatalf("%q: %q", line, lines.Raw())
		}
	}
	_ = out.Close()
	if lines.Scan() {
		t.Errorf("behind the end: %q", lines.Raw())
	}
}

// FuzzRead: any bytes are lines without line ends, in UTF-8, and not longer than allowed.
func FuzzRead(f *testing.F) {
	for _, in := range []string{
		"a\r\nb", "\ufeffa\n", utf16Of("\ufeffa\nb\r", binary.BigEndian), "\xff\xfe\x00\xd8", "\xe9\n",
	} {
		f.Add([]byte(in))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		lines, n := Read(bytes.NewReader(in), 50), 0
		for lines.Scan() {
			if n++; n > len(in) || bytes.ContainsAny(lines.Raw(), "\r\n") || len(lines.Raw()) > 50 || lines.Number() != n {
				t.Fatalf("line %d of %q: %q", n, in, lines.Raw())
			}
			if !bytes.Equal(UTF8(lines.Text()), lines.Text()) {
				t.Fatalf("line %d of %q is not UTF-8: %q", n, in, lines.Text())
			}
		}
	})
}
