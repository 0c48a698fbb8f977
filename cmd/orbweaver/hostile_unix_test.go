//go:build unix

package main

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"orbweaver/internal/cli/command"
)

// The program says what it has to say into a pipe that is full and has no reader, and into a file on a full disk:
// the crawl goes on to its end and is saved; in the first case it waits for its reader then, as any program does.
func TestHostile_S17_nobodyReadsWhatTheCrawlSays(t *testing.T) {
	w, dir := serve(t), t.TempDir()
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := write.SetWriteDeadline(time.Now().Add(20 * time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	filled, err := write.Write(make([]byte, 1<<21))
	if !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatal("the pipe is not full:", err)
	}
	cmd := exec.CommandContext(t.Context(), program(), w.crawl(dir, 0, "--progress", "plain")...)
	cmd.Env = append(os.Environ(), asProgram+"=1")
	cmd.Stderr = write
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if err := write.Close(); err != nil {
		t.Fatal(err)
	}
	soon(t, "a finished crawl", func() bool {
		b, err := os.ReadFile(dir + "/report.json")
		return err == nil && strings.Contains(string(b), `"finished"`)
	})
	said, err := io.ReadAll(read)
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
	if m := readReport(t, dir); number(t, m, "pages_stored") != w.pages {
		t.Errorf("%v; the web has %d pages", m, w.pages)
	}
	if text := string(said[filled:]); !strings.Contains(text, "memory") || !strings.Contains(text, "finished: ") {
		t.Errorf("it said %q", text)
	}

	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		return // not every system has one
	}
	defer full.Close()
	dir = t.TempDir()
	cmd = exec.CommandContext(t.Context(), program(), w.crawl(dir, 0, "--progress", "plain")...)
	cmd.Env = append(os.Environ(), asProgram+"=1")
	cmd.Stderr = full
	if err := cmd.Run(); err != nil {
		t.Error(err)
	}
	if m := readReport(t, dir); m["state"] != "finished" || number(t, m, "pages_stored") != w.pages {
		t.Errorf("%v; the web has %d pages", m, w.pages)
	}
}

// Nine tenths of the processor are stolen: the process runs for 5 ms and stands still for 45. It is slower, every page
// is there, no server is blamed, and nothing is asked for twice. So with 512 processors, that are not there.
func TestHostile_S15_withMostOfTheProcessorStolenNobodyIsBlamed(t *testing.T) {
	for _, processors := range []string{"1", "512"} {
		w, dir := serve(t), t.TempDir()
		cmd := exec.CommandContext(t.Context(), program(), w.crawl(dir, 0)...)
		cmd.Env = append(os.Environ(), asProgram+"=1", "GOMAXPROCS="+processors)
		said := new(buffer)
		cmd.Stderr = said
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() { ended <- cmd.Wait() }()
		beat := time.NewTicker(50 * time.Millisecond)
		stolen := 0
	steal:
		for {
			select {
			case err := <-ended:
				if err != nil {
					t.Errorf("%v:\n%s", err, said)
				}
				break steal
			case <-beat.C:
				if stolen < 60 { // three seconds are enough
					_ = cmd.Process.Signal(syscall.SIGCONT) // it may have ended
					<-time.After(5 * time.Millisecond)
					_ = cmd.Process.Signal(syscall.SIGSTOP)
					stolen++
				} else {
					_ = cmd.Process.Signal(syscall.SIGCONT)
				}
			}
		}
		beat.Stop()
		m := readReport(t, dir)
		balanced(t, m)
		outcomes, ok := m["outcomes"].(map[string]any)
		if !ok || number(t, outcomes, "ok") != w.pages || len(outcomes) != 1 || number(t, m, "retries") != 0 ||
			number(t, m, "local_faults") != 0 ||
			stolen < 3 {
			t.Errorf("%s processors, stolen %d times: %v", processors, stolen, m)
		}
	}
}

// The crawl directory is deleted under a running crawl: it ends, with one clear line.
func TestHostile_S04_aDeletedDirectoryEndsTheCrawlWithOneLine(t *testing.T) {
	w, dir := serve(t), t.TempDir()+"/crawl"
	cmd, errs := child(t, w.crawl(dir, 300*time.Millisecond, "--checkpoint", "1s", "--progress", "none")...)
	stored(t, dir, 3)
	err := os.RemoveAll(dir)
	for range 100 { // the crawl may make a file in a directory that is removed
		if err == nil {
			break
		}
		err = os.RemoveAll(dir)
	}
	if err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // the status is looked at below
	if code := cmd.ProcessState.ExitCode(); code != command.ExitFailed {
		t.Errorf("exit status %d", code)
	}
	last := ""
	told := 0
	for line := range strings.Lines(errs.String()) {
		if strings.HasPrefix(line, "orbweaver: ") {
			last = line
			told++
		}
	}
	if told != 1 || !strings.Contains(last, "no such file") || !strings.Contains(last, dir) ||
		!strings.HasSuffix(errs.String(), last) {
		t.Errorf("it said:\n%s", errs)
	}
}
