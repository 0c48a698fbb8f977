package fetch

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"
)

// frameAll feeds body in pieces of random size and returns where it ended, how, and its payload.
func frameAll(
	kind frameKind,
	length int64,
	max bodyLimits,
	body []byte,
	cut func(n int) int,
) (f framer, payload []byte, used int) {
	f.init(kind, max)
	if kind == frameLength {
		f.setLength(length)
	}
	for rest := body; len(rest) > 0 && f.end == endNone; {
		piece := rest[:cut(len(rest))]
		rest = rest[len(piece):]
		for len(piece) > 0 && f.end == endNone {
			n, data := f.next(piece)
			payload = append(payload, data...)
			piece = piece[n:]
			used += n
		}
	}
	f.eof()
	return f, payload, used
}

// FuzzFraming: however the bytes are cut into reads, the same bytes are payload and the body ends at the same place for
// the same reason; and the limits hold.
func FuzzFraming(f *testing.F) {
	f.Add(byte(frameChunked), uint16(0), []byte("5\r\nhello\r\n0\r\n\r\nrest"))
	f.Add(byte(frameChunked), uint16(0), []byte("2;a=b\r\nhe\r\n00003  \r\nllo\n0\r\nX: y\r\n\r\n"))
	f.Add(byte(frameChunked), uint16(0), []byte("FFFFFFFFFFFFFFFFF\r\n"))
	f.Add(byte(frameChunked), uint16(0), bytes.Repeat([]byte("1\r\nx\r\n"), 100))
	for _, chunks := range []string{
		"2\r\nhe\r\n-3\r\nllo", "2\r\nhe\r\n\r\nllo", "0x2\r\nhe", "2\r\nhello", "10000000000000002\r\nhe", "2;" +
			strings.Repeat("a=b;", 50) + "\r\nhe",
		strings.Repeat("0", 99) + "2\r\nhe\r\n0\r\n\r\n", "2\r\nhe\r\n", "2\r\nhe\r\n0\r\nX: y",
		"0\r\n\x00\r\n: \r\n\r\nmore", "0\r\n" + strings.Repeat("a: b\r\n", 40),
	} {
		f.Add(byte(frameChunked), uint16(0), []byte(chunks))
	}
	f.Add(byte(frameLength), uint16(7), []byte("hello and more"))
	f.Add(byte(frameClose), uint16(0), []byte(strings.Repeat("hello", 60)))
	f.Fuzz(func(t *testing.T, kindByte byte, length uint16, body []byte) {
		kind := frameKind(kindByte % 4)
		max := bodyLimits{bodyMax: 100, rawBodyMax: 300}
		whole, payload, used := frameAll(kind, int64(length), max, body, func(n int) int { return n })
		if whole.payload != int64(len(payload)) || whole.raw != int64(used) || whole.payload > max.bodyMax ||
			whole.raw > max.rawBodyMax {
			t.Fatalf("%+v, %d bytes of payload in %d", whole, len(payload), used)
		}
		if whole.end == endNone || (kind == frameClose && !bytes.Equal(payload, body[:used])) {
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

// The chunked framer agrees with a reader written from the grammar of RFC 9112.
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
		f, got, used := frameAll(
			frameChunked,
			0,
			bodyLimits{1 << 20, 1 << 20},
			raw,
			func(n int) int { return 1 + rng.IntN(n) },
		)
		if f.end != endWhole || used != end || !bytes.Equal(got, want) {
			t.Fatalf("%q: %q, ends %d at %d of %d", raw, got, f.end, used, end)
		}
		if f, _, _ := frameAll(frameChunked, 0, bodyLimits{1 << 20, 1 << 20}, raw[:rng.IntN(end)],
			func(n int) int { return n }); f.end == endWhole {
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

// FuzzHead: no head panics, and where the codec and the lenient parser both accept one they agree on what it means.
func FuzzHead(f *testing.F) {
	for _, c := range awkwardResponses() {
		f.Add([]byte(c.response))
	}
	f.Add([]byte("HTTP/1.1 200 OK\r\nContent-Length : 5\r\nA: b\r\n c\r\n\r\n"))
	o := testOptions().WithDefaults()
	codec := newCodec()
	f.Fuzz(func(t *testing.T, raw []byte) {
		var scan headScan
		n, state := scan.findEnd(raw, &o)
		var steps headScan
		for i := range raw {
			m, s := steps.findEnd(raw[:i+1], &o)
			if s != headMore {
				if s != state || m != n {
					t.Fatalf("in pieces: %d %d; whole: %d %d", m, s, n, state)
				}
				break
			}
		}
		if state != headWhole || hasControl(raw[:n]) {
			return
		}
		head := bytes.Clone(raw[:n])
		strict, ok := codec.parse(head)
		if !bytes.Equal(head, raw[:n]) {
			t.Fatal("the codec changed the head")
		}
		lenient, cause := parseLenient(head)
		if ok && cause != "" {
			t.Fatalf("%q: the codec accepts what we do not: %s", head, cause)
		}
		if lenient.flags&^FlagBothLengths != 0 && ok {
			t.Fatalf("%q: flags %b", head, lenient.flags)
		}
		if ok && strict.chunked {
			lenient.flags, lenient.length = 0, -1
		}
		if lenient.flags = 0; ok && bodyKind(strict) != frameNone && strict != lenient {
			t.Fatalf("%q: codec %+v, ours %+v", head, strict, lenient)
		}
		p := &Page{Raw: head, HeadLen: n}
		for name := range p.Head().Fields() {
			_ = p.Head().Value(string(name))
		}
		p.Head().RetryAfter(p.Times.Ended)
	})
}
