//go:build linux

package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// result is one crawl of one tool.
type result struct {
	Tool    string   `json:"tool"`
	Version string   `json:"version"`
	Setting setting  `json:"setting"`
	Command []string `json:"command"`
	WARC    string   `json:"warc"`
	Waits   string   `json:"waits"` // what the delay is between

	Wall    float64 `json:"wall_seconds"`
	CPU     float64 `json:"cpu_seconds"` // user and system time of the tool and its children
	RSSPeak int64   `json:"rss_peak_bytes"`
	Archive int64   `json:"archive_bytes"`
	Cut     bool    `json:"cut"` // it was ended when its time was over
	End     string  `json:"end"` // how its process ended; "" is well
	Missing string  `json:"missing,omitempty"`
	Served  served  `json:"served"`
}

// served is what the simulated web says at its end; see `orbweaver sim --json`.
type served struct {
	Stats struct {
		Conns    int64 `json:"conns"`
		Requests int64 `json:"requests"`
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

// grace is how long a tool that was told to end may take.
const grace = 10 * time.Second

// web is a simulated web being served by a process of its own.
type web struct {
	cmd   *exec.Cmd
	out   *bufio.Reader
	Proxy string `json:"proxy"`
	Pages int    `json:"pages"`
}

// serve starts the web. Gaps are counted as too short below nine tenths of the delay: tools count them from beginning to
// beginning, the judge from the end of an exchange to the beginning of the next.
func serve(ctx context.Context, bin, world, seeds string, delay time.Duration) (*web, error) {
	w := &web{cmd: exec.CommandContext(ctx, bin, "sim", "--world", world, "--proxy", "127.0.0.1:0", "--seeds-file", seeds,
		"--seed-count", "1", "--complete", "--plain", "--host-delay", (delay * 9 / 10).String(), "--ip-delay", "0s", "--json")}
	w.cmd.Stderr = os.Stderr
	// An interrupt that is meant for us is passed on in order, not received by all at once.
	w.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
	out, err := w.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err = w.cmd.Start(); err != nil {
		return nil, err
	}
	w.out = bufio.NewReader(out)
	line, err := w.out.ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(line, w)
	}
	if err != nil {
		_, _ = w.end()
		return nil, fmt.Errorf("the simulated web: %w", err)
	}
	return w, nil
}

// end ends the web and returns its last words.
func (w *web) end() (s served, err error) {
	err = w.cmd.Process.Signal(os.Interrupt)
	said, readErr := io.ReadAll(w.out)
	if err = errors.Join(err, readErr, w.cmd.Wait()); err == nil {
		err = json.Unmarshal(said, &s)
	}
	return s, err
}

// measure runs a command for at most limit and notes what it took. What it prints goes to out.
func measure(ctx context.Context, r *result, limit time.Duration, dir string, env []string, out io.Writer) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	// A program that is started from here begins with the peak memory of this one; below time, with that of time.
	peak := filepath.Join(dir, "peak")
	cmd := exec.CommandContext(ctx, "/usr/bin/time", append([]string{"-f", "%M", "-o", peak}, r.Command...)...)
	cmd.Env, cmd.Stdout, cmd.Stderr = env, out, out
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGINT) } // time itself waits on
	cmd.WaitDelay = grace
	begin := time.Now()
	if err := cmd.Start(); err != nil {
		return err
	}
	err := cmd.Wait()
	r.Wall = time.Since(begin).Seconds()
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // what did not end when it was told to
	r.CPU = (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds()
	r.Cut = errors.Is(ctx.Err(), context.DeadlineExceeded)
	if err != nil {
		r.End = err.Error()
	}
	b, err := os.ReadFile(peak)
	if err != nil {
		return nil // time was killed with it: nobody knows
	}
	r.RSSPeak, err = peakBytes(string(b))
	return err
}

// peakBytes reads what time wrote: kilobytes on the last line, behind what it has to say about the end.
func peakBytes(text string) (int64, error) {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	n, err := strconv.ParseInt(lines[len(lines)-1], 10, 64)
	if err != nil {
		return 0, fmt.Errorf("peak memory: %w", err)
	}
	return n << 10, nil
}

// archiveBytes is the size of the WARC files below a directory.
func archiveBytes(dir string) (n int64) {
	_ = filepath.WalkDir(dir, func(name string, d os.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(name, ".warc.gz") {
			if info, err := d.Info(); err == nil {
				n += info.Size()
			}
		}
		return nil
	})
	return n
}

// crawl has one tool crawl a web of its own. Errors are of the machinery; how the tool fares is in the result.
func crawl(ctx context.Context, t tool, s setting, o options) (result, error) {
	r := result{Tool: t.name, Setting: s, WARC: t.warc, Waits: t.waits}
	version, err := exec.CommandContext(ctx, t.version[0], t.version[1:]...).Output()
	if err != nil {
		r.Missing = err.Error()
		return r, nil
	}
	r.Version, _, _ = strings.Cut(string(version), "\n")
	dir := filepath.Join(o.dir, t.name+"-"+s.Name)
	if err = errors.Join(os.RemoveAll(dir), os.MkdirAll(dir, 0o755)); err != nil {
		return r, err
	}
	p := place{bin: o.bin, build: o.build, dir: dir, seeds: filepath.Join(dir, "seeds")}
	w, err := serve(ctx, o.bin, o.world, p.seeds, s.Delay)
	if err != nil {
		return r, err
	}
	p.proxy = w.Proxy
	r.Command = t.command(p, s)
	log, err := os.Create(filepath.Join(dir, "log"))
	if err == nil {
		env := append(os.Environ(), "http_proxy="+p.proxy, "no_proxy=")
		err = errors.Join(measure(ctx, &r, o.limit, dir, env, log), log.Close())
	}
	var endErr error
	r.Served, endErr = w.end()
	r.Archive = archiveBytes(dir)
	return r, errors.Join(err, endErr, ctx.Err())
}
