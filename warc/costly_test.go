package warc

import (
	"bytes"
	"errors"
	"io"
	"runtime"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"

	"orbweaver/warc/member"
)

// allocated reads all records of a file. It returns the number of bytes that this allocated, and the faults.
func allocated(t testing.TB, file []byte, o ReaderOptions) (bytesUsed uint64, faults []*Fault) {
	t.Helper()
	o.OnFault = func(f *Fault) { faults = append(faults, f) }
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	z := NewReader(bytes.NewReader(file), o)
	defer z.Close()
	for {
		_, err := z.Next()
		var fault *Fault
		if errors.As(err, &fault) {
			faults = append(faults, fault)
			continue
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc, faults
}

const soundHead = "WARC/1.1\r\nWARC-Type: metadata\r\n" +
	"WARC-Record-ID: <urn:uuid:00000000-0000-4000-8000-000000000001>\r\n" +
	"WARC-Date: 2026-01-01T00:00:00Z\r\nContent-Length: 0\r\n"

func packedRecord(t testing.TB, header string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = z.Write([]byte(header + "\r\n\r\n\r\n"))
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// In a header of 1 MB whose lines continue one field, the value was copied once per line: a .warc.gz of 1.1 KB cost 91
// s. Repeated fields were compared with all earlier ones, and each bad line was a separate fault.
func TestHeadersAreReadInLinearTime(t *testing.T) {
	for what, c := range map[string]struct {
		lines  string
		kind   error // of a fault; nil if there is none
		faults int   // at most
	}{
		"one folded field":      {"X: a\r\n" + strings.Repeat(" a\r\n", 250_000), nil, 0},
		"folds of blanks":       {"X: a\r\n" + strings.Repeat(" \n", 300_000), ErrSyntax, 1},
		"the same field again":  {"X: a\r\n" + strings.Repeat("X: a\r\nWARC-Type: metadata\r\n", 1900), ErrField, 1},
		"too many fields":       {strings.Repeat("X:\r\n", 200_000), member.ErrTooLarge, 1},
		"lines without a colon": {strings.Repeat("x\r\n", 300_000), ErrSyntax, badLinesMax + 1},
		"folds before a field":  {strings.Repeat(" \r\n", 300_000), nil, 0},
	} {
		header := soundHead + c.lines
		if what == "folds before a field" {
			header = strings.Replace(soundHead, "\r\n", "\r\n"+c.lines, 1)
			c.kind, c.faults = ErrSyntax, badLinesMax+1
		}
		file := packedRecord(t, header)
		used, faults := allocated(t, file, ReaderOptions{Syntax: Warn, Spec: Warn})
		if limit := uint64(8*len(header) + 1<<20); used > limit {
			t.Errorf("%s: %d bytes of memory for a header of %d in a file of %d, more than %d", what, used, len(header),
				len(file), limit)
		}
		if len(faults) > c.faults || c.kind != nil && (len(faults) == 0 || !errors.Is(faults[0], c.kind)) {
			t.Errorf("%s: %d faults (%v), want at most %d, of kind %v", what, len(faults), faults[:min(len(faults), 2)],
				c.faults, c.kind)
		}
	}
}

// Continuation lines are joined with one space, and blank lines add nothing at the end.
func TestFoldedFieldsAreJoined(t *testing.T) {
	z := NewReader(bytes.NewReader([]byte(soundHead+"A: 1\r\n 2\r\n\t 3 \r\nB:\r\n b\r\nC: c\r\n \r\n\r\n\r\n\r\n")),
		ReaderOptions{})
	rec, err := z.Next()
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"A": "1 2 3", "B": "b", "C": "c", "Content-Length": "0"} {
		if got := rec.Get(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

// The memory for a header is proportional to its size, for any lines repeated to 256 KiB.
func FuzzHeaderCost(f *testing.F) {
	for _, lines := range []string{" a\r\n", "X: y\r\n", "X: y\r\n z\r\n", "bad\r\n", "\t\n", "WARC-Type: a\nX:y\n",
		":\n", "Content-Length: 0\r\n", "bad\n z\r\n"} {
		f.Add(lines)
	}
	f.Fuzz(func(t *testing.T, lines string) {
		if lines == "" || len(lines) > 4096 {
			return
		}
		header := soundHead + strings.Repeat(lines, 256<<10/len(lines)) + "\r\n\r\n\r\n"
		used, faults := allocated(t, []byte(header), ReaderOptions{Syntax: Warn, Spec: Warn})
		if limit := uint64(64*len(header) + 1<<20); used > limit {
			t.Fatalf("%d bytes of memory for %d, %d faults", used, len(header), len(faults))
		}
	})
}

// BenchmarkManyMembers measures a file of empty gzip members of 20 bytes each.
func BenchmarkManyMembers(b *testing.B) {
	file := bytes.Repeat(append([]byte{0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0, 3}, make([]byte, 9)...), 50_000)
	file = append(file, packedRecord(b, soundHead)...)
	b.SetBytes(int64(len(file)))
	for b.Loop() {
		allocated(b, file, ReaderOptions{})
	}
}
