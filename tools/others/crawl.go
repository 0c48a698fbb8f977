//go:build linux

package main

import (
	"context"
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

	Wall     float64 `json:"wall_seconds"`
	CPU      float64 `json:"cpu_seconds"` // user and system time of the tool and its children
	RSSPeak  int64   `json:"rss_peak_bytes"`
	Archive  int64   `json:"archive_bytes"`
	Verified string  `json:"verified,omitempty"` // what orbweaver's reader says of the archive
	Cut      bool    `json:"cut"`                // it was ended when its time was over
	End      string  `json:"end"`                // how its process ended; "" is well
	Missing  string  `json:"missing,omitempty"`
	Served   served  `json:"served"`
}

// grace is how long a tool that was told to end may take.
const grace = 10 * time.Second

// measure runs a command for at most limit and notes what it took. What it prints goes to out.
func measure(ctx context.Context, r *result, limit time.Duration, dir string, env []string, out io.Writer) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	// A program that is started from here begins with the peak memory of this one; below time, with that of time.
	peak := filepath.Join(dir, "peak")
	cmd := exec.CommandContext(ctx, "/usr/bin/time", append([]string{"-f", "%M", "-o", peak}, r.Command...)...)
	cmd.Env, cmd.Stdout, cmd.Stderr = env, out, out
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
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
	if err != nil || len(b) == 0 {
		return nil // time was killed with it: unknown
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

// examine notes the size of the WARC files in the directory of a crawl, and what orbweaver's reader says of them.
func examine(ctx context.Context, r *result, bin, dir string) {
	var files []string
	for _, pattern := range []string{"*.warc.gz", "crawl/warc/*.warc.gz", "jobs/crawl/warcs/*.warc.gz"} {
		found, _ := filepath.Glob(filepath.Join(dir, pattern)) // the patterns are sound
		for _, name := range found {
			if info, err := os.Stat(name); err == nil {
				r.Archive += info.Size()
				files = append(files, name)
			}
		}
	}
	if len(files) > 0 {
		said, _ := exec.CommandContext(ctx, bin, append([]string{"warc", "verify"}, files...)...).
			CombinedOutput()
			// its status is its last line
		r.Verified = strings.ReplaceAll(strings.TrimSpace(string(said)), "\n", "; ")
	}
}

// versionOf asks a tool for its version; missing says why it does not answer.
func versionOf(ctx context.Context, command []string) (version, missing string) {
	said, err := exec.CommandContext(ctx, command[0], command[1:]...).Output()
	if err != nil {
		return "", err.Error()
	}
	version, _, _ = strings.Cut(string(said), "\n")
	return version, ""
}

// crawl has one tool crawl a web of its own. Errors are of the machinery; how the tool fares is in the result.
func crawl(ctx context.Context, t tool, s setting, o options) (result, error) {
	r := result{Tool: t.name, Setting: s, WARC: t.warc, Waits: t.waits}
	if r.Version, r.Missing = versionOf(ctx, t.version); r.Missing != "" {
		return r, nil
	}
	dir := filepath.Join(o.dir, strings.ReplaceAll(t.name, " ", "")+"-"+s.Name)
	if err := errors.Join(os.RemoveAll(dir), os.MkdirAll(dir, 0o755)); err != nil {
		return r, err
	}
	p := place{bin: o.bin, build: o.build, dir: dir, seeds: filepath.Join(dir, "seeds")}
	world := o.world
	if s.Odd {
		world = filepath.Join(dir, "world.json")
		if err := oddWorld(o.world, world); err != nil {
			return r, err
		}
	}
	w, err := serve(ctx, o.bin, world, p.seeds, s.Delay)
	if err != nil {
		return r, err
	}
	p.proxy = w.Proxy
	r.Command = t.command(p, s)
	log, err := os.Create(filepath.Join(dir, "log"))
	if err == nil {
		env := append(os.Environ(), "http_proxy="+p.proxy, "no_proxy=", "HOME="+dir) // some keep notes at home
		err = errors.Join(measure(ctx, &r, o.limit, dir, env, log), log.Close())
	}
	var endErr error
	r.Served, endErr = w.end()
	examine(ctx, &r, o.bin, dir)
	return r, errors.Join(err, endErr, ctx.Err())
}
