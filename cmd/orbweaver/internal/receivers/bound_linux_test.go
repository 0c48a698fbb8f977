package receivers

import (
	"io"
	"log/slog"
	"strings"
	"testing"

	"orbweaver/engine/page/hook"
)

// A program and what it starts have 8 MiB and no more. Without a limit the same program has 32 MiB.
func TestHook_memoryIsBounded(t *testing.T) {
	const script = `x=a; i=0; while [ $((i=i+1)) -le 25 ]; do x=$x$x; done; echo has it`
	for memory, want := range map[int64]string{0: "has it", 8 << 20: ""} {
		for _, script := range []string{script, "(" + script + ")"} {
			hooks := Hooks{Command: run("/bin/sh", "-c", script), Memory: memory, Log: slog.New(slog.DiscardHandler)}
			program, err := hooks.Start(hook.PageKind)
			if err != nil {
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
