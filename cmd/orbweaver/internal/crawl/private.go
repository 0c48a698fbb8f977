package crawl

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"orbweaver/engine/net/cookie"
	"orbweaver/engine/net/login"
	"orbweaver/engine/state/layout"
	"orbweaver/internal/cli/command"
)

// closeToOthers takes the frontier and the logs away from other users if an earlier version left them readable. What
// the group may do stays: an operator may have decided that.
func closeToOthers(log *slog.Logger, dir string) {
	for _, part := range []string{layout.FrontierDir, layout.LogsDir} {
		name := filepath.Join(dir, part)
		info, err := os.Stat(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		const others = 0o007
		if err == nil && info.Mode().Perm()&others != 0 {
			err = os.Chmod(name, info.Mode().Perm()&^others)
		}
		if err != nil {
			log.Warn("a directory of the crawl may be readable for other users", "dir", name, "error", err)
		}
	}
}

// warnOfPassword says that a password on the command line is in the system's list of processes.
func (c *networkOptions) warnOfPassword(inv *command.Invocation, log *slog.Logger) {
	u, err := url.Parse(c.Proxy)
	if err != nil || u.User == nil {
		return
	}
	for _, p := range inv.Args.Path {
		if p.Flag != nil && !p.Resolved && p.Flag.Name == "proxy" {
			log.Warn(
				"--proxy: other users see the password in the list of processes; " +
					"put it into ORBWEAVER_PROXY or a file for --config",
			)
		}
	}
}

// withoutUser is a URL, well formed or not, as an error message may show it: without user information.
func withoutUser(raw string) string {
	scheme, rest, ok := strings.Cut(raw, "//")
	if !ok {
		scheme, rest = "", raw
	}
	if at := strings.LastIndexByte(rest, '@'); at >= 0 {
		rest = "..." + rest[at:]
	}
	if !ok {
		return rest
	}
	return fmt.Sprintf("%s//%s", scheme, rest)
}

// logins reads the passwords of hosts. A file that other users can read is reported.
func (c *networkOptions) logins(log *slog.Logger) (*login.Logins, error) {
	logins := new(login.Logins)
	return logins, readEach(c.Netrc, func(f *os.File) error {
		const others = 0o077
		if info, err := f.Stat(); err == nil && runtime.GOOS != "windows" && info.Mode().Perm()&others != 0 {
			log.Warn("--netrc: other users of this machine can read the file with passwords: chmod 600", "file", f.Name())
		}
		return logins.Add(f)
	})
}

// readEach calls read for each of some files. The error joins what is wrong with each.
func readEach(files []string, read func(f *os.File) error) error {
	var bad command.Faults
	for _, name := range command.Given(files) {
		f, err := os.Open(name)
		if err != nil {
			bad.Add("", err)
			continue
		}
		bad.Add(name, read(f))
		bad.Add("", f.Close())
	}
	return bad.Err()
}

// startCookies reads the cookies with which the crawl begins.
func (c *networkOptions) startCookies(o *cookie.Options) (*cookie.Presets, error) {
	presets := new(cookie.Presets)
	if len(command.Given(c.LoadCookies)) == 0 {
		return presets, nil
	}
	if o.Mode != cookie.Site {
		return nil, errors.New("give --cookies site, too: without it no cookies are sent")
	}
	return presets, readEach(c.LoadCookies, func(f *os.File) error { return presets.Add(f) })
}
