//go:build scenario

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"orbweaver/internal/cli/command"
)

// Two processes crawl. The file of a2 was stolen: it gets a new one, and the gossip key is changed in three steps, with
// ctl reload alone. The processes go on and end by themselves, with each page once. Then neither a process with the
// stolen file of a2 is taken by a1, which was started again, nor does a2 start with it.
func TestHostilePeer_P5_theGossipKeyOfRunningAgentsIsChanged(t *testing.T) {
	w, dir := serve(t), t.TempDir()
	ca := filepath.Join(dir, "ca")
	file := func(name string) string { return filepath.Join(ca, name+".agent") }
	call("ca", "init", "--dir", ca).want(t, command.ExitDone)
	for _, name := range []string{"a1", "a2"} {
		call("ca", "issue", name, "--dir", ca).want(t, command.ExitDone)
	}
	b, err := os.ReadFile(file("a2"))
	if err != nil {
		t.Fatal(err)
	}
	stolen := filepath.Join(dir, "stolen.agent")
	if err := os.WriteFile(stolen, b, 0o600); err != nil {
		t.Fatal(err)
	}
	here, there := gossipPort(t), gossipPort(t)
	one, other := filepath.Join(dir, "1"), filepath.Join(dir, "2")
	args := func(dir, name, at string) []string {
		return w.crawl(
			dir, 200*time.Millisecond, "--agent", name, "--gossip", at, "--join", here, "--agent-file", file(name), "--agents",
			"2",
		)
	}
	first, said := child(t, args(one, "a1", here)...)
	second, said2 := child(t, args(other, "a2", there)...)
	soon(t, "both crawl", func() bool {
		r := call("ctl", "agents", "--dir", one)
		return r.code == command.ExitDone && strings.Count(r.out, " alive ") == 2
	})
	reload := func(keys string) {
		t.Helper()
		for _, d := range []string{one, other} {
			call("ctl", "reload", "--dir", d).want(t, command.ExitDone, "was read again", keys)
		}
	}
	call("ca", "issue", "a2", "--dir", ca, "--force").want(t, command.ExitDone)
	for _, step := range [][2]string{
		{"add", "gossip key 1, and 2 is accepted"}, {"use", "gossip key 2, and 1 is accepted"}, {"remove", "gossip key 2"},
	} {
		call("ca", "gossip-key", step[0], "--dir", ca).want(t, command.ExitDone)
		reload(step[1])
	}
	if r := call("ctl", "agents", "--dir", one).want(t, command.ExitDone); strings.Count(r.out, " alive ") != 2 {
		t.Errorf("after the change: %s", r.out)
	}
	if err := first.Wait(); err != nil {
		t.Fatal(err, said)
	}
	if err := second.Wait(); err != nil {
		t.Fatal(err, said2)
	}
	w.once(t, one, other)
	kept, err := os.ReadFile(filepath.Join(one, "generations.json"))
	if err != nil || !strings.Contains(string(kept), `"a2"`) {
		t.Errorf("%s: %s %v", "generations.json", kept, err)
	}
	call("crawl", "--dir", other, "--agent-file", stolen).want(
		t, command.ExitFailed, "its certificate was replaced by a newer one", "ca issue a2 --force",
	)
	thief := w.crawl(
		filepath.Join(dir, "3"), time.Second, "--agent", "a2", "--gossip", there, "--join", here, "--agent-file", stolen,
	)
	again, said := child(
		t,
		w.crawl(filepath.Join(dir, "4"), time.Second, "--agent", "a1", "--gossip", here, "--agent-file", file("a1"))...)
	soon(t, "a1 crawls again", func() bool { return strings.Contains(said.String(), "is known to the others") })
	call(thief...).want(t, command.ExitFailed, "other gossip key")
	call("ctl", "stop", "--dir", filepath.Join(dir, "4")).want(t, command.ExitDone)
	_ = again.Wait() // it was stopped
}

// ctl reload says what it cannot do.
func TestReload_saysWhatIsWrong(t *testing.T) {
	w, dir := serve(t), t.TempDir()
	alone, said := child(t, w.crawl(dir, time.Second)...)
	soon(t, "it crawls", func() bool { return call("ctl", "status", "--dir", dir).code == command.ExitDone })
	call("ctl", "reload", "--dir", dir).want(t, command.ExitFailed, "this crawl is one process alone")
	call("ctl", "stop", "--dir", dir).want(t, command.ExitDone)
	_ = alone.Wait() // it was stopped
	_ = said
}
