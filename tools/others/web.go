//go:build linux

package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// web is a simulated web that a process of its own serves.
type web struct {
	cmd   *exec.Cmd
	in    io.Closer // at its end the web ends, so it ends with us in any case
	out   *bufio.Reader
	words bytes.Buffer // for people

	Proxy string `json:"proxy"`
}

// served is what the simulated web says at its end; see `orbweaver sim --json`.
type served struct {
	Stats struct {
		Conns    int64 `json:"conns"`
		Requests int64 `json:"requests"`
		Bytes    int64 `json:"bytes"` // that the web sent
	} `json:"stats"`
	Verdict verdict `json:"verdict"`
}

// verdict is what is used here of the judge's words.
type verdict struct {
	Expected        int           `json:"expected"`
	Fetched         int           `json:"fetched"`
	Coverage        float64       `json:"coverage"`
	Unexpected      int           `json:"unexpected"`
	Repeated        int           `json:"repeated"`
	RobotsFetches   int           `json:"robots_fetches"`
	AgainstRobots   int           `json:"robots_violations"`
	HostGaps        int           `json:"host_gap_violations"`
	HostAtOnce      int           `json:"host_concurrency"`
	HostGapSmallest time.Duration `json:"min_host_gap_ns"`
	Examples        []string      `json:"examples"`
}

// serve starts a web, which writes its seed to a file. Gaps count as too short below nine tenths of the delay: tools
// count them from beginning to beginning, the judge from the end of an exchange to the beginning of the next.
func serve(ctx context.Context, bin, world, seeds string, delay time.Duration) (*web, error) {
	w := &web{cmd: exec.CommandContext(ctx, bin, "sim", "--world", world, "--proxy", "127.0.0.1:0", "--direct",
		"--dns", "127.0.0.1:53", "--seeds-file", seeds, "--seed-count", "1", "--complete", "--plain", "--until-eof",
		"--host-delay", (delay * 9 / 10).String(), "--ip-delay", "0s", "--json")}
	w.cmd.Stderr = &w.words
	w.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // an interrupt from the keyboard is for us
	in, err := w.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := w.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err = w.cmd.Start(); err != nil {
		return nil, err
	}
	w.in, w.out = in, bufio.NewReader(out)
	line, err := w.out.ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(line, w)
	}
	if err != nil {
		_, _ = w.end()
		return nil, fmt.Errorf("the simulated web: %w: %s", err, &w.words)
	}
	return w, nil
}

// end ends the web and returns its last words.
func (w *web) end() (s served, err error) {
	err = w.in.Close()
	said, readErr := io.ReadAll(w.out)
	if err = errors.Join(err, readErr, w.cmd.Wait()); err == nil {
		err = json.Unmarshal(said, &s)
	}
	if err != nil {
		err = fmt.Errorf("the simulated web: %w: %s", err, &w.words)
	}
	return s, err
}

// oddWorld writes a world that differs only in how its links are written.
func oddWorld(from, to string) error {
	b, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	var w map[string]any
	if err = json.Unmarshal(b, &w); err != nil {
		return fmt.Errorf("%s: %w", from, err)
	}
	delete(w, "PlainLinks")
	if b, err = json.Marshal(w); err != nil {
		return err
	}
	return os.WriteFile(to, b, 0o644)
}
