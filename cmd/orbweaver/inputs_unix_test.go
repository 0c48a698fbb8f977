//go:build unix

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Commands that read an archive once and in order read it from a pipe, too.
func TestStandardInputIsAnArchive(t *testing.T) {
	dir := t.TempDir()
	for form, text := range map[string]string{
		"gzip": gzipMembers(warcOf("1.1")...), "plain": strings.Join(warcOf("1.0"), ""), "arc": strings.Join(arcOf(1), ""),
	} {
		for _, words := range []string{
			"warc ls -", "warc cat --payload -", "warc index -", "warc verify -",
			"warc recompress - -o " + filepath.Join(dir, form+".warc.gz"),
			"warc repair - -o " + filepath.Join(dir, form+"-2.warc.gz"),
		} {
			cmd := exec.CommandContext(t.Context(), program(), strings.Fields(words)...)
			cmd.Env = append(os.Environ(), asProgram+"=1")
			cmd.Stdin = strings.NewReader(text)
			if out, err := cmd.CombinedOutput(); err != nil || len(out) == 0 {
				t.Errorf("%s, %s: %v: %s", form, words, err, out)
			}
		}
	}
}
