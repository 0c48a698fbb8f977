package main

import (
	"strings"
	"testing"

	"orbweaver/internal/cli/command"
)

// Every command that talks to a running crawl finds it by the same flags.
func TestCommandsThatAskACrawlHaveTheSameFlags(t *testing.T) {
	for _, name := range []string{"ctl", "doctor", "explain", "ui"} {
		help := call(name, "--help").want(t, command.ExitDone)
		for _, flag := range []string{"--dir=DIR", "--address=ADDR", "--token=FILE"} {
			if !strings.Contains(help.out, flag) {
				t.Errorf("%s has no %s:\n%s", name, flag, help.out)
			}
		}
	}
	missing := t.TempDir() + "/control.sock"
	for _, args := range [][]string{
		{"ctl", "seeds", "--address", "unix:" + missing}, {"doctor", "--address", "unix:" + missing},
	} {
		call(args...).want(t, command.ExitFailed, "no crawl is running there", missing)
	}
}

// ctl seeds asks a running crawl, and reads the directory of a stopped one.
func TestCtlSeeds(t *testing.T) {
	w, dir := serve(t), t.TempDir()
	call("ctl", "seeds", "--dir", dir).want(t, command.ExitFailed, "no crawl is running there")
	t.Run("running", func(t *testing.T) {
		running(t, w, dir)
		r := call("ctl", "seeds", "--dir", dir, "--state", "fetched").want(t, command.ExitDone)
		if !strings.Contains(r.out, w.roots[0]) || !strings.Contains(r.out, " seeds that match; all: ") {
			t.Error(r.out)
		}
		call("ctl", "seeds", "--dir", dir, "--state", "gone").want(t, command.ExitFailed, `state: "gone" is not one of`)
		call("explain", "--dir", dir, w.roots[0]).want(t, command.ExitDone)
	})
	stopped := call("ctl", "seeds", "--dir", dir, "--json").want(t, command.ExitDone).object(t)
	if n := len(stopped["seeds"].([]any)); n != len(w.roots) {
		t.Errorf("%d seeds of a stopped crawl, want %d", n, len(w.roots))
	}
	call("explain", "--dir", dir, "--address", "unix:"+dir+"/control.sock", w.roots[0]).want(
		t, command.ExitFailed, "no crawl is running there",
	)
}
