//go:build unix

package command

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A file of another user's crawl is named with its owner, wherever in the error it is. So is a place to write to.
func TestExit_saysAsWhichUserToRun(t *testing.T) {
	dir := t.TempDir()
	closed := filepath.Join(dir, "frontier")
	if err := os.Mkdir(closed, 0o700); err != nil {
		t.Fatal(err)
	}
	other := closed
	if os.Geteuid() != 0 {
		other = "/root" // it is there, or the test says so below
	} else if err := os.Chown(closed, 65534, 65534); err != nil {
		t.Skip(err)
	}
	denied := func(name string) error {
		return fmt.Errorf("manifest: %w", &fs.PathError{Op: "open", Path: name, Err: fs.ErrPermission})
	}
	for want, err := range map[string]error{
		other + " belongs to user ":   errors.Join(errors.New("another fault"), denied(other)),
		"run the command as ":         Misuse(denied(other)),
		dir + " belongs to this user": denied(dir),
		"that user ":                  denied(filepath.Join(other, "new")),
		"orbweaver: manifest: open " + closed + ": permission denied": denied(closed),
	} {
		var said strings.Builder
		inv := &Invocation{Stderr: &said}
		if status := inv.Exit(err); status == ExitDone || !strings.Contains(said.String(), want) {
			t.Errorf("%v: %d, %s, want %q", err, status, said.String(), want)
		}
	}
	var said strings.Builder
	inv := &Invocation{Stderr: &said}
	inv.Exit(errors.New("the disk is full"))
	if strings.Contains(said.String(), "belongs") {
		t.Error(said.String())
	}
}
