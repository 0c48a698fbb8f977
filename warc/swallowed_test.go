package warc

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
)

// plainRecord returns a record of a plain file, whose Content-Length is too large by some bytes.
func plainRecord(name, block string, tooLarge int) string {
	return fmt.Sprintf("WARC/1.0\r\nWARC-Type: resource\r\nWARC-Target-URI: http://a.test/%s\r\n"+
		"Content-Length: %d\r\n\r\n%s\r\n\r\n", name, len(block)+tooLarge, block)
}

// readPlain returns the last parts of the URIs of the records that could be read whole, and the faults.
func readPlain(t *testing.T, from io.Reader) (whole []string, faults []*Fault) {
	t.Helper()
	z := NewReader(from, ReaderOptions{Name: "x.warc"})
	defer z.Close()
	err := ScanRecords(z, func(rec *RecordRead) error {
		if err := rec.Skip(); err != nil {
			return err
		}
		whole = append(whole, strings.TrimPrefix(string(rec.TargetURI), "http://a.test/"))
		return nil
	}, func(f *Fault) error {
		faults = append(faults, f)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return whole, faults
}

// A record whose Content-Length is too large costs itself, and not those in its block.
func TestReader_aContentLengthThatSwallowsRecords(t *testing.T) {
	first, block := plainRecord("first", "one", 0), strings.Repeat("words ", 20)
	rest := plainRecord("third", block, 0) + plainRecord("fourth", block, 0) + plainRecord("fifth", "", 0)
	all := []string{"first", "third", "fourth", "fifth"}
	for _, tooLarge := range []int{5, 30, 100, 200, 300, 400, 1e6, 1 << 60} {
		second := plainRecord("second", block, tooLarge)
		whole, faults := readPlain(t, strings.NewReader(first+second+rest))
		place := fmt.Sprintf("at %d", len(first)+len(second))
		if !slices.Equal(whole, all) || len(faults) != 1 || faults[0].Offset != int64(len(first)) ||
			!errors.Is(faults[0], ErrSyntax) || !strings.HasSuffix(faults[0].What, place) {
			t.Errorf("%d too large: %q, want %q, one fault that ends with %q: %v", tooLarge, whole, all, place, faults)
		}
	}
}

// What is in the block of a sound record, or of one that was cut short, is not a record.
func TestReader_recordsInABlockAreNotRecords(t *testing.T) {
	inside := plainRecord("inside", "one", 0) + plainRecord("inside2", "one", 0)
	outer, last := plainRecord("outer", inside, 0), plainRecord("last", "two", 0)
	for text, want := range map[string][]string{
		outer + last:                        {"outer", "last"},
		outer[:len(outer)-recordEnd] + last: {"outer", "last"}, // without its end
		outer[:len(outer)-recordEnd]:        {"outer"},
		last + outer[:len(outer)-20]:        {"last"},
	} {
		if whole, _ := readPlain(t, strings.NewReader(text)); !slices.Equal(whole, want) {
			t.Errorf("%q, want %q of:\n%s", whole, want, text)
		}
	}
}

// Records that all claim the rest of the file take no quadratic time: what is read again has a bound.
func TestReader_searchesInBlocksAreBounded(t *testing.T) {
	text := strings.Repeat(plainRecord("x", strings.Repeat("w", 1000), 1<<40), 50_000)
	read := &countingReader{Reader: *strings.NewReader(text)}
	_, faults := readPlain(t, read)
	if most := 8 * int64(len(text)); len(faults) == 0 || read.n > most {
		t.Errorf("%d faults; read %d bytes of %d, at most %d", len(faults), read.n, len(text), most)
	}
}

// Nor do many small records that lead to one that is not sound.
func TestReader_smallRecordsInABlockAreLookedAtOnce(t *testing.T) {
	small := "WARC/1.0\r\nWARC-Type: resource\r\nContent-Length: 0\r\n\r\n\r\n\r\n"
	for name, block := range map[string]string{
		"records":  strings.Repeat(small, 10_000),
		"versions": strings.Repeat("WARC/1.0\r\n", 50_000),
	} {
		text := plainRecord("x", block, 1<<40) + "not a record"
		read := &countingReader{Reader: *strings.NewReader(text)}
		_, faults := readPlain(t, read)
		if most := 64 * int64(len(text)); len(faults) == 0 || read.n > most {
			t.Errorf("%s: %d faults; read %d bytes of %d, at most %d", name, len(faults), read.n, len(text), most)
		}
	}
}

// countingReader counts what is read.
type countingReader struct {
	strings.Reader

	n int64
}

func (c *countingReader) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.n += int64(n)
	return n, err
}

func (c *countingReader) ReadAt(p []byte, offset int64) (int, error) {
	n, err := c.Reader.ReadAt(p, offset)
	c.n += int64(n)
	return n, err
}
