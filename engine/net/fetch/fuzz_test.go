package fetch

import (
	"bytes"
	"testing"

	"orbweaver/engine/net/fetch/framing"
)

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
		if state != headWhole || bytes.IndexByte(raw[:n], 0) >= 0 || hasBareCR(raw[:n]) {
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
		if lenient.flags = 0; ok && bodyKind(strict) != framing.None && strict != lenient {
			t.Fatalf("%q: codec %+v, ours %+v", head, strict, lenient)
		}
		p := &Page{Raw: head, HeadLen: n}
		for name := range p.Head().Fields() {
			_ = p.Head().Value(string(name))
		}
		p.Head().RetryAfter(p.Times.Ended)
	})
}
