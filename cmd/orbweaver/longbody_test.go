//go:build scenario

package main

import (
	"crypto/sha1"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"orbweaver/internal/cli/command"
)

// longBody is a body of 300 MiB that does not compress.
const longBody = 300 << 20

// writeLong writes the body, and closes begun after its first 100 MiB.
func writeLong(w io.Writer, begun chan<- struct{}) {
	rng := rand.NewChaCha8([32]byte{9})
	piece := make([]byte, 64<<10)
	for sent := 0; sent < longBody; sent += len(piece) {
		if sent == 100<<20 {
			select {
			case begun <- struct{}{}:
			default:
			}
		}
		_, _ = rng.Read(piece)
		if _, err := w.Write(piece); err != nil {
			return
		}
	}
}

// A body of 300 MiB is killed in the middle, fetched again, and stored whole in the memory of a short one. It is read
// back byte for byte, and each check and the rebuild take it.
func TestLongBody_isStoredWholeInLittleMemory(t *testing.T) {
	begun := make(chan struct{}, 1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/":
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprint(w, `<a href="/length">a</a> <a href="/chunked">b</a> <a href="/copy">c</a>`)
		case "/length", "/chunked", "/copy":
			w.Header().Set("Content-Type", "video/mp4")
			if r.URL.Path != "/chunked" {
				w.Header().Set("Content-Length", strconv.Itoa(longBody))
			}
			writeLong(w, begun)
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(server.Close)
	dir := filepath.Join(t.TempDir(), "crawl")
	crawl := []string{
		program(), "crawl", "--dir", dir, "--allow-net", "127.0.0.0/8", "--host-delay", "10ms", "--ip-delay", "10ms",
		"--fetchers", "16", "--progress", "none", server.URL + "/",
	}
	first, _ := childOf(t, crawl...)
	<-begun
	if err := first.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = first.Wait() // it was killed
	if names, err := os.ReadDir(filepath.Join(dir, "frontier", "bodies")); err != nil || len(names) == 0 {
		t.Errorf("nothing of the body was on the disk: %v", err)
	}
	again, errs := childOf(t, crawl...)
	if err := again.Wait(); err != nil {
		t.Fatalf("%v\n%s", err, errs)
	}
	m := readReport(t, dir)
	if number(t, m, "pages_stored") != 2 || number(t, m, "revisits_stored") != 2 || number(t, m, "bodies_truncated") != 0 {
		t.Errorf("%v", m)
	}
	// A crawl of short pages takes some 200 MiB here; it would take 500 MiB if a body were in memory.
	if most := number(t, m, "rss_peak_bytes"); most > longBody {
		t.Errorf("%d MiB of memory, more than one body has", most>>20)
	}
	if names, err := os.ReadDir(filepath.Join(dir, "frontier", "bodies")); err != nil || len(names) > 0 {
		t.Errorf("left in the directory of bodies: %v %v", names, err)
	}
	files, err := filepath.Glob(filepath.Join(dir, "warc", "*.warc.gz"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	call(append([]string{"warc", "verify"}, files...)...).want(t, command.ExitDone)
	call("fsck", dir).want(t, command.ExitDone)
	want := sha1.New()
	writeLong(want, nil)
	found := 0
	for _, file := range files {
		for _, path := range []string{"/length", "/chunked", "/copy"} {
			got := call("warc", "cat", "--uri", server.URL+path, "--type", "response", "--payload", file)
			if got.code != command.ExitDone || got.out == "" {
				continue // the response is in the other file, or the record is a revisit
			}
			found++
			if sum := sha1.Sum([]byte(got.out)); string(sum[:]) != string(want.Sum(nil)) {
				t.Errorf("%s: %d bytes, others than were sent", path, len(got.out))
			}
		}
	}
	if found != 1 {
		t.Errorf("%d responses have the body, want one and revisits", found)
	}
	call("fsck", "--rebuild", dir).want(t, command.ExitDone)
	if out := call("fsck", dir).want(t, command.ExitDone); strings.Contains(out.out, "fault") {
		t.Error(out.out)
	}
}
