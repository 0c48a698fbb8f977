package warc

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/klauspost/compress/zstd"

	"orbweaver/internal/vfs"
	"orbweaver/warc/member"
)

// sample returns a finished file with n pages.
func sample(t testing.TB, c Compression, n int) []byte {
	t.Helper()
	fsys := vfs.NewMem(1)
	w := openTest(t, fsys, c, 1<<30, nil)
	e := newTestEncoder(t, c)
	for i := range n {
		e.Reset()
		page(t, e, i, 700)
		if _, err := w.Append(e.Group()); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	files, _ := Files(fsys, "warc")
	return mustRead(t, fsys, "warc/"+files[0].Name)
}

func strict() ReaderOptions { return ReaderOptions{Name: "f", Syntax: Fail, Spec: Fail, Block: Fail} }

// zip compresses text as one gzip member.
func zip(t testing.TB, text []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write(text); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// All forms give the same records: plain, one member each, one large member, members that split records anywhere, and
// zstd frames; read in large pieces or single bytes.
func TestReaderForms(t *testing.T) {
	plain := sample(t, None, 5)
	want, faults := readAll(t, plain, strict())
	if len(faults) > 0 || len(want) != 16 {
		t.Fatal(len(want), faults)
	}
	var pieces []byte
	for rest := plain; len(rest) > 0; {
		n := min(len(rest), 777)
		pieces = append(pieces, zip(t, rest[:n])...)
		rest = rest[n:]
	}
	enc, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	var frames []byte
	for i := range want {
		end := len(plain)
		if i+1 < len(want) {
			end = int(want[i+1].Offset)
		}
		frames = append(frames, "\x50\x2a\x4d\x18\x02\x00\x00\x00ab"...)
		frames = enc.EncodeAll(plain[want[i].Offset:end], frames)
	}
	forms := map[string][]byte{"big member": zip(t, plain), "cut members": pieces, "zstd frames": frames}
	for name, b := range forms {
		for _, one := range []bool{false, true} {
			r := io.Reader(bytes.NewReader(b))
			if one {
				r = iotest.OneByteReader(r)
			}
			z := NewReader(r, ReaderOptions{Block: Fail, Spec: Fail})
			for i := range want {
				rec, err := z.Next()
				if err != nil {
					t.Fatal(name, i, err)
				}
				block, err := rec.ReadBlock(1 << 20)
				if err != nil || !bytes.Equal(block, want[i].Block) || rec.ID != want[i].ID {
					t.Fatal(name, i, err)
				}
				if shared := name != "zstd frames"; rec.Shared != shared {
					t.Errorf("%s: record %d: shared %v", name, i, rec.Shared)
				}
			}
			if _, err := z.Next(); err != io.EOF {
				t.Error(name, err)
			}
			z.Close()
		}
		_, faults := readAll(t, b, ReaderOptions{Syntax: Fail})
		if framing := name != "zstd frames"; framing != (len(faults) > 0) {
			t.Errorf("%s: %v", name, faults)
		}
		for _, f := range faults {
			if !errors.Is(f, ErrFraming) {
				t.Errorf("%s: %v", name, f)
			}
		}
	}
}

// A .warc.zst may start with the dictionary of its frames.
func TestReaderZstdDictionary(t *testing.T) {
	var texts [][]byte
	for i := range 200 {
		texts = append(texts, fmt.Appendf(nil, "GET /%d HTTP/1.1\r\nHost: example.com\r\nUser-Agent: x%d\r\n\r\n", i, i*7))
	}
	dictionary, err := zstd.BuildDict(zstd.BuildDictOptions{ID: 7, Contents: texts,
		History: bytes.Join(texts[:20], nil), Offsets: [3]int{1, 4, 8}})
	if err != nil {
		t.Fatal(err)
	}
	enc, err := zstd.NewWriter(nil, zstd.WithEncoderDict(dictionary))
	if err != nil {
		t.Fatal(err)
	}
	plainEnc, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	record := fmt.Appendf(nil, "WARC/1.1\r\nWARC-Type: request\r\nContent-Length: %d\r\n\r\n%s\r\n\r\n",
		len(texts[3]), texts[3])
	for _, d := range [][]byte{dictionary, plainEnc.EncodeAll(dictionary, nil)} {
		file := binary.LittleEndian.AppendUint32([]byte("\x5d\x2a\x4d\x18"), uint32(len(d)))
		file = append(file, d...)
		file = enc.EncodeAll(record, enc.EncodeAll(record, file))
		recs, faults := readAll(t, file, ReaderOptions{Syntax: Fail})
		if len(faults) > 0 || len(recs) != 2 || !bytes.Equal(recs[1].Block, texts[3]) || recs[0].Offset != int64(8+len(d)) {
			t.Fatal(len(recs), faults)
		}
	}
}

// A file that is truncated anywhere gives the complete records before that position, and then ErrTruncated.
func TestReaderTruncated(t *testing.T) {
	for _, c := range []Compression{Gzip, Zstd, None} {
		b := sample(t, c, 2)
		whole, _ := readAll(t, b, strict())
		ends := map[int64]int{0: 0}
		for i := range whole {
			ends[whole[i].Offset+whole[i].Length] = i + 1
		}
		last := 0
		for n := 0; n < len(b); n++ {
			if _, ok := ends[int64(n)]; n > 300 && n%5 > 0 && !ok {
				continue
			}
			recs, faults := readAll(t, b[:n], ReaderOptions{Syntax: Fail, Block: Fail})
			if i, ok := ends[int64(n)]; ok {
				last = i
				if len(faults) > 0 || len(recs) != i {
					t.Fatal(c, n, len(recs), faults)
				}
				continue
			}
			if len(recs) != last || len(faults) != 1 {
				t.Fatalf("%s cut at %d: %d records, want %d, %v", c, n, len(recs), last, faults)
			}
			if n >= 5 && !errors.Is(faults[0], member.ErrTruncated) {
				t.Fatalf("%s cut at %d: %v", c, n, faults[0])
			}
		}
	}
}

// S08: a flipped bit is always detected, and costs only its record (most bits of a gzip header have no effect).
func TestReaderBitFlips(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for _, c := range []Compression{Gzip, Zstd} {
		b := sample(t, c, 4)
		whole, _ := readAll(t, b, strict())
		for range 300 {
			at := rng.IntN(len(b))
			bad := bytes.Clone(b)
			bad[at] ^= 1 << rng.IntN(8)
			recs, faults := readAll(t, bad, strict())
			allowed := 1
			if c == Zstd {
				allowed = 2 // without a checksum, two frames can be read as one
			}
			if len(recs) < len(whole)-allowed {
				t.Fatalf("%s byte %d: %d of %d records left; %v", c, at, len(recs), len(whole), faults)
			}
			if len(faults) > 0 {
				continue
			}
			for i := range recs {
				if !bytes.Equal(recs[i].Block, whole[i].Block) {
					t.Fatalf("%s byte %d: record %d changed and nobody noticed", c, at, i)
				}
			}
		}
	}
}

// resourceOf returns a record with a block of the given size.
func resourceOf(n, size int) []byte {
	return fmt.Appendf(nil, "WARC/1.1\r\nWARC-Type: resource\r\nWARC-Target-URI: http://a/%d\r\nContent-Type: a/b\r\n"+
		"Content-Length: %d\r\n"+
		"WARC-Record-ID: <urn:uuid:00000000-0000-4000-8000-%012d>\r\nWARC-Date: 2026-01-01T00:00:00Z\r\n\r\n%s\r\n\r\n",
		n, size, n, strings.Repeat("x", size))
}

// rawFrame returns a zstd frame without checksum whose raw blocks are the parts.
func rawFrame(parts ...[]byte) []byte {
	b := []byte(zstdMagic + "\x00\x50") // a window of 1 MiB
	for i, p := range parts {
		head := uint32(len(p)) << 3
		if i == len(parts)-1 {
			head |= 1
		}
		b = append(b, byte(head), byte(head>>8), byte(head>>16))
		b = append(b, p...)
	}
	return b
}

// S08: a flipped bit makes a block of a zstd frame longer. The frame then includes the next one and ends with the block
// of the third, and no checksum detects it. The reader finds both other frames.
func TestReaderFrameThatSwallowsOthers(t *testing.T) {
	const headers, longer = 6, 4096 // bytes before the first block of a frame; growth of the first frame's block
	first := resourceOf(0, 300)
	a := rawFrame(first[:100], first[100:])
	// of the second frame: the block then ends at the start of the third
	size := longer - (len(a) - headers - 3 - 100) - headers
	b := rawFrame(resourceOf(1, 1000+size-len(rawFrame(resourceOf(1, 1000)))))
	c := rawFrame(resourceOf(2, 50))
	file := slices.Concat(a, b, c, rawFrame(resourceOf(3, 50)))
	if recs, faults := readAll(t, file, strict()); len(recs) != 4 || len(faults) > 0 {
		t.Fatalf("the file as it was: %d records, %v", len(recs), faults)
	}
	file[headers+1] ^= longer << 3 >> 8
	recs, faults := readAll(t, file, strict())
	var found []int64
	for i := range recs {
		found = append(found, recs[i].Offset)
	}
	want := []int64{int64(len(a)), int64(len(a) + len(b)), int64(len(a) + len(b) + len(c))}
	if len(faults) == 0 || !slices.Equal(found, want) {
		t.Errorf("records at %d, want %d, and %v", found, want, faults)
	}
}

// Headers as they occur: which are accepted, and with which faults.
func TestReaderHeaders(t *testing.T) {
	const id = "WARC-Record-ID: <urn:uuid:00000000-0000-4000-8000-000000000001>\r\nWARC-Date: 2026-01-01T00:00:00Z\r\n"
	const tail = "\r\nhi\r\n\r\n"
	tests := []struct {
		name, text string
		kind       error // the fault of a strict reader
		lenient    bool  // whether a lenient reader returns the record
	}{
		{"good", "WARC/1.1\r\nWARC-Type: resource\r\nWARC-Target-URI: http://a/\r\nContent-Type: a/b\r\n" +
			"Content-Length: 2\r\n" + id + tail, nil, true},
		{"case, spaces, folding", "WARC/1.0\r\nwarc-type:resource\r\nWARC-Target-URI:   http://a/ \r\nX: a\r\n b\r\n" +
			"content-type: a/b\r\nContent-LENGTH:2\r\n" + id + tail, nil, true},
		{"LF only", strings.ReplaceAll("WARC/1.1\r\nWARC-Type: resource\r\nWARC-Target-URI: http://a/\r\n"+
			"Content-Type: a/b\r\nContent-Length: 2\r\n"+id, "\r", "") + "\nhi\r\n\r\n", ErrSyntax, true},
		{"old version", "WARC/0.9\r\nWARC-Type: resource\r\nWARC-Target-URI: http://a/\r\nContent-Type: a/b\r\n" +
			"Content-Length: 2\r\n" + id + tail, ErrSyntax, true},
		{"no colon", "WARC/1.1\r\nWARC-Type: resource\r\nrubbish\r\nWARC-Target-URI: http://a/\r\nContent-Type: a/b\r\n" +
			"Content-Length: 2\r\n" + id + tail, ErrSyntax, true},
		{"brackets", "WARC/1.1\r\nWARC-Type: resource\r\nWARC-Target-URI: <http://a/>\r\nContent-Type: a/b\r\n" +
			"Content-Length: 2\r\n" + id + tail, ErrField, true},
		{"a percent sign that escapes nothing", "WARC/1.1\r\nWARC-Type: resource\r\nWARC-Target-URI: http://a/%zz?100%\r\n" +
			"Content-Type: a/b\r\nContent-Length: 2\r\n" + id + tail, nil, true},
		{"a space in the URI", "WARC/1.1\r\nWARC-Type: resource\r\nWARC-Target-URI: http://a/b c\r\nContent-Type: a/b\r\n" +
			"Content-Length: 2\r\n" + id + tail, ErrField, true},
		{"no scheme", "WARC/1.1\r\nWARC-Type: resource\r\nWARC-Target-URI: //a/b\r\nContent-Type: a/b\r\n" +
			"Content-Length: 2\r\n" + id + tail, ErrField, true},
		{"no letter", "WARC/1.1\r\nWARC-Type: resource\r\nWARC-Target-URI: 1a:b\r\nContent-Type: a/b\r\n" +
			"Content-Length: 2\r\n" + id + tail, ErrField, true},
		{"brackets in 1.0", "WARC/1.0\r\nWARC-Type: resource\r\nWARC-Target-URI: <http://a/>\r\nContent-Type: a/b\r\n" +
			"Content-Length: 2\r\n" + id + tail, nil, true},
		{"no URI", "WARC/1.1\r\nWARC-Type: resource\r\nContent-Type: a/b\r\nContent-Length: 2\r\n" + id + tail, ErrField,
			true},
		{"twice", "WARC/1.1\r\nWARC-Type: metadata\r\nWARC-Type: metadata\r\nContent-Type: a/b\r\nContent-Length: 2\r\n" +
			id + tail, ErrField, true},
		{"no date", "WARC/1.1\r\nWARC-Type: metadata\r\nContent-Type: a/b\r\nWARC-Record-ID: <urn:x:y>\r\n" +
			"Content-Length: 2\r\n" + tail, ErrField, true},
		{"bad address", "WARC/1.1\r\nWARC-Type: metadata\r\nWARC-IP-Address: 1.2.3\r\nContent-Type: a/b\r\n" +
			"Content-Length: 2\r\n" + id + tail, ErrField, true},
		{"length missing", "WARC/1.1\r\nWARC-Type: metadata\r\n" + id + tail, member.ErrNotWARC, false},
		{"length negative", "WARC/1.1\r\nWARC-Type: metadata\r\nContent-Length: -2\r\n" + id + tail, member.ErrNotWARC,
			false},
		{"length huge", "WARC/1.1\r\nWARC-Type: metadata\r\nContent-Type: a/b\r\nContent-Length: 4611686018427387903\r\n" +
			id + tail, member.ErrTruncated, false},
		{"length short", "WARC/1.1\r\nWARC-Type: metadata\r\nContent-Type: a/b\r\nContent-Length: 1\r\n" + id + tail,
			ErrSyntax, true},
		{"digest wrong", "WARC/1.1\r\nWARC-Type: metadata\r\nContent-Type: a/b\r\nWARC-Block-Digest: sha1:AAAA\r\n" +
			"Content-Length: 2\r\n" + id + tail, ErrDigest, true},
		{"digest hex", "WARC/1.1\r\nWARC-Type: metadata\r\nContent-Type: a/b\r\n" +
			"WARC-Block-Digest: md5:49F68A5C8493EC2C0BF489821C21FC3B\r\nContent-Length: 2\r\n" + id + tail, nil, true},
		{"digest unknown", "WARC/1.1\r\nWARC-Type: metadata\r\nContent-Type: a/b\r\nWARC-Block-Digest: foo:AAAA\r\n" +
			"Content-Length: 2\r\n" + id + tail, nil, true},
		{"not WARC", "HTTP/1.1 200 OK\r\n\r\n", member.ErrNotWARC, false},
		{"header too long", "WARC/1.1\r\nX: " + strings.Repeat("x", 2<<20) + "\r\n" + id + tail, member.ErrTooLarge, false},
	}
	for _, tt := range tests {
		for _, packed := range []bool{false, true} {
			b := []byte(tt.text)
			if packed {
				b = zip(t, b)
			}
			_, faults := readAll(t, b, strict())
			if tt.kind == nil && len(faults) > 0 || tt.kind != nil && !errors.Is(errors.Join(faults...), tt.kind) {
				t.Errorf("%s (packed %v): %v, want %v", tt.name, packed, faults, tt.kind)
			}
			recs, _ := readAll(t, b, ReaderOptions{})
			if (len(recs) == 1) != tt.lenient {
				t.Errorf("%s (packed %v): lenient: %d records", tt.name, packed, len(recs))
			}
		}
	}
}

// Invalid bytes between records cost no records.
func TestReaderGoesOn(t *testing.T) {
	for _, c := range []Compression{Gzip, Zstd, None} {
		b := sample(t, c, 3)
		whole, _ := readAll(t, b, strict())
		var broken []byte
		for i := range whole {
			broken = append(broken, b[whole[i].Offset:whole[i].Offset+whole[i].Length]...)
			if i%3 == 1 {
				broken = append(broken, "rubbish \x1f\x8b \x1f\x8b\x08 (\xb5/\xfd and more\r\n"...)
			}
		}
		recs, faults := readAll(t, broken, ReaderOptions{})
		if len(recs) != len(whole) || len(faults) == 0 {
			t.Errorf("%s: %d of %d records, %v", c, len(recs), len(whole), faults)
		}
	}
}

// An error of the disk is no fault of the file, and stays.
func TestReaderPassesErrorsOn(t *testing.T) {
	disk := errors.New("disk on fire")
	for _, c := range []Compression{Gzip, Zstd, None} {
		b := sample(t, c, 1)
		for _, n := range []int{0, 3, 20, 400} {
			z := NewReader(io.MultiReader(bytes.NewReader(b[:n]), iotest.ErrReader(disk)), ReaderOptions{})
			var err error
			for err == nil {
				var rec *RecordRead
				if rec, err = z.Next(); err == nil {
					_, err = io.Copy(io.Discard, onlyReader{rec})
				}
			}
			if !errors.Is(err, disk) {
				t.Errorf("%s after %d: %v", c, n, err)
			}
			if _, err := z.Next(); !errors.Is(err, disk) {
				t.Errorf("%s after %d, again: %v", c, n, err)
			}
		}
	}
}

// tally counts the bytes read through it.
type tally struct {
	*bytes.Reader
	n int64
}

func (c *tally) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.n += int64(n)
	return n, err
}

// Bytes that look like starts of members everywhere do not make the reader search the same bytes many times.
func TestReaderIsLinear(t *testing.T) {
	// The start of a member, and of a stored block of 64 KiB.
	head := []byte(gzipMagic + "\x00\x00\x00\x00\x00\x00\xff" + "\x00\xff\xff\x00\x00")
	file := bytes.Repeat(head, 4<<20/len(head))
	frames := append([]byte(zstdMagic), bytes.Repeat([]byte(zstdMagic+"\x00\x58\x00\xff\x07"), 400000)...)
	for _, b := range [][]byte{file, frames} {
		in := &tally{Reader: bytes.NewReader(b)}
		z := NewReader(in, ReaderOptions{})
		for {
			if _, err := z.Next(); err == io.EOF {
				break
			}
		}
		z.Close()
		if limit := int64(16<<20 + 4*len(b)); in.n > limit {
			t.Errorf("read %d bytes of a file of %d", in.n, len(b))
		}
	}
}
