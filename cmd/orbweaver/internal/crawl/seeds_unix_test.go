//go:build unix

package crawl

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"orbweaver/internal/cli/command"
)

// A pipe of seeds is read once, before the crawl begins: nothing of a running crawl waits for the writer of a pipe.
func TestSeedSource_aPipeIsReadOnceAtTheStart(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	written := make(chan error, 1)
	go func() { written <- os.WriteFile(pipe, []byte("http://a.test/\nhttp://b.test/\n"), 0o600) }()
	source, err := seedSource(&command.Invocation{Stdin: strings.NewReader("http://c.test/\n")}, nil, []string{pipe, "-"})
	if err != nil {
		t.Fatal(err)
	}
	if err := <-written; err != nil {
		t.Fatal(err)
	}
	for range 2 { // a crawl may ask again
		var got []string
		err := source.Each(func(_ string, url []byte) error {
			got = append(got, string(url))
			return nil
		})
		if want := "http://a.test/ http://b.test/ http://c.test/"; err != nil || strings.Join(got, " ") != want {
			t.Errorf("got %q, want %q, %v", got, want, err)
		}
	}
}
