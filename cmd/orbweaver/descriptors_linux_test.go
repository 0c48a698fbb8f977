package main

import (
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"orbweaver/internal/cli/command"
)

// limitFiles changes the limit of open files of another process.
func limitFiles(t *testing.T, pid int, files uint64) {
	t.Helper()
	limit := syscall.Rlimit{Cur: files, Max: 1 << 10}
	_, _, errno := syscall.RawSyscall6(
		syscall.SYS_PRLIMIT64, uintptr(pid), syscall.RLIMIT_NOFILE, uintptr(unsafe.Pointer(&limit)), 0, 0, 0,
	)
	if errno != 0 {
		t.Fatal(errno)
	}
}

// limited starts the program with a hard limit of open files.
func limited(t *testing.T, files string, args ...string) (*exec.Cmd, *buffer) {
	t.Helper()
	return childOf(t, append([]string{"sh", "-c", "ulimit -n " + files + ` && exec "$0" "$@"`, program()}, args...)...)
}

// The limit of open files is 256, and 1024 workers are asked for: the crawl says what it can do, does that, and gets
// every page.
func TestHostile_S12_withAnOpenFileLimitOf256TheCrawlHasFewerWorkersAndGetsAll(t *testing.T) {
	w, dir := serve(t), t.TempDir()
	cmd, errs := limited(t, "256", w.crawl(dir, 0, "--fetchers", "1024")...)
	_ = cmd.Wait() // the status is looked at below
	if code := cmd.ProcessState.ExitCode(); code != command.ExitDone {
		t.Fatalf("exit status %d:\n%s", code, errs)
	}
	if s := errs.String(); !strings.Contains(s, "limit=256 needs=1888 fetchers=103 asked=1024 resolvers=16") {
		t.Errorf("stderr:\n%s", s)
	}
	m := readReport(t, dir)
	if number(t, m, "pages_stored") != w.pages || number(t, m, "local_faults") != 0 {
		t.Errorf("%v; the web has %d pages", m, w.pages)
	}
}

func TestHostile_S12_aLimitThatIsTooLowForAnyCrawlIsRefusedWithTheFigure(t *testing.T) {
	w, dir := serve(t), t.TempDir()
	cmd, errs := limited(t, "64", w.crawl(dir, 0)...)
	_ = cmd.Wait() // the status is looked at below
	if code := cmd.ProcessState.ExitCode(); code != command.ExitFailed ||
		!strings.Contains(errs.String(), "is 64, and a crawl needs at least 116: raise it (ulimit -n 628)") {
		t.Errorf("exit status %d:\n%s", code, errs)
	}
}

// The limit falls below what is open while the crawl runs: connections and files cannot be opened. It waits, says so,
// blames no host, and gets every page when the limit is raised again.
func TestHostile_S12_descriptorsThatRunOutInMidCrawlAreWaitedFor(t *testing.T) {
	w, dir := serve(t), t.TempDir()
	cmd, errs := child(t, w.crawl(dir, 200*time.Millisecond, "--checkpoint", "1s")...)
	soon(t, "pages in the child's crawl", func() bool {
		r := call("ctl", "status", "--dir", dir, "--json")
		return r.code == command.ExitDone && number(t, r.object(t), "pages_stored") >= 5
	})
	limitFiles(t, cmd.Process.Pid, 5)
	soon(t, "a line about it", func() bool {
		s := errs.String()
		return strings.Contains(s, "no file descriptor or port") || strings.Contains(s, "no file descriptors left")
	})
	limitFiles(t, cmd.Process.Pid, 1<<10)
	_ = cmd.Wait() // the status is looked at below
	if code := cmd.ProcessState.ExitCode(); code != command.ExitDone {
		t.Fatalf("exit status %d:\n%s", code, errs)
	}
	m := readReport(t, dir)
	balanced(t, m)
	if number(t, m, "pages_stored") != w.pages {
		t.Errorf("%v; the web has %d pages:\n%s", m, w.pages, errs)
	}
}
