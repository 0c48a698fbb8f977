package fsck

import (
	"bufio"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

// The lines of dns: records are left out, wherever they stand and however long the lines are.
func TestIndexLines_leavesDNSOut(t *testing.T) {
	long := strings.Repeat("x", 100)
	for in, want := range map[string]string{
		"":                                      "",
		"com,a)/ 1\ndns:a 2\n":                  "com,a)/ 1\n",
		"dns:a 2\ndns:b 3\ncom,a)/ 1\nend":      "com,a)/ 1\nend",
		"dns:" + long + "\n" + long + "dns:\nq": long + "dns:\nq",
	} {
		r := &indexLines{in: bufio.NewReaderSize(iotest.OneByteReader(strings.NewReader(in)), 16)}
		if got, err := io.ReadAll(r); err != nil || string(got) != want {
			t.Errorf("%q: %q, %v, want %q", in, got, err, want)
		}
	}
}
