package block

import (
	"bufio"
	"bytes"
	"io"
	"math/rand/v2"
	"net/http/httputil"
	"strings"
	"testing"
	"testing/iotest"
)

// Dechunking gives the same result as the standard library, for pieces of any size.
func TestDechunkAgainstStandardLibrary(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for range 300 {
		var stored bytes.Buffer
		w := httputil.NewChunkedWriter(&stored)
		for range rng.IntN(6) {
			piece := make([]byte, 1+rng.IntN(5000))
			for i := range piece {
				piece[i] = byte(rng.Uint32())
			}
			if _, err := w.Write(piece); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		stored.WriteString("\r\n")
		want, err := io.ReadAll(httputil.NewChunkedReader(bytes.NewReader(stored.Bytes())))
		if err != nil {
			t.Fatal(err)
		}
		if got := dechunk(stored.Bytes()); !bytes.Equal(got, want) {
			t.Fatalf("%d bytes, want %d", len(got), len(want))
		}
		var c ChunkScanner
		var got []byte
		for rest := stored.Bytes(); len(rest) > 0; {
			n := 1 + rng.IntN(min(len(rest), 700))
			for b, done := rest[:n], false; len(b) > 0 && !done; {
				var piece []byte
				var used int
				piece, used, done = c.Next(b)
				got = append(got, piece...)
				b = b[used:]
			}
			rest = rest[n:]
		}
		if !bytes.Equal(got, want) {
			t.Fatalf("in pieces: %d bytes, want %d", len(got), len(want))
		}
	}
}

// Invalid chunking ends the payload at that position.
func TestDechunkBroken(t *testing.T) {
	for in, want := range map[string]string{
		"":                          "",
		"5\r\nhel":                  "hel",
		"5\r\nhelloX\r\n5\r\nworld": "hello",
		"\r\n":                      "",
		"zz\r\nhello":               "",
		"5\nhello\n0\n\n":           "hello",
		"ffffffffffffffffffff\r\nx": "",
		"0\r\n\r\nmore":             "",
		"5 ;a\r\nhello\r\n0\r\n":    "hello",
	} {
		if got := string(dechunk([]byte(in))); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

// dechunk returns a chunked body without its framing, in a new slice. It stops at invalid framing.
func dechunk(body []byte) []byte {
	var c ChunkScanner
	var out []byte
	for done := false; len(body) > 0 && !done; {
		var piece []byte
		var used int
		piece, used, done = c.Next(body)
		out = append(out, piece...)
		body = body[used:]
	}
	return out
}

// A body without the chunks that its head names is read as it is. Framing that is invalid later ends it.
func TestPayloadReader_aBodyWithoutChunks(t *testing.T) {
	long := strings.Repeat("x", 5000)
	for in, want := range map[string]string{
		"":                                  "",
		"<p>page":                           "<p>page",
		"\r\n":                              "\r\n",
		"zz\r\nhello":                       "zz\r\nhello",
		"5":                                 "5",
		"Add\nsome text\n":                  "some text\n",
		"B\nsome words of text\n":           "B\nsome words of text\n",
		"ffffffffffffffffffff\r\nx":         "ffffffffffffffffffff\r\nx",
		long:                                long,
		"5\r\nhelloX\r\n5\r\nworld":         "hello",
		"5\r\nhel":                          "hel",
		"5\nhello\n0\n\n":                   "hello",
		"1388\r\n" + long + "\r\n0\r\n\r\n": long,
		"1388\n" + long + "\n0\n\n":         long,
		"0\r\n\r\n":                         "",
	} {
		got, err := io.ReadAll(NewPayloadReader(bufio.NewReader(iotest.HalfReader(strings.NewReader(in)))))
		if err != nil || string(got) != want {
			t.Errorf("%.40q: %.40q, %v, want %.40q", in, got, err, want)
		}
	}
}

// A body of chunks of one byte is read in large pieces: each piece may cost a write.
func TestPayloadReader_readsSeveralChunksAtATime(t *testing.T) {
	const chunks = 100_000
	body := strings.Repeat("1\r\na\r\n", chunks) + "0\r\n\r\n"
	r := NewPayloadReader(bufio.NewReaderSize(strings.NewReader(body), 64<<10))
	reads, total := 0, 0
	for b := make([]byte, 32<<10); ; reads++ {
		n, err := r.Read(b)
		if total += n; err == io.EOF { //nolint:errorlint // io.Reader's own word
			break
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if total != chunks || reads > 100 {
		t.Errorf("%d bytes in %d reads", total, reads)
	}
}
