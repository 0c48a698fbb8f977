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

// programStarts are the first bytes of programs: ELF, Mach-O of 64 bits, PE.
func programStarts() [][]byte {
	return [][]byte{[]byte("\x7fELF"), []byte("\xcf\xfa\xed\xfe"), []byte("MZ")}
}

// isBuiltProgram says whether a file begins as a program does.
func isBuiltProgram(name string) (bool, error) {
	f, err := os.Open(name)
	if err != nil {
		return false, err
	}
	defer f.Close()
	head := make([]byte, 4)
	n, _ := f.Read(head) // an empty file is no program
	for _, start := range programStarts() {
		if bytes.HasPrefix(head[:n], start) {
			return true, nil
		}
	}
	return false, nil
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
		program, err := isBuiltProgram(filepath.Join(root, string(name)))
		if err != nil {
			continue // deleted, and not yet committed
		}
		if program {
			t.Errorf("%s is a program: git rm --cached it, and name it in .gitignore", name)
		}
	}
}

// Releases and containers are built with the same Go, the one that go.mod names as its toolchain.
func TestOneToolchain(t *testing.T) {
	var files [3]string
	for i, name := range []string{"go.mod", "Containerfile", filepath.Join("docs", "guide", "install.md")} {
		text, err := os.ReadFile(filepath.Join("..", "..", name))
		if err != nil {
			t.Fatal(err)
		}
		files[i] = string(text)
	}
	found := regexp.MustCompile(`(?m)^toolchain go(\S+)$`).FindStringSubmatch(files[0])
	if found == nil {
		t.Fatal("go.mod names no toolchain")
	}
	for i, want := range []string{"", "golang:" + found[1] + " ", "Go " + found[1] + " is the least version"} {
		if !strings.Contains(files[i], want) {
			t.Errorf("file %d does not have %q: its version must be that of go.mod", i, want)
		}
	}
}

// The rule above finds a program.
func TestIsBuiltProgram(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	text := filepath.Join(t.TempDir(), "text")
	if err := os.WriteFile(text, []byte("MODULE\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{self: true, text: false} {
		if got, err := isBuiltProgram(name); got != want || err != nil {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
}
