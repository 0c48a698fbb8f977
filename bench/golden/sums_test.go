package golden_test

import (
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// root is the root of the repository.
var root = filepath.Join("..", "..")

// Each golden file of the repository has its SHA-256 in a test of its package. A file that no test reads, or whose
// content changed without a change of the source, is a fault.
func TestGolden_everyFileHasItsSumInATest(t *testing.T) {
	files := 0
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == ".git" || d.Name() == "build" || d.Name() == "bin"):
			return fs.SkipDir
		case d.IsDir() || !strings.HasSuffix(filepath.ToSlash(filepath.Dir(name)), "/testdata/golden"):
			return nil
		}
		files++
		content, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		sum := sha256.Sum256(content)
		if !inTests(t, filepath.Dir(filepath.Dir(filepath.Dir(name))), hex.EncodeToString(sum[:])) {
			t.Errorf("%s: no test of its package names its SHA-256, %x", name, sum)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if files < len(all()) {
		t.Errorf("%d golden files found", files)
	}
}

// inTests says whether a test of a package contains a text.
func inTests(t *testing.T, dir, text string) bool {
	t.Helper()
	tests, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range tests {
		source, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(source), text) {
			return true
		}
	}
	return false
}
