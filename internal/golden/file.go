package golden

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// Dir is the directory of the golden files of a package, relative to it.
const Dir = "testdata/golden"

var write = flag.Bool("golden.write", false, "write the golden files that do not exist yet")

// Writing reports whether the test must make the golden files that do not exist.
func Writing() bool { return *write }

// Read returns the content of a golden file of the package under test. The file must have the given SHA-256.
func Read(t testing.TB, name, sum string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(Dir, name))
	if err != nil {
		t.Fatal(err)
	}
	fail := t.Fatalf
	if *write { // the test goes on, and writes its other files
		fail = t.Errorf
	}
	if got := sumOf(b); got != sum {
		fail(
			"%s has the SHA-256 %s, not %q. Golden files are never changed: for a new format add a file with its number",
			name, got, sum)
	}
	return b
}

// Compare compares what the current version encodes with a golden file, and returns the file's content. With
// -golden.write it first writes the file if that does not exist.
func Compare(t testing.TB, name, sum string, got []byte) []byte {
	t.Helper()
	if *write {
		Add(t, name, got)
	}
	want := Read(t, name, sum)
	if bytes.Equal(got, want) {
		return want
	}
	at := 0
	for at < min(len(got), len(want)) && got[at] == want[at] {
		at++
	}
	t.Errorf("%s: %d bytes encoded, %d in the file; from byte %d on\n got %q\nwant %q", name, len(got), len(want), at,
		excerpt(got, at), excerpt(want, at))
	return want
}

// excerpt returns the bytes around a difference.
func excerpt(b []byte, at int) []byte { return b[max(0, at-16):min(len(b), at+64)] }

// Add writes a golden file that does not exist yet, and prints its sum. A file that exists stays as it is.
func Add(t testing.TB, name string, content []byte) {
	t.Helper()
	path := filepath.Join(Dir, name)
	if err := os.MkdirAll(Dir, 0o755); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.Write(content)
	if err := errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
	t.Logf("written: %s, %d bytes, SHA-256 %s", path, len(content), sumOf(content))
}

func sumOf(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}
