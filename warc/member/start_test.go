package member

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"testing"
)

// textMembers returns a gzip file of members with these sizes of content, the content, and where the members start.
func textMembers(t *testing.T, sizes ...int) (file []byte, contents [][]byte, starts []int64) {
	t.Helper()
	p, err := NewPacker(PackerOptions{Level: 1})
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(1, 0))
	for _, size := range sizes {
		text := make([]byte, size)
		for i := range text {
			text[i] = byte('a' + random.IntN(20))
		}
		p.Begin(false)
		if err := errors.Join(p.Write(text), p.End()); err != nil {
			t.Fatal(err)
		}
		contents = append(contents, text)
		starts = append(starts, p.Member(p.Len()-1).Start)
	}
	return bytesOf(t, p), contents, starts
}

// A member with a known length is read like any other, in pieces of any size. It can be skipped from any position, if
// the caller knows how long its content is.
func TestReader_knownLength(t *testing.T) {
	file, contents, starts := textMembers(t, 10, 50_000, startContent, startContent+300, 300_000, 700, 9_000)
	end := append(starts[1:len(starts):len(starts)], int64(len(file)))
	length := func(offset int64) int64 {
		for i := range starts {
			if starts[i] == offset {
				return end[i] - offset
			}
		}
		return 0
	}
	random := rand.New(rand.NewPCG(2, 0))
	for range 50 {
		var z Reader
		z.Reset(bytes.NewReader(file), ReaderOptions{LengthAt: length})
		for i, content := range contents {
			if err := z.Next(); err != nil || z.Start() != starts[i] {
				t.Fatal(i, z.Start(), err)
			}
			var got []byte
			for stop := random.IntN(2 * len(content)); len(got) < stop; {
				if random.IntN(2) == 0 {
					got = append(got, TakeContent(&z)...)
				}
				piece := make([]byte, 1+random.IntN(20_000))
				n, err := z.Read(piece)
				if got = append(got, piece[:n]...); err != nil {
					break
				}
			}
			if !bytes.Equal(got, content[:len(got)]) || z.Inside() && SkipContent(&z, int64(len(content))+1) {
				t.Fatalf("member %d: wrong content, or skipped with a wrong size", i)
			}
			if z.Inside() && !SkipContent(&z, int64(len(content))) {
				if _, err := io.Copy(io.Discard, &z); err != nil {
					t.Fatal(err)
				}
			}
			if z.Inside() || z.Offset() != end[i] {
				t.Fatalf("member %d: at %d, want %d", i, z.Offset(), end[i])
			}
		}
		if err := z.Next(); err != io.EOF { //nolint:errorlint // as documented
			t.Fatal(err)
		}
	}
}

// Of a member whose start is wanted, little is read from the file. More can be read all the same, and then it is as
// without the wish.
func TestReader_wantedStart(t *testing.T) {
	for _, size := range []int{10, 999, 1_000, 1_001, 50_000, 3_000_000, wholeContentMax + 10} {
		file, contents, _ := textMembers(t, size, 7)
		for _, stop := range []int{0, 500, 1_000, 1_300, size} {
			var z Reader
			from := &counter{r: bytes.NewReader(file), most: wholeSourceMax}
			z.Reset(from, ReaderOptions{Start: 1_000, FirstRead: 4 << 10})
			if err := z.Next(); err != nil {
				t.Fatal(err)
			}
			got := make([]byte, min(stop, size))
			if _, err := io.ReadFull(&z, got); err != nil || !bytes.Equal(got, contents[0][:len(got)]) {
				t.Fatalf("%d of %d bytes: wrong content, or %v", stop, size, err)
			}
			if stop < 1_000 && from.n > 4<<10 {
				t.Errorf("%d of %d bytes: %d bytes of the file were read", stop, size, from.n)
			}
			rest, err := io.ReadAll(&z)
			if err != nil || !bytes.Equal(rest, contents[0][len(got):]) {
				t.Fatalf("the rest behind %d of %d bytes: wrong content, or %v", stop, size, err)
			}
			if err := z.Next(); err != nil {
				t.Fatal(err)
			}
			if next, err := io.ReadAll(&z); err != nil || !bytes.Equal(next, contents[1]) {
				t.Fatalf("the next member: %q, %v", next, err)
			}
		}
	}
}

// Damage behind the start of a member with a known length is found when it is read, with the content before it.
func TestReader_knownLengthOfADamagedMember(t *testing.T) {
	file, contents, _ := textMembers(t, 50_000)
	file[len(file)-9_000] ^= 0x10
	for start, known := range []int64{0, int64(len(file)), 0} {
		var z Reader
		z.Reset(bytes.NewReader(file), ReaderOptions{LengthAt: func(int64) int64 { return known }, Start: start / 2 * 100})
		if err := z.Next(); err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(&z)
		isPart := len(got) >= 30_000 && bytes.HasPrefix(contents[0], got[:30_000])
		if !errors.Is(err, ErrCompression) || !z.Damaged() || !isPart {
			t.Errorf("known length %d: %d bytes, %v", known, len(got), err)
		}
	}
}
