package receivers

import (
	"bufio"
	"errors"
	"io"
	"log/slog"
	"os/exec"
	"strings"
	"testing"

	"orbweaver/engine/page/hook"
)

// A program and what it starts have 8 MiB and no more. Without a limit the same program has 32 MiB.
func TestHook_memoryIsBounded(t *testing.T) {
	const script = `read go; x=a; i=0; while [ $((i=i+1)) -le 25 ]; do x=$x$x; done; echo has it`
	for memory, want := range map[int64]string{0: "has it", 8 << 20: ""} {
		for _, script := range []string{script, "(" + script + ")"} {
			hooks := Hooks{Command: run("/bin/sh", "-c", script), Memory: memory, Log: slog.New(slog.DiscardHandler)}
			program, err := hooks.Start(hook.PageKind)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := io.WriteString(program, "go\n"); err != nil { // as a page comes after the start
				t.Fatal(err)
			}
			said, err := io.ReadAll(program)
			program.Kill()
			if got := strings.TrimSpace(string(said)); got != want || err != nil {
				t.Errorf("%d bytes, %s: %q, %v", memory, script, got, err)
			}
		}
	}
}

// What a program has started before it is bounded is bounded, too.
func TestBound_reachesProcessesThatRun(t *testing.T) {
	const script = `(echo up; read go; x=a; i=0; while [ $((i=i+1)) -le 25 ]; do x=$x$x; done; echo has it); true`
	program := exec.CommandContext(t.Context(), "/bin/sh", "-c", script)
	in, noIn := program.StdinPipe()
	out, noOut := program.StdoutPipe()
	if err := errors.Join(noIn, noOut, program.Start()); err != nil {
		t.Fatal(err)
	}
	said := bufio.NewReader(out)
	if line, err := said.ReadString('\n'); line != "up\n" {
		t.Fatal(line, err)
	}
	bound(program.Process, 8<<20)
	_, unsent := io.WriteString(in, "go\n")
	rest, unread := io.ReadAll(said)
	if err := errors.Join(unsent, unread, program.Wait()); len(rest) > 0 || err != nil {
		t.Errorf("%q, %v", rest, err)
	}
}
