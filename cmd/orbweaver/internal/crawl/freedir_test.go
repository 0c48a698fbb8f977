package crawl

import (
	"os"
	"path/filepath"
	"testing"
)

// A directory may hold an inbox with URLs before its first crawl, but not the work of others.
func TestCheckDir(t *testing.T) {
	for name, free := range map[string]bool{
		"inbox/urls.txt": true, ".git/config": true, "seeds.txt": true, "thesis/chapter.txt": false,
		"inbox.txt": false, "frontier/MANIFEST": true,
	} {
		dir := t.TempDir()
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := checkDir(dir, filepath.Join(dir, "seeds.txt")); (err == nil) != free {
			t.Errorf("%s: %v", name, err)
		}
	}
}
