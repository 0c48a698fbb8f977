package main

import (
	"crypto/sha256"
	"encoding/hex"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The history is the same on every machine: its measures belong to BENCHMARKS.md, and its waste has a bound.
func TestHistory_isTheSameEachTime(t *testing.T) {
	sum := sha256.New()
	if err := writeHistory(sum); err != nil {
		t.Fatal(err)
	}
	if got := hex.EncodeToString(sum.Sum(nil)); got != "0e4fd1661fca62d1c611c9555d75d33bc8a6e427ba837596d752708762812ef2" {
		t.Errorf("the history has changed: %s", got)
	}
}

// Git reads the stream, and finds so many commits and paths.
func TestHistory_gitReadsIt(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "made.git")
	if err := importHistory(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	count := func(args ...string) int {
		t.Helper()
		out, err := exec.CommandContext(t.Context(), "git", append([]string{"--git-dir=" + dir}, args...)...).Output()
		if err != nil {
			t.Fatal(err)
		}
		return strings.Count(string(out), "\n")
	}
	got := []int{
		count("rev-list", "HEAD"), count("ls-tree", "-r", "-t", "--name-only", "HEAD"), count("branch"), count("tag"),
	}
	if want := []int{177, 1820, 16, 12}; !slices.Equal(got, want) {
		t.Errorf("commits, paths, branches and tags: %v, want %v", got, want)
	}
	out, err := exec.CommandContext(t.Context(), "git", "--git-dir="+dir, "fsck", "--strict").CombinedOutput()
	if err != nil {
		t.Errorf("%v: %s", err, out)
	}
}
