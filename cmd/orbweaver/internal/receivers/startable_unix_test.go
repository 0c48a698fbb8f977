//go:build unix

package receivers

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"orbweaver/engine/operate/upload"
	"orbweaver/engine/page/hook"
)

// loaderBinary is the head of a binary of ELF with a dynamic loader.
func loaderBinary(loader string) string {
	b := make([]byte, 64+2*56)
	copy(b, "\x7fELF\x02\x01\x01")
	b[32], b[56], b[64], b[64+56], b[64+56+8] = 64, 2, 6, 3, byte(len(b))
	return string(b) + loader + "\x00"
}

// What the system would refuse with the first page is refused at the start, and the reason is named: by --hook and by
// --on-warc-close.
func TestCheck_refusesProgramsThatCannotStart(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("PATH", os.Getenv("PATH")+":"+dir)
	for name, mode := range map[string]os.FileMode{"plain": 0o600, "good": 0o700} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"), mode); err != nil {
			t.Fatal(err)
		}
	}
	for name, c := range map[string]struct{ text, says string }{
		"garbage": {"hello\n", "neither a binary nor a script"}, "empty": {"", "neither a binary nor a script"},
		"missing":     {"#!/nonexistent/interp -x\n", `its interpreter "/nonexistent/interp" does not exist`},
		"crlf":        {"#!/bin/sh\r\n", `its interpreter "/bin/sh\r" does not exist`},
		"noint":       {"#!\n", `its interpreter "" does not exist`},
		"plainint":    {"#! " + dir + "/plain\n", `/plain" is not executable`},
		"folder":      {"#!" + dir, `is not executable`},
		"envnone":     {"#!/usr/bin/env none-such\n", `its interpreter "none-such" is not found`},
		"envsplit":    {"#!/usr/bin/env -S none-such -u\n", `its interpreter "none-such" is not found`},
		"envword":     {"#!/usr/bin/env sh -u\n", `its interpreter "sh -u" is not found`},
		"loader":      {loaderBinary("/nonexistent/ld.so"), `its loader "/nonexistent/ld.so" does not exist`},
		"goodblanks":  {"#! \t/bin/sh -e\n", ""},
		"goodenv":     {"#!/usr/bin/env -S A=b sh\n", ""},
		"goodscript":  {"#!" + dir + "/good", ""},
		"goodloader":  {loaderBinary("/bin/sh"), ""},
		"otherbinary": {"\xca\xfe\xba\xbe\x00", ""},
		"cutbinary":   {loaderBinary("/x")[:100], ""},
	} {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(c.text), 0o700); err != nil { //nolint:gosec // a program
			t.Fatal(err)
		}
		for flag, err := range map[string]error{
			"--hook link: ":      CheckHook(&hook.Options{Hooks: []string{"link=" + file + " x"}}),
			"--hook page: ":      CheckHook(&hook.Options{Hooks: []string{"page=" + name}}),
			"--on-warc-close: ":  Check(&upload.Options{Command: file + " -q"}),
			"--on-warc-close:  ": Check(&upload.Options{Command: name}),
		} {
			if (err == nil) != (c.says == "") {
				t.Errorf("%s: %v", name, err)
			} else if err != nil && (!strings.Contains(err.Error(), c.says) || !strings.Contains(err.Error(), file) ||
				!strings.HasPrefix(err.Error(), strings.TrimSpace(flag))) {
				t.Errorf("%s: %v", name, err)
			}
		}
		var out bytes.Buffer
		run := exec.CommandContext(t.Context(), file)
		run.Stdout = &out
		if isRefused := run.Start() != nil; !strings.HasPrefix(name, "env") && c.says != "" && !isRefused {
			t.Errorf("%s: the system starts it", name)
		}
		_ = run.Wait()
	}
}

// FuzzCheckLoader looks for binaries that stop the check.
func FuzzCheckLoader(f *testing.F) {
	f.Add([]byte(loaderBinary("/bin/sh")))
	f.Fuzz(func(_ *testing.T, begin []byte) { _ = checkLoader(begin) })
}
