//go:build unix

package receivers

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"orbweaver/engine/page/hook"
)

// moduleOf is a WebAssembly module with a page of memory and a function _start of these instructions.
func moduleOf(instructions string) []byte {
	const head = "\x00asm\x01\x00\x00\x00" + "\x01\x04\x01\x60\x00\x00" + "\x03\x02\x01\x00" + "\x05\x03\x01\x00\x01" +
		"\x07\x0a\x01\x06_start\x00\x00"
	n := byte(len(instructions) + 2) // with the number of locals, and the end
	return []byte(head + "\x0a" + string([]byte{n + 2, 1, n, 0}) + instructions + "\x0b")
}

// writeModule writes a module into a file.
func writeModule(t *testing.T, code []byte) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "x.wasm")
	if err := os.WriteFile(file, code, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// A module that does wrong costs the answer: each page is back in bounded time, and nothing of it runs on.
func TestModule_survivesHostileOnes(t *testing.T) {
	for name, code := range map[string][]byte{
		"loops":             moduleOf("\x03\x40\x0c\x00\x0b"),
		"traps":             moduleOf("\x00"),
		"ends":              moduleOf(""),
		"allocates":         moduleOf("\x03\x40\x41\x01\x40\x00\x1a\x0c\x00\x0b"),
		"writes everywhere": moduleOf("\x41\x7f\x41\x07\x36\x02\x00"),
		"calls itself":      moduleOf("\x10\x00"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := writeModule(t, code)
			o := hook.Options{Hooks: []string{"page=" + file}, Parallel: 4, Memory: 8 << 20, Timeout: 300 * time.Millisecond}
			if err := CheckHook(&o); err != nil {
				t.Fatal(err)
			}
			log := slog.New(slog.DiscardHandler)
			h := hook.New(o, NewHooks(&o, log), log)
			body := make([]byte, 1<<20)
			began := time.Now()
			var asks sync.WaitGroup
			for range 8 {
				asks.Go(func() {
					answer, err := h.Ask(context.Background(), &hook.Page{URL: "http://a.test/"}, body)
					if len(answer.Links) > 0 || err != nil {
						t.Errorf("%+v, %v", answer, err)
					}
				})
			}
			asks.Wait()
			if err := h.Close(); err != nil { // it waits for the goroutine of the module
				t.Error(err)
			}
			if took := time.Since(began); took > 30*time.Second {
				t.Errorf("it took %v", took)
			}
			if stats := h.Stats(); stats.Pages["answered"] > 0 || stats.Error == "" {
				t.Errorf("%+v", stats)
			}
		})
	}
}

// The Go example of the docs runs as a module too, and has no files. What is no program is refused.
func TestModule_runsTheExample(t *testing.T) {
	file := buildExample(t, filepath.Join(t.TempDir(), "example.wasm"), "GOOS=wasip1", "GOARCH=wasm")
	o := hook.Options{Hooks: []string{"page=" + file}}
	if err := CheckHook(&o); err != nil {
		t.Error(err)
	}
	checkExample(t, file)
	noStart := strings.Replace(string(moduleOf("")), "_start", "_begin", 1)
	for name, code := range map[string]string{
		"is no WebAssembly module": "\x00asm garbage", "exports no function _start": noStart,
	} {
		o := hook.Options{Hooks: []string{"page=" + writeModule(t, []byte(code))}}
		if err := CheckHook(&o); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := CheckHook(&hook.Options{Hooks: []string{"link=/no/such.wasm"}}); err == nil {
		t.Error("a file that is not there is not refused")
	}
}
