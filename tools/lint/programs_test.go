package lint

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// isBuiltProgram reports whether a file begins as a program does: ELF, Mach-O of 64 bits, PE.
func isBuiltProgram(content []byte) bool {
	return bytes.HasPrefix(content, []byte("\x7fELF")) || bytes.HasPrefix(content, []byte("\xcf\xfa\xed\xfe")) ||
		bytes.HasPrefix(content, []byte("MZ"))
}

// A program that a build has left must not be committed: it stays in every clone for ever.
func TestNoProgramIsCommitted(t *testing.T) {
	root := filepath.Join("..", "..")
	cmd := exec.CommandContext(t.Context(), "git", "ls-files", "-z")
	cmd.Dir = root
	out, err := cmd.Output()
	if err != nil {
		t.Skipf("git does not list the files: %v", err) // an archive of the sources has no repository
	}
	for name := range bytes.SplitSeq(bytes.TrimSuffix(out, []byte{0}), []byte{0}) {
		// A file that cannot be read is deleted, and not yet committed.
		if content, _ := os.ReadFile(filepath.Join(root, string(name))); isBuiltProgram(content) {
			t.Errorf("%s is a program: git rm --cached it, and name it in .gitignore", name)
		}
	}
	self, err := os.Executable()
	content, _ := os.ReadFile(self)
	if err != nil || !isBuiltProgram(content) {
		t.Errorf("the program of this test is not found to be one: %v", err)
	}
}

// Releases and containers are built with the same Go, the one that go.mod names as its toolchain.
func TestOneToolchain(t *testing.T) {
	read := func(name string) string {
		text, err := os.ReadFile(filepath.Join("..", "..", name))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	found := regexp.MustCompile(`(?m)^toolchain go(\S+)$`).FindStringSubmatch(read("go.mod"))
	if found == nil {
		t.Fatal("go.mod names no toolchain")
	}
	for name, want := range map[string]string{
		"Containerfile":         "golang:" + found[1] + " ",
		"docs/guide/install.md": "Go " + found[1] + " is the least version",
	} {
		if !strings.Contains(read(name), want) {
			t.Errorf("%s does not have %q: its version must be that of go.mod", name, want)
		}
	}
}
