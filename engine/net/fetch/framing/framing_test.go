package framing

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"
)

// frameAll feeds body in pieces of random size and returns where it ended, how, and its payload.
func frameAll(
	kind Kind,
	length int64,
	max Limits,
	body []byte,
	cut func(n int) int,
) (f Framer, payload []byte, used int) {
	f.Init(kind, max)
	if kind == Length {
		f.SetLength(length)
	}
	for rest := body; len(rest) > 0 && f.End == NotEnded; {
		piece := rest[:cut(len(rest))]
		rest = rest[len(piece):]
		for len(piece) > 0 && f.End == NotEnded {
			n, data := f.Next(piece)
			payload = append(payload, data...)
			piece = piece[n:]
			used += n
		}
	}
	f.EOF()
	return f, payload, used
}

// FuzzFraming: however the bytes are cut into reads, the same bytes are payload and the body ends at the same place for
// the same reason; and the limits hold.
func FuzzFraming(f *testing.F) {
	f.Add(byte(Chunked), uint16(0), []byte("5\r\nhello\r\n0\r\n\r\nrest"))
	f.Add(byte(Chunked), uint16(0), []byte("2;a=b\r\nhe\r\n00003  \r\nllo\n0\r\nX: y\r\n\r\n"))
	f.Add(byte(Chunked), uint16(0), []byte("FFFFFFFFFFFFFFFFF\r\n"))
	f.Add(byte(Chunked), uint16(0), bytes.Repeat([]byte("1\r\nx\r\n"), 100))
	for _, chunks := range []string{
		"2\r\nhe\r\n-3\r\nllo", "2\r\nhe\r\n\r\nllo", "0x2\r\nhe", "2\r\nhello", "10000000000000002\r\nhe", "2;" +
			strings.Repeat("a=b;", 50) + "\r\nhe",
		strings.Repeat("0", 99) + "2\r\nhe\r\n0\r\n\r\n", "2\r\nhe\r\n", "2\r\nhe\r\n0\r\nX: y",
		"0\r\n\x00\r\n: \r\n\r\nmore", "0\r\n" + strings.Repeat("a: b\r\n", 40),
	} {
		f.Add(byte(Chunked), uint16(0), []byte(chunks))
	}
	f.Add(byte(Length), uint16(7), []byte("hello and more"))
	f.Add(byte(Close), uint16(0), []byte(strings.Repeat("hello", 60)))
	f.Fuzz(func(t *testing.T, kindByte byte, length uint16, body []byte) {
		kind := Kind(kindByte % 4)
		max := Limits{Body: 100, Raw: 300}
		whole, payload, used := frameAll(kind, int64(length), max, body, func(n int) int { return n })
		if whole.Payload != int64(len(payload)) || whole.raw != int64(used) || whole.Payload > max.Body ||
			whole.raw > max.Raw {
			t.Fatalf("%+v, %d bytes of payload in %d", whole, len(payload), used)
		}
		if whole.End == NotEnded || (kind == Close && !bytes.Equal(payload, body[:used])) {
			t.Fatalf("%+v, payload %q", whole, payload)
		}
		rng := rand.New(rand.NewPCG(uint64(length), uint64(len(body))))
		for _, cut := range []func(int) int{
			func(int) int { return 1 },
			func(n int) int { return 1 + rng.IntN(n) },
		} {
			other, data, n := frameAll(kind, int64(length), max, body, cut)
			if other != whole || !bytes.Equal(data, payload) || n != used {
				t.Fatalf("in pieces: %+v %q %d\nwhole: %+v %q %d", other, data, n, whole, payload, used)
			}
		}
	})
}

// The chunked Framer agrees with a reader written from the grammar of RFC 9112.
func TestFramingModel(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for range 2000 {
		var raw, want []byte
		for range rng.IntN(6) {
			n := 1 + rng.IntN(40)
			data := make([]byte, n)
			for i := range data {
				data[i] = "\r\n0;a"[rng.IntN(5)]
			}
			want = append(want, data...)
			size := []string{"%x", "%X", "0%x", "%x ", "%x;q=\"1\"", "%x;z"}[rng.IntN(6)]
			raw = append(raw, chunkLine(size, n)...)
			raw = append(append(raw, data...), "\r\n"...)
		}
		raw = append(raw, "0\r\n"...)
		for range rng.IntN(3) {
			raw = append(raw, "Trailer: value\r\n"...)
		}
		raw = append(raw, "\r\n"...)
		end := len(raw)
		raw = append(raw, "surplus"...)
		f, got, used := frameAll(Chunked, 0, Limits{1 << 20, 1 << 20}, raw, func(n int) int { return 1 + rng.IntN(n) })
		if f.End != Whole || used != end || !bytes.Equal(got, want) {
			t.Fatalf("%q: %q, ends %d at %d of %d", raw, got, f.End, used, end)
		}
		if f, _, _ := frameAll(Chunked, 0, Limits{1 << 20, 1 << 20}, raw[:rng.IntN(end)],
			func(n int) int { return n }); f.End == Whole {
			t.Fatalf("a part of %q reads as whole", raw)
		}
	}
}

func chunkLine(format string, n int) string {
	const digits = "0123456789abcdef"
	hex := string(digits[n>>4]) + string(digits[n&15])
	if n < 16 {
		hex = hex[1:]
	}
	if strings.Contains(format, "%X") {
		hex = strings.ToUpper(hex)
	}
	return strings.NewReplacer("%x", hex, "%X", hex).Replace(format) + "\r\n"
}
