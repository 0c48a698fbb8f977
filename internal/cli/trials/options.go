package trials

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"orbweaver/engine"
	"orbweaver/engine/state/layout"
	"orbweaver/internal/cli/command"
	"orbweaver/internal/cli/console"
	"orbweaver/internal/cli/process"
	"orbweaver/internal/cli/summary"
	"orbweaver/internal/simweb"
	"orbweaver/internal/trial"
)

// Options are the options of demo and of all benchmarks of crawls. The plain simulated web is their web; another
// one can take its place.
func Options(
	inv *command.Invocation,
	dir, progress string,
) (o trial.Options, web *trial.Simulated, err error) {
	if err := disposable(dir); err != nil {
		return o, nil, command.Misuse(fmt.Errorf("--dir: %w", err))
	}
	program, err := os.Executable()
	if err != nil {
		return o, nil, fmt.Errorf("the file of this program is unknown: %w", err)
	}
	if err := ForgetVariables(); err != nil {
		return o, nil, err
	}
	out := console.New(inv.Stderr)
	log := command.NewLog(out)
	process.RaiseFileLimit(log, 8192)
	web = &trial.Simulated{Program: program, World: simweb.Plain()}
	return trial.Options{
		Web: web, Dir: dir, Records: trial.Records{Level: 1}, Version: inv.Version, Progress: out,
		Log: log, Usage: process.Usage,
		OnStart: func(e *engine.Engine) func() {
			out.Start()
			p := summary.StartProgress(inv.Context, out, progress, e)
			return func() {
				p.Close()
				out.Close()
				if progress != "none" {
					fmt.Fprintln(inv.Stderr, "the crawl has ended; reading the archive and judging it")
				}
			}
		},
	}, web, nil
}

// disposable refuses a directory that holds more than an earlier demo or benchmark, since it is removed.
func disposable(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	for _, e := range entries {
		switch e.Name() {
		case "report.json", "warc", "logs", "frontier":
		case layout.SettingsFile:
			return fmt.Errorf("%s holds a crawl; give another directory, since this one would be removed", dir)
		default:
			return fmt.Errorf(
				"%s holds %s, which no demo made; give another directory, since this one would be removed", dir, e.Name(),
			)
		}
	}
	return nil
}

// ForgetVariables keeps what was said to this command from being read by the simulated web's process as said to it.
func ForgetVariables() error {
	for _, variable := range os.Environ() {
		name, _, _ := strings.Cut(variable, "=")
		if !strings.HasPrefix(name, command.EnvPrefix+"_") {
			continue
		}
		if err := os.Unsetenv(name); err != nil {
			return err
		}
	}
	return nil
}
