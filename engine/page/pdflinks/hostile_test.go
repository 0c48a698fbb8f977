package pdflinks

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

// FuzzScan: no bytes panic, the limits hold, the bytes that are read are bounded by the size of the file, the file is
// not changed, and a second Scan says the same.
func FuzzScan(f *testing.F) {
	f.Add(newFile().object(2, link("http://a.test/")).objects(3, 10, link("/a"), "(b)", "<</URI 11 0 R>>").end())
	f.Add(newFile().stream(3, "/Type/ObjStm/N 2/First 8", []byte("1 0 2 3 [] <</S/URI/URI<FEFF0041>>>")).end())
	f.Add([]byte("1 0 obj<</S/GoToR/F<</UF(\\101)/F(b)>>>>endobj trailer<</Encrypt 1 0 R>>"))
	f.Add([]byte("1 0 obj<</URI<</Base(www.a.b)>>/X[<<(>>\nendobj 2 0 obj<</S/#55RI/URI<4>>> stream\rendstreamendobj"))
	f.Add([]byte("1 0 obj<</Type/XRef/Length 3>>stream\nabcendstream % x\n2 0 obj((((\\"))
	for _, name := range []string{"rc4-40", "rc4-128-v4", "aes-128", "aes-256-objects", "password"} {
		f.Add(encrypted(f, name))
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		o := Options{LinksMax: 20, RefMax: 100}
		s := NewScanner(o)
		before := bytes.Clone(file)
		first := describe(s.Scan(file))
		for _, ref := range s.res.Links {
			if len(ref) == 0 || len(ref) > o.RefMax {
				t.Fatalf("a reference of %d bytes", len(ref))
			}
		}
		if len(s.res.Links) > o.LinksMax || len(s.links.arena) > arenaMax {
			t.Fatalf("%d links, %d bytes", len(s.res.Links), len(s.links.arena))
		}
		if read := unpackMax - s.objects.room; read > workPerByte*len(file) {
			t.Fatalf("%d bytes were unpacked, of a file of %d", read, len(file))
		}
		if !bytes.Equal(before, file) {
			t.Fatal("the file was changed")
		}
		if second := describe(s.Scan(file)); second != first {
			t.Fatalf("scanned twice: %s and %s", first, second)
		}
	})
}

// workPerByte limits the unpacked bytes that are charged for each byte of a file: the ratio of DEFLATE, and the charge
// for each stream.
const workPerByte = 1100

func describe(r *Result) string {
	return fmt.Sprintf("%q %q %v %d %d %d", r.Links, r.Base, r.IsEncrypted, r.Unread, r.Dropped, r.Long)
}

// An object stream unpacks to a bounded number of bytes: each for itself, and all together.
func TestScan_objectStreamsAreBounded(t *testing.T) {
	bomb := deflate("1 0 " + strings.Repeat(" ", 20<<20))
	s := NewScanner(Options{})
	f := newFile()
	for range 200 {
		f.stream(3, "/Type/ObjStm/N 1/First 4/Filter/FlateDecode", bomb)
	}
	f.object(9, link("http://a.test/"))
	r := s.Scan(f.end())
	if r.Unread != 200 || len(r.Links) != 1 {
		t.Errorf("%d streams were not read whole; links %q", r.Unread, r.Links)
	}
	if read := unpackMax - s.objects.room; read > unpackMax+streamMax {
		t.Errorf("%d bytes were unpacked", read)
	}
	if len(s.objects.buf) > unpackRatio*len(bomb)+1024 {
		t.Errorf("a stream of %d bytes was unpacked to %d", len(bomb), len(s.objects.buf))
	}
	s.Scan(nil)
	if cap(s.objects.buf) > keptMax {
		t.Errorf("%d bytes are kept", cap(s.objects.buf))
	}
}

// Blocks that hold nothing are charged, since their tables cost time.
func TestScan_blocksOfObjectStreamsAreCharged(t *testing.T) {
	data := emptyBlocks(4000)
	s := NewScanner(Options{})
	f := newFile()
	for range 100 {
		f.stream(3, "/Type/ObjStm/N 1/First 4/Filter/FlateDecode", data)
	}
	s.Scan(f.end())
	if s.objects.unread < 60 || s.objects.room > 0 {
		t.Errorf("%d of 100 streams of %d bytes were not read; room for %d bytes", s.objects.unread, len(data),
			s.objects.room)
	}
}

// emptyBlocks returns the start of a zlib stream: blocks with their own codes that hold nothing.
func emptyBlocks(n int) []byte {
	var bits []byte
	put := func(v uint64, size int) {
		for i := range size {
			bits = append(bits, byte(v>>i&1))
		}
	}
	for range n {
		put(0, 1) // not the last one
		put(2, 2)
		put(0, 10)
		put(14, 4)
		for _, symbol := range []int{16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1} {
			if symbol == 18 || symbol == 1 {
				put(1, 3)
			} else {
				put(0, 3)
			}
		}
		put(1, 1) // 138 and 118 times nothing
		put(127, 7)
		put(1, 1)
		put(107, 7)
		put(0, 3) // lengths of the end and of a distance, and the end
	}
	const header = "\x78\x9c"
	packed := append([]byte(header), make([]byte, (len(bits)+7)/8)...)
	for i, bit := range bits {
		packed[len(header)+i/8] |= bit << (i % 8)
	}
	return packed
}

