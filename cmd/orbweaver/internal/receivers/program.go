package receivers

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"orbweaver/engine/operate/upload"
	"orbweaver/engine/store/receipts"
)

// program is the command of --on-warc-close.
type program struct {
	args    []string
	timeMax time.Duration
	dir     string // of the crawl
	log     *slog.Logger
}

func newProgram(o *upload.Options, dir string, log *slog.Logger) *program {
	return &program{args: strings.Fields(o.Command), timeMax: o.TimeMax, dir: dir, log: log}
}

// Name implements upload.Receiver.
func (p *program) Name() string { return upload.Command }

// Target implements upload.Receiver. It does not name the command: a changed command does not get the files
// that the earlier one has taken.
func (p *program) Target() string { return upload.Command }

// outputWait is how long the output of an ended command is still read, if a child of it keeps it open.
const outputWait = 5 * time.Second

// Send runs the command for a file. What it prints goes to the log.
func (p *program) Send(ctx context.Context, f *upload.File) (receipts.Receipt, error) {
	path, err := filepath.Abs(filepath.FromSlash(f.Path()))
	if err != nil {
		return receipts.Receipt{}, fmt.Errorf("--on-warc-close: %w", err)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, p.timeMax, fmt.Errorf("it ran for more than %v", p.timeMax))
	defer cancel()
	run := exec.CommandContext(ctx, p.args[0], append(p.args[1:len(p.args):len(p.args)], path)...)
	run.Env, run.WaitDelay = p.environment(path, f), outputWait
	var out, errs tail
	run.Stdout, run.Stderr = &out, &errs
	err = run.Run()
	if cause := context.Cause(ctx); cause != nil && err != nil {
		err = fmt.Errorf("%w: %w", err, cause)
	}
	if said := out.String() + errs.String(); said != "" {
		p.log.Info("output of --on-warc-close", "file", f.Name, "stdout", out.String(), "stderr", errs.String())
	}
	if err != nil {
		return receipts.Receipt{}, fmt.Errorf("--on-warc-close %s: %w", p.args[0], err)
	}
	return receipts.Receipt{}, nil
}

// environment is that of the command.
func (p *program) environment(path string, f *upload.File) []string {
	return append(ownEnvironment(),
		"WARC_FILE="+path, "WARC_NAME="+f.Name, "WARC_INDEX="+filepath.Join(filepath.Dir(path), f.Index),
		"WARC_LENGTH="+strconv.FormatInt(f.Length, 10), "WARC_CRAWL_DIR="+p.dir)
}

// ownEnvironment are the variables of this process, without the socket of the service manager, which is for this
// process alone.
func ownEnvironment() (env []string) {
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "NOTIFY_SOCKET=") && !strings.HasPrefix(v, "WATCHDOG_") {
			env = append(env, v)
		}
	}
	return env
}

// tail keeps the end of what is written to it.
type tail struct{ kept []byte }

// tailMost is how much output of a command the log gets, in bytes.
const tailMost = 4 << 10

func (t *tail) Write(b []byte) (int, error) {
	t.kept = append(t.kept, b[max(0, len(b)-tailMost):]...)
	if over := len(t.kept) - tailMost; over > 0 {
		t.kept = append(t.kept[:0], t.kept[over:]...)
	}
	return len(b), nil
}

func (t *tail) String() string { return strings.TrimSpace(string(t.kept)) }
