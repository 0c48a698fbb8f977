package fsck

import (
	"bufio"
	"strings"
	"testing"
)

// An index of an earlier version has other media types. Everything else must be the same.
func TestComparer_typesOfEarlierVersions(t *testing.T) {
	const line = `com,a)/ 20260101000000 {"url":"http://a.com/","mime":"text/html","status":"200"}` + "\n"
	for found, want := range map[string]bool{
		line: true, strings.Replace(line, `"mime":"text/html",`, "", 1): true,
		strings.Replace(line, "text/html", "html", 1): true, strings.Replace(line, "200", "404", 1): false,
		strings.Replace(line, "http:", "https:", 1): false, "": false,
	} {
		w := &comparer{want: bufio.NewReaderSize(strings.NewReader(found+found), 16)}
		_, err := w.Write([]byte(line[:20]))
		if err == nil {
			_, err = w.Write([]byte(line[20:] + line))
		}
		if (err == nil) != want {
			t.Errorf("%q: %v", found, err)
		}
	}
}