// Object streams with damaged offsets, or with a filter that is not read, are counted, and nothing is read twice.
func TestScan_damagedObjectStreamsAreCounted(t *testing.T) {
	body := link("http://a.test/")
	for _, c := range []struct {
		entries, data string
		links, unread int
	}{
		{"/N 1/First 4", "1 0 " + body, 1, 0},
		{"/N 1/First 9999", "1 0 " + body, 0, 1},
		{"/N 1/First 4/Filter/FlateDecode", "1 0 " + body, 0, 1},
		{"/N 1/First 4/Filter/LZWDecode", "1 0 " + body, 0, 1},
		{"/N 1/First 4/Filter[/ASCIIHexDecode/FlateDecode]", "1 0 " + body, 0, 1},
		{"/N 1/First 5/Filter/FlateDecode/DecodeParms[<</Predictor 12>>]", string(deflate("10 0 " + body)), 0, 1},
		{"/N 1/First 5/Filter/FlateDecode/DecodeParms<</Predictor 1>>", string(deflate("10 0 " + body)), 1, 0},
		{"/N 999999999/First 4", "1 0 " + body, 1, 0},
		{"/N 1/First 6", "1 999 " + body, 0, 0},
		{"/N 3/First 12", "1 0 2 0 3 0 " + body, 1, 0},
		{"/N 2/First 9", "1 50 2 0 " + body, 1, 0},
		{"/N 1", "1 0 " + body, 0, 0},
	} {
		r := NewScanner(Options{}).Scan(newFile().stream(3, "/Type/ObjStm"+c.entries, []byte(c.data)).end())
		if len(r.Links) != c.links || r.Unread != c.unread {
			t.Errorf("%s: %d links, %d streams not read", c.entries, len(r.Links), r.Unread)
		}
	}
	whole := deflate("1 0 " + body + strings.Repeat(" %", 500))
	r := NewScanner(Options{}).Scan(newFile().stream(3, "/Type/ObjStm/N 1/First 4/Filter/FlateDecode",
		whole[:len(whole)-6]).end())
	if len(r.Links) != 1 || r.Unread != 1 {
		t.Errorf("a stream that was cut off: %d links, %d streams not read", len(r.Links), r.Unread)
	}
}

// Depth costs nothing, and a link behind a deep object is found.
func TestScan_depthCostsNothing(t *testing.T) {
	for _, open := range []string{"[", "<<", "<</A ", "(", "<</A[<</B", "<", "/", "%\n"} {
		f := newFile().object(1, strings.Repeat(open, 100_000)).object(2, link("http://a.test/"))
		if got := linksOf(f.end()); got != "http://a.test/" {
			t.Errorf("%q: %q", open, got)
		}
	}
}

// BenchmarkScan measures the dearest files of 1 MiB, and usual ones.
func BenchmarkScan(b *testing.B) {
	repeat := func(text string) []byte { return []byte(strings.Repeat(text, 1<<20/len(text)+1)) }
	usual := newFile()
	for i := 0; usual.Len() < 1<<20; i += 100 {
		usual.stream(i+1, "/Filter/FlateDecode", bytes.Repeat([]byte("\x93\x12stream"), 4000))
		usual.objects(i+2, i+3, link("http://a.test/"+fmt.Sprint(i)), "<</Type/Page/Parent 1 0 R/MediaBox[0 0 595 842]>>")
	}
	blocks := newFile()
	for blocks.Len() < 1<<20 {
		blocks.stream(3, "/Type/ObjStm/N 1/First 4/Filter/FlateDecode", emptyBlocks(4000))
	}
	bombs := newFile()
	one := deflate("1 0 " + strings.Repeat("[", 4<<20))
	for bombs.Len() < 1<<20 {
		bombs.stream(3, "/Type/ObjStm/N 1/First 4/Filter/FlateDecode", one)
	}
	for name, file := range map[string][]byte{
		"usual": usual.end(), "links": repeat("1 0 obj<</S/URI/URI(http://a.test/)>>endobj "), "dictionaries": repeat("<<>>"),
		"numbers": repeat("0 "), "strings": repeat("2 0 obj(\\0)endobj "), "names": repeat("/#41"), "blocks": blocks.end(),
		"bombs": bombs.end(),
	} {
		b.Run(name, func(b *testing.B) {
			s := NewScanner(Options{})
			b.SetBytes(int64(len(file)))
			for b.Loop() {
				s.Scan(file)
			}
		})
	}
}
