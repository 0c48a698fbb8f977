package receivers

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os/exec"
	"sync"
	"time"

	"github.com/tetratelabs/wazero"

	"orbweaver/engine/page/hook"
)

// CheckHook reports what is wrong with --hook, and each program of it that cannot be started.
func CheckHook(o *hook.Options) error {
	faults := []error{o.Validate()}
	for _, kind := range hook.Kinds() {
		args := o.Command(kind)
		if len(args) == 0 {
			continue
		}
		check := checkProgram
		if isModule(args) {
			check = checkModule
		}
		if err := check(args[0]); err != nil {
			faults = append(faults, fmt.Errorf("--hook %s: %w", kind, err))
		}
	}
	return errors.Join(faults...)
}

// Hooks starts the programs of --hook. It implements hook.Starter.
type Hooks struct {
	Command func(kind string) []string // program and arguments
	Memory  int64                      // that each process may write to, in bytes; 0 for no limit
	Log     *slog.Logger

	modules wazero.CompilationCache
}

// NewHooks returns a Hooks for the programs of the options.
func NewHooks(o *hook.Options, log *slog.Logger) *Hooks {
	return &Hooks{Command: o.Command, Memory: o.Memory, Log: log, modules: wazero.NewCompilationCache()}
}

// Start implements hook.Starter. The program is a WebAssembly module within this process, or the first of a process
// group of its own.
func (h *Hooks) Start(kind string) (hook.Program, error) {
	args := h.Command(kind)
	if isModule(args) {
		return startModule(args, h.Memory, h.modules, h.Log), nil
	}
	run := exec.Command(args[0], args[1:]...) //nolint:noctx // it ends with Kill
	run.Env, run.WaitDelay, run.SysProcAttr = ownEnvironment(), time.Second, ownGroup()
	run.Stderr = &lineLog{log: h.Log}
	in, err := run.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("--hook: %w", err)
	}
	out, err := run.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("--hook: %w", err)
	}
	if err := run.Start(); err != nil {
		return nil, fmt.Errorf("--hook: %w", err)
	}
	bound(run.Process, h.Memory)
	return &child{ReadCloser: out, in: in, run: run}, nil
}

// child is a program that was started. It implements hook.Program.
type child struct {
	io.ReadCloser // its output

	in   io.WriteCloser
	run  *exec.Cmd
	once sync.Once
}

func (c *child) Write(b []byte) (int, error) { return c.in.Write(b) }

// CloseInput implements hook.Program.
func (c *child) CloseInput() { _ = c.in.Close() }

// Kill implements hook.Program. The program has not been waited for, so its number is still its own.
func (c *child) Kill() {
	c.once.Do(func() {
		killGroup(c.run.Process)
		_ = c.in.Close()
		_ = c.Close()
		_ = c.run.Wait()
	})
}

// lineLog logs what a program writes to its standard error: at most linesMost lines in a second, with at most tailMost
// bytes each.
type lineLog struct {
	log    *slog.Logger
	line   []byte
	second time.Time // when the count began
	lines  int       // since then
}

const linesMost = 10

func (l *lineLog) Write(b []byte) (int, error) {
	for part := range bytes.Lines(b) {
		room := max(tailMost-len(l.line), 0)
		l.line = append(l.line, part[:min(len(part), room)]...)
		if part[len(part)-1] == '\n' {
			l.end()
		}
	}
	return len(b), nil
}

func (l *lineLog) end() {
	line := string(bytes.TrimSpace(l.line))
	l.line = l.line[:0]
	now := time.Now()
	if now.Sub(l.second) >= time.Second {
		if left := l.lines - linesMost; left > 0 {
			l.log.Warn("lines of --hook were left out", "lines", left)
		}
		l.second, l.lines = now, 0
	}
	if l.lines++; l.lines <= linesMost && line != "" {
		l.log.Info("standard error of --hook", "line", line)
	}
}
