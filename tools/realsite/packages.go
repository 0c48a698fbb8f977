package main

import (
	"bytes"
	"context"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// packages is the directory with the unpacked packages, which is the root directory of the servers.
type packages struct {
	root string
	work string // what this run writes, below root
}

// resolve follows symbolic links as the servers do, for which the packages' directory is the root.
func (r *packages) resolve(path string) string {
	for range 20 {
		to, err := os.Readlink(path)
		if err != nil {
			break
		}
		if filepath.IsAbs(to) {
			path = filepath.Join(r.root, to)
		} else {
			path = filepath.Join(filepath.Dir(path), to)
		}
	}
	return path
}

// file is the file that a URL of a site stands for.
func (r *packages) file(s *site, u string) string {
	parsed, err := url.Parse(u)
	if err != nil {
		return ""
	}
	path := parsed.Path
	if strings.HasSuffix(path, "/") {
		path += "index.html"
	}
	return r.resolve(filepath.Join(r.root, s.dir, path))
}

// path is where a file of this run is, as this program sees it.
func (r *packages) path(name ...string) string {
	return filepath.Join(append([]string{r.work}, name...)...)
}

// inside is the same file as the servers see it.
func (r *packages) inside(name ...string) string {
	return strings.TrimPrefix(r.path(name...), strings.TrimRight(r.root, "/"))
}

// command is a program of the packages, with their directory as its root directory.
func (r *packages) command(ctx context.Context, program string, args ...string) *exec.Cmd {
	c := exec.CommandContext(ctx, program, args...)
	// A group of its own: Apache httpd ends by a signal to its whole group.
	c.SysProcAttr = &syscall.SysProcAttr{Chroot: r.root, Setpgid: true}
	c.Dir = "/"
	c.Env = []string{"PATH=/usr/sbin:/usr/bin", "HOME=/root", "LC_ALL=C.UTF-8"}
	c.Cancel = func() error { return c.Process.Signal(syscall.SIGTERM) }
	c.WaitDelay = 20 * time.Second
	return c
}

// do runs a program of the packages to its end and returns what it printed.
func (r *packages) do(ctx context.Context, program string, args ...string) ([]byte, error) {
	var out, said bytes.Buffer
	c := r.command(ctx, program, args...)
	c.Stdout, c.Stderr = &out, &said
	if err := c.Run(); err != nil {
		return nil, fmt.Errorf("%s %s: %w: %s%s", program, strings.Join(args, " "), err, tail(out.Bytes()),
			tail(said.Bytes()))
	}
	return out.Bytes(), nil
}

// modules are the lines that load modules of Apache httpd, with the settings that the package ships.
func (r *packages) modules(names string) (string, error) {
	var lines strings.Builder
	for _, name := range strings.Fields(names) {
		found, err := filepath.Glob(filepath.Join(r.root, "etc/apache2/mods-available", name+".*"))
		if err != nil || len(found) == 0 {
			return "", fmt.Errorf("apache httpd has no module %s", name)
		}
		slices.SortFunc(
			found,
			func(a, b string) int { return strings.Compare(filepath.Ext(b), filepath.Ext(a)) },
		) // .load before .conf
		for _, file := range found {
			fmt.Fprintf(&lines, "Include %s\n", strings.TrimPrefix(file, strings.TrimRight(r.root, "/")))
		}
	}
	return lines.String(), nil
}
