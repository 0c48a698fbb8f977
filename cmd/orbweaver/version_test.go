package main

import (
	"runtime/debug"
	"strings"
	"testing"
)

func TestVersion(t *testing.T) {
	command, flag := call("version").want(t, exitDone), call("--version").want(t, exitDone)
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
		what, want string
		info       *debug.BuildInfo
	}{
		{"a checkout", "0a1b2c", checkout},
		{"a checkout with changes", "0a1b2c, modified", changed},
		{"a build outside of git", "unknown", &debug.BuildInfo{}},
		{"a build without information", "unknown", nil},
	} {
		if got := commitOf(c.info); got != c.want {
			t.Errorf("%s: got %q, want %q", c.what, got, c.want)
		}
	}
}
