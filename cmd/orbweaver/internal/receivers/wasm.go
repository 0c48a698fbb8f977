package receivers

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"sync"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"

	"orbweaver/engine/page/hook"
)

// isModule reports whether the program of a hook is a WebAssembly module.
func isModule(args []string) bool { return strings.HasSuffix(args[0], ".wasm") }

// startOfModule is what WASI calls the function that runs a program.
const startOfModule = "_start"

// checkModule reports if a file is no WebAssembly module that is a program.
func checkModule(file string) (err error) {
	code, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	ctx := context.Background() //nolint:forbidigo // nothing is run
	runtime := wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfigInterpreter())
	defer func() { err = errors.Join(err, runtime.Close(ctx)) }()
	module, err := runtime.CompileModule(ctx, code)
	if err != nil {
		return fmt.Errorf("%s is no WebAssembly module: %w", file, err)
	}
	if module.ExportedFunctions()[startOfModule] == nil {
		return fmt.Errorf("%s exports no function %s: build it as a program of WASI", file, startOfModule)
	}
	return nil
}

// Memory of a module: it comes in pages, and has 4 GiB at most.
const (
	modulePage  = 64 << 10
	modulePages = 1 << 16
)

// moduleRun is a WebAssembly module that was started. It reads and writes the same frames as any program of a hook, and
// has neither files nor network nor clock. It implements hook.Program.
type moduleRun struct {
	*io.PipeReader // its output

	in    *io.PipeWriter
	ownIn *io.PipeReader // the other end of in
	end   context.CancelFunc
	done  sync.WaitGroup
}

// startModule starts a module in a goroutine, which also compiles it.
func startModule(args []string, memory int64, cache wazero.CompilationCache, log *slog.Logger) hook.Program {
	ctx, end := context.WithCancel(context.Background()) //nolint:forbidigo // it ends with Kill
	ownIn, in := io.Pipe()
	out, ownOut := io.Pipe()
	run := &moduleRun{PipeReader: out, in: in, ownIn: ownIn, end: end}
	pages := uint32(modulePages)
	if memory > 0 {
		pages = uint32(min(max(memory/modulePage, 1), modulePages))
	}
	of := wazero.NewRuntimeConfig().WithCloseOnContextDone(true).WithMemoryLimitPages(pages).WithCompilationCache(cache)
	with := wazero.NewModuleConfig().WithArgs(args...).WithStdin(ownIn).WithStdout(ownOut).
		WithStderr(&lineLog{log: log})
	run.done.Go(func() {
		err := runModule(ctx, args[0], of, with)
		if err == nil {
			err = io.EOF
		}
		_, _ = ownOut.CloseWithError(err), ownIn.Close()
	})
	return run
}

func runModule(ctx context.Context, file string, of wazero.RuntimeConfig, with wazero.ModuleConfig) (err error) {
	runtime := wazero.NewRuntimeWithConfig(ctx, of)
	defer func() { err = errors.Join(err, runtime.Close(context.WithoutCancel(ctx))) }()
	code, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	if _, err := wasi_snapshot_preview1.Instantiate(ctx, runtime); err != nil {
		return err
	}
	module, err := runtime.CompileModule(ctx, code)
	if err != nil {
		return err
	}
	_, err = runtime.InstantiateModule(ctx, module, with)
	return err
}

func (m *moduleRun) Write(b []byte) (int, error) { return m.in.Write(b) }

// CloseInput implements hook.Program.
func (m *moduleRun) CloseInput() { _ = m.in.Close() }

// Kill implements hook.Program.
func (m *moduleRun) Kill() {
	m.end()
	_, _, _ = m.in.Close(), m.ownIn.Close(), m.Close()
	m.done.Wait()
}
