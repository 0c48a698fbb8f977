package crawl

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The token is its owner's alone, another one each time, and not written through a link that another user has put in
// its place.
func TestHostile_A01_theTokenIsItsOwnersAlone(t *testing.T) {
	dir := t.TempDir()
	precious := filepath.Join(dir, "precious")
	if err := os.WriteFile(precious, []byte("text"), 0o644); err != nil { //nolint:gosec // other users may read it
		t.Fatal(err)
	}
	if err := os.Symlink(precious, TokenFile(dir)); err != nil {
		t.Fatal(err)
	}
	first, err := newToken(dir)
	if err != nil {
		t.Fatal(err)
	}
	second, err := newToken(dir)
	if err != nil {
		t.Fatal(err)
	}
	if read, err := ReadToken(TokenFile(dir)); err != nil || read != second || first == second || len(second) < 26 {
		t.Errorf("%q, then %q, read %q: %v", first, second, read, err)
	}
	if b, err := os.ReadFile(precious); err != nil || string(b) != "text" {
		t.Errorf("it wrote through a link: %q, %v", b, err)
	}
	if info, err := os.Lstat(TokenFile(dir)); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	for name, text := range map[string]string{
		"empty": "", "short": "123456789012345\n", "blanks": "a token with blanks in it\n",
		"long":  strings.Repeat("x", tokenMax+1),
		"bytes": strings.Repeat("\xff\xfe", 16),
	} {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if token, err := ReadToken(file); err == nil {
			t.Errorf("%s is a token: %q", name, token)
		}
	}
}
