package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// asProgram makes the test's own binary behave as orbweaver-bench.
const asProgram = "RUN_AS_ORBWEAVER_BENCH"

// TestMain builds orbweaver, which the agents run. The test's binary is the simulated web of the other benchmarks.
func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		main()
	}
	dir, err := os.MkdirTemp("", "orbweaver-bench-")
	if err != nil {
		panic(err)
	}
	program := filepath.Join(dir, "orbweaver")
	build := exec.Command("go", "build", "-C", "../../..", "-o", program, "./cmd/orbweaver")
	if said, err := build.CombinedOutput(); err != nil {
		panic(fmt.Sprintf("%v: %s", err, said))
	}
	for name, value := range map[string]string{
		asProgram: "1", "PROGRAM_UNDER_TEST": program, "XDG_CONFIG_HOME": dir, // so no key of settings is made at home
	} {
		if err := os.Setenv(name, value); err != nil {
			panic(err)
		}
	}
	goleak.VerifyTestMain(m, goleak.Cleanup(func(exit int) {
		_ = os.RemoveAll(dir)
		os.Exit(exit)
	}))
}

// buffer takes what several goroutines write.
type buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

type result struct {
	code     int
	out, err string
}

// call runs a command in this process.
func call(args ...string) result {
	var out, errs buffer
	code := run(args, strings.NewReader(""), &out, &errs)
	return result{code, out.String(), errs.String()}
}

// orbweaver runs a command of orbweaver.
func orbweaver(t *testing.T, args ...string) result {
	t.Helper()
	var out, errs buffer
	cmd := exec.CommandContext(t.Context(), os.Getenv("PROGRAM_UNDER_TEST"), args...)
	cmd.Stdout, cmd.Stderr = &out, &errs
	_ = cmd.Run() // the status says what went wrong
	return result{cmd.ProcessState.ExitCode(), out.String(), errs.String()}
}

// want checks the exit status, and that stderr has each of the words.
func (r result) want(t *testing.T, code int, words ...string) result {
	t.Helper()
	if r.code != code {
		t.Fatalf("exit status %d, want %d; stdout:\n%s\nstderr:\n%s", r.code, code, r.out, r.err)
	}
	for _, w := range words {
		if !strings.Contains(r.err, w) {
			t.Errorf("stderr lacks %q:\n%s", w, r.err)
		}
	}
	return r
}

// object reads stdout as one JSON object.
func (r result) object(t *testing.T) map[string]any {
	t.Helper()
	var m map[string]any
	if err := json.Unmarshal([]byte(r.out), &m); err != nil {
		t.Fatalf("stdout is not JSON: %v\n%s", err, r.out)
	}
	return m
}

// child starts this binary as orbweaver-bench in a process of its own.
func child(t *testing.T, args ...string) (*exec.Cmd, *buffer) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], args...)
	errs := new(buffer)
	cmd.Stdout, cmd.Stderr = errs, errs
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd, errs
}

func writeFile(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func number(t *testing.T, m map[string]any, key string) int64 {
	t.Helper()
	f, ok := m[key].(float64)
	if !ok {
		t.Fatalf("%s is %v, which is not a number", key, m[key])
	}
	return int64(f)
}

// soon waits until ok, and fails the test when that takes too long.
func soon(t *testing.T, what string, ok func() bool) {
	t.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	end := time.After(2 * time.Minute) // on a busy machine; what hangs takes for ever
	for !ok() {
		select {
		case <-tick.C:
		case <-end:
			t.Fatalf("%s: not within two minutes", what)
		}
	}
}
