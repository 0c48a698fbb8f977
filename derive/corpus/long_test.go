package corpus

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"strings"
	"testing"

	"orbweaver/warc/deflate"
)

// A long text is written in pieces, which do not divide a character.
func TestLines_longText(t *testing.T) {
	for _, start := range []string{"", "a", "ab"} {
		text := start + strings.Repeat("\u6f22", pieceMost) + "\n\"end"
		var b bytes.Buffer
		l := &lines{zip: deflate.NewGzipWriter(&b)}
		if err := l.write(&Row{ID: "x"}, []byte(text)); err != nil {
			t.Fatal(err)
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		z, err := gzip.NewReader(&b)
		if err != nil {
			t.Fatal(err)
		}
		var row Row
		if err := json.NewDecoder(z).Decode(&row); err != nil || row.Text != text || row.ID != "x" {
			t.Errorf("%d bytes, %v, want %d", len(row.Text), err, len(text))
		}
	}
}
