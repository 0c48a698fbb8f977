//go:build unix

package main

import (
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"orbweaver/internal/cli/command"
	"orbweaver/internal/cli/process"
)

// stored waits until a child's crawl has some pages.
func stored(t *testing.T, dir string, pages int64) {
	t.Helper()
	soon(t, "pages in the child's crawl", func() bool {
		r := call("ctl", "status", "--dir", dir, "--json")
		return r.code == command.ExitDone && number(t, r.object(t), "pages_stored") >= pages
	})
}

// resumes runs the crawl again to its end: every page is there, and fsck has nothing to say.
func resumes(t *testing.T, w *web, dir string) {
	t.Helper()
	m := call("crawl", "--dir", dir, "--host-delay", "0", "--stall-wait", "5s", "--json").want(
		t, command.ExitDone,
	).object(t)
	if m["state"] != "finished" || number(t, m, "pages_stored") != w.pages {
		t.Errorf("run again: %v; the web has %d pages", m, w.pages)
	}
	call("fsck", dir).want(t, command.ExitDone)
}

// A closed terminal and a service manager mean the same: finish what is under way, save all, say so. (A hang-up reloads
// nothing, as it does with many servers: what can change while a crawl runs is changed by orbweaver ctl, which answers
// whether it was taken.)
func TestHostile_S14_aHangUpStopsTheCrawlInOrderLikeSIGTERM(t *testing.T) {
	// A child inherits that a hang-up is ignored, which it is when the tests run under nohup, but not that it is
	// caught.
	caught := make(chan os.Signal, 1)
	signal.Notify(caught, syscall.SIGHUP)
	defer signal.Stop(caught)
	for _, s := range []syscall.Signal{syscall.SIGHUP, syscall.SIGTERM} {
		w, dir := serve(t), t.TempDir()
		cmd, errs := child(t, w.crawl(dir, 300*time.Millisecond)...)
		stored(t, dir, 5)
		if err := cmd.Process.Signal(s); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait() // the status is looked at below
		if code := cmd.ProcessState.ExitCode(); code != command.ExitStopped {
			t.Fatalf("%v: exit status %d:\n%s", s, code, errs)
		}
		if m := readReport(t, dir); m["state"] != "stopped" {
			t.Errorf("%v: %v", s, m)
		}
		resumes(t, w, dir)
	}
}

// Under nohup a hang-up is nothing.
func TestHostile_S14_underNohupAHangUpIsNothing(t *testing.T) {
	w, dir := serve(t), t.TempDir()
	line := append([]string{"sh", "-c", `trap '' HUP; exec "$0" "$@"`, program()}, w.crawl(dir, 100*time.Millisecond)...)
	cmd, errs := childOf(t, line...)
	stored(t, dir, 3)
	if err := cmd.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // the status is looked at below
	if m := readReport(t, dir); cmd.ProcessState.ExitCode() != command.ExitDone ||
		number(t, m, "pages_stored") != w.pages {
		t.Errorf("%v:\n%s", m, errs)
	}
}

// The reader of the messages ends (orbweaver crawl 2>&1 | head): the crawl goes on to its end.
func TestHostile_S14_aClosedPipeForItsWordsDoesNotEndTheCrawl(t *testing.T) {
	w, dir := serve(t), t.TempDir()
	cmd := exec.CommandContext(t.Context(), program(), w.crawl(dir, 50*time.Millisecond, "--json")...)
	cmd.Env = append(os.Environ(), asProgram+"=1")
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdout, cmd.Stderr = write, write
	if err := read.Close(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if err := write.Close(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // the status is looked at below
	if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); !ok || status.Signaled() {
		t.Errorf("it was ended: %v", cmd.ProcessState)
	}
	if m := readReport(t, dir); m["state"] != "finished" || number(t, m, "pages_stored") != w.pages {
		t.Errorf("%v; the web has %d pages", m, w.pages)
	}
}

// SIGQUIT ends the process on the spot, with its stacks; what is on disk goes on.
func TestHostile_S14_aQuitWithStacksLeavesAResumableCrawl(t *testing.T) {
	w, dir := serve(t), t.TempDir()
	cmd, errs := child(t, w.crawl(dir, 200*time.Millisecond)...)
	stored(t, dir, 5)
	if err := cmd.Process.Signal(syscall.SIGQUIT); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // the status is looked at below
	if s := errs.String(); cmd.ProcessState.Success() || !strings.Contains(s, "goroutine ") {
		t.Errorf("no stacks:\n%.300s", s)
	}
	resumes(t, w, dir)
}

// A second process is refused and told whose the directory is; the first does not notice. When the first is killed, its
// lock goes with it, and what it left behind blocks no process.
func TestHostile_S09_aSecondProcessIsRefusedByNameAndAKillReleasesTheLock(t *testing.T) {
	w, dir := serve(t), t.TempDir()
	cmd, _ := child(t, w.crawl(dir, 300*time.Millisecond)...)
	stored(t, dir, 3)
	call(
		w.crawl(dir, 0)...).want(t, command.ExitFailed, "in use by another process",
		"process "+strconv.Itoa(cmd.Process.Pid), dir)
	if boot, _ := process.BootClock(); boot != "" {
		call(w.crawl(dir, 0)...).want(t, command.ExitFailed, "boot "+boot)
	}
	call("fsck", dir).want(t, command.ExitFailed, "in use")
	stored(t, dir, 5)
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // killed
	resumes(t, w, dir)
}
