package warc

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// packings are the forms of a file with several records.
func packings(t *testing.T, records []string) map[string]io.Reader {
	t.Helper()
	gz := func(text string) []byte {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		_, _ = io.WriteString(z, text)
		_ = z.Close() // in memory
		return b.Bytes()
	}
	e, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	zs := func(text string) []byte { return e.EncodeAll([]byte(text), nil) }
	whole := strings.Join(records, "")
	var gzips, zstds []byte
	for _, text := range records {
		gzips, zstds = append(gzips, gz(text)...), append(zstds, zs(text)...)
	}
	return map[string]io.Reader{
		"plain":            strings.NewReader(whole),
		"plain, stdin":     onlyReader{strings.NewReader(whole)},
		"gzip":             bytes.NewReader(gzips),
		"gzip, stdin":      onlyReader{bytes.NewReader(gzips)},
		"gzip, one member": bytes.NewReader(gz(whole)),
		"zstd":             bytes.NewReader(zstds),
		"zstd, one frame":  bytes.NewReader(zs(whole)),
	}
}

// wrongRecords are records with a wrong length, head or end, by what is wrong. isWhole says that the record is read
// itself; isPart that its block is cut or longer.
func wrongRecords(block string) map[string]struct {
	text            string
	isWhole, isPart bool
} {
	type wrong = struct {
		text            string
		isWhole, isPart bool
	}
	length := func(more int) string { return fmt.Sprintf("Content-Length: %d", len(block)+more) }
	all := map[string]wrong{}
	for _, more := range []int{1, 2, 5, 30, 200, 400, 500, 800, 1000, 1e6, 1 << 60} {
		all[fmt.Sprintf("%d too large", more)] = wrong{text: wholeRecord("second", length(more), block), isPart: more <= 2}
	}
	for _, less := range []int{4, 5, 100, len(block)} {
		all[fmt.Sprintf("%d too small", less)] = wrong{text: wholeRecord("second", length(-less), block), isPart: true}
	}
	for _, field := range []string{
		"X: no length", "Content-Length: -5", "Content-Length: abc", "Content-Length:", length(0) + " bytes",
		"Content-Length: 99999999999999999999999",
	} {
		all[field] = wrong{text: wholeRecord("second", field, block)}
	}
	right := wholeRecord("second", length(0), block)
	open := strings.TrimSuffix(right, "\r\n\r\n")
	for name, text := range map[string]string{
		"no end": open, "half an end": open + "\r\n", "line feeds at the end": open + "\n\n",
		"a line feed at the end": open + "\n", "a long end": open + strings.Repeat("\r\n", 40),
		"line feeds":                  strings.ReplaceAll(right, "\r\n", "\n"),
		"blanks around the length":    wholeRecord("second", length(0)+" \t", block),
		"a head of line feeds":        strings.ReplaceAll(strings.TrimSuffix(open, block), "\r", "") + block + "\r\n\r\n",
		"a second length, which is 3": wholeRecord("second", length(0)+"\r\nContent-Length: 3", block),
		"a version that is not there": strings.Replace(right, "WARC/1.0", "WARC/9.9", 1),
		"fields that are not fields":  wholeRecord("second", length(0)+"\r\nwords\r\n: x", block),
	} {
		all[name] = wrong{text: text, isWhole: true}
	}
	return all
}

func wholeRecord(name, length, block string) string {
	return "WARC/1.0\r\nWARC-Type: resource\r\nWARC-Target-URI: http://a.test/" + name + "\r\n" + length +
		"\r\nContent-Type: text/plain\r\n\r\n" + block + "\r\n\r\n"
}

// A record with a wrong length, a wrong end or a wrong head costs itself at most: the others are read, in each form of
// a file. It is named unless its block is whole.
func TestReader_oneWrongRecord(t *testing.T) {
	block := "A page\r\n\r\n" + strings.Repeat("words ", 50)
	good := func(name string) string {
		return wholeRecord(name, fmt.Sprintf("Content-Length: %d", len(block)), block)
	}
	for name, wrong := range wrongRecords(block) {
		for form, file := range packings(t, []string{good("first"), wrong.text, good("third"), good("fourth")}) {
			want := []string{"first", "third", "fourth"}
			if wrong.isWhole || wrong.isPart {
				want = slices.Insert(want, 1, "second")
			}
			whole, faults := readPlain(t, file)
			// A few bytes behind the record, in its member, are slop. One of two bytes that end it cannot be told
			// apart.
			isSaid := len(faults) == 1 || wrong.isPart && len(faults) == 0
			if !slices.Equal(whole, want) || wrong.isWhole && len(faults) > 0 || !wrong.isWhole && !isSaid {
				t.Errorf("%s, %s: %q, want %q, %v", name, form, whole, want, faults)
			}
		}
	}
}

// The record behind is found wherever the buffers of the reader end.
func TestReader_swallowedAtTheEndOfABuffer(t *testing.T) {
	for size := 65_000; size < 65_800; size += 53 {
		block := strings.Repeat("w", size)
		first := wholeRecord("first", fmt.Sprintf("Content-Length: %d", size+300), block)
		rest := wholeRecord("second", fmt.Sprintf("Content-Length: %d", size), block)
		for form, file := range packings(t, []string{first, rest}) {
			if whole, faults := readPlain(t, file); len(whole) != 1 || whole[0] != "second" || len(faults) != 1 {
				t.Errorf("%d bytes, %s: %q, %v", size, form, whole, faults)
			}
		}
	}
}
