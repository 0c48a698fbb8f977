package main

import (
	"runtime/debug"
	"strings"
	"testing"

	"orbweaver/internal/cli/command"
)

func TestVersion(t *testing.T) {
	command, flag := call("version").want(t, command.ExitDone), call("--version").want(t, command.ExitDone)
	if !strings.HasPrefix(command.out, "orbweaver "+version+" (commit ") || strings.Count(command.out, "\n") != 1 {
		t.Errorf("orbweaver version prints %q", command.out)
	}
	if flag.out != command.out {
		t.Errorf("orbweaver --version prints %q, and orbweaver version %q", flag.out, command.out)
	}
}

func TestCommitOf(t *testing.T) {
	revision := debug.BuildSetting{Key: "vcs.revision", Value: "0a1b2c"}
	clean := debug.BuildSetting{Key: "vcs.modified", Value: "false"}
	modified := debug.BuildSetting{Key: "vcs.modified", Value: "true"}
	checkout := &debug.BuildInfo{Settings: []debug.BuildSetting{revision, clean}}
	changed := &debug.BuildInfo{Settings: []debug.BuildSetting{revision, modified}}
	for _, c := range []struct {
		what, stamped, want string
		info                *debug.BuildInfo
	}{
		{"a checkout", "", "0a1b2c", checkout},
		{"a checkout with changes", "", "0a1b2c, modified", changed},
		{"a commit for the linker", "3d4e5f", "3d4e5f", checkout},
		{"a build outside of git", "", "unknown, since", &debug.BuildInfo{}},
		{"a build without information", "", "unknown, since", nil},
	} {
		if got := commitOf(c.stamped, c.info); got != c.want && !strings.HasPrefix(got, c.want+" ") {
			t.Errorf("%s: got %q, want %q", c.what, got, c.want)
		}
	}
}
