package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
)

func cgit() *app {
	return &app{
		// Differences, patches and commits have text of their own: they are no repetition, and are fetched whole.
		fill: fillCgit, pages: cgitPages, fixed: 10_000, times: 30,
		conf: `
  SetEnv CGIT_CONFIG /etc/cgitrc.realsite
  ScriptAlias /cgit/ /usr/lib/cgit/cgit.cgi/
  RedirectMatch ^/$ /cgit/
  Alias /cgit-css /usr/share/cgit/
  Alias /robots.txt /usr/share/cgit/robots.txt
  <Directory /usr/lib/cgit>
    Options ExecCGI FollowSymLinks
  </Directory>`,
		kinds: []urlKind{
			{"", regexp.MustCompile(`/cgit-css/|/favicon`)},
			{"trees and files of old commits", regexp.MustCompile(`/tree/.*[?&]id2?=`)},
			{"files as they are", regexp.MustCompile(`/plain/`)},
			{"differences", regexp.MustCompile(`/(raw)?diff/`)},
			{"patches", regexp.MustCompile(`/patch/`)},
			{"commits, narrowed to a path or with options", regexp.MustCompile(`/commit/`)},
			{"logs", regexp.MustCompile(`/log/`)},
			{"blames", regexp.MustCompile(`/blame/`)},
			{"statistics", regexp.MustCompile(`/stats/`)},
		},
	}
}

// fillCgit serves a repository that is the same each time. That of this program grows with each commit, and with it the
// requests until its last page for readers, and the waste.
func fillCgit(ctx context.Context, r *run, _ *servers, _ *site) error {
	if err := os.Mkdir(r.path("cgit"), 0o755); err != nil { //nolint:gosec // the web server's user has it
		return err
	}
	if err := importHistory(ctx, r.path("cgit", "made.git")); err != nil {
		return err
	}
	config := "css=/cgit-css/cgit.css\nlogo=/cgit-css/cgit.png\nvirtual-root=/cgit/\nenable-http-clone=0\n" +
		"repo.url=made\nrepo.path=" +
		r.inside("cgit", "made.git") + "\nrepo.desc=A made program\n"
	if err := os.WriteFile(r.root+"/etc/cgitrc.realsite", []byte(config), 0o644); err != nil { //nolint:gosec // not secret
		return err
	}
	return r.give("cgit")
}

// importHistory makes a bare repository of the history.
func importHistory(ctx context.Context, dir string) error {
	out, err := exec.CommandContext(ctx, "git", "init", "--bare", "--quiet", "--initial-branch=main", dir).CombinedOutput()
	if err != nil {
		return fmt.Errorf("git init: %w: %s", err, out)
	}
	var stream bytes.Buffer
	if err := writeHistory(&stream); err != nil {
		return err
	}
	c := exec.CommandContext(ctx, "git", "--git-dir="+dir, "fast-import", "--quiet")
	c.Stdin = &stream
	if out, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("git fast-import: %w: %s", err, out)
	}
	return nil
}

// cgitPages are the commits of the repository, and the files and directories of the newest one.
func cgitPages(ctx context.Context, r *run, s *site) ([]string, error) {
	git := func(args ...string) ([]string, error) {
		c := exec.CommandContext(
			ctx,
			"git",
			append([]string{"-c", "safe.directory=*", "--git-dir=" + r.path("cgit", "made.git")}, args...)...)
		var said bytes.Buffer
		c.Stderr = &said
		out, err := c.Output()
		if err != nil {
			return nil, fmt.Errorf("git %s: %w: %s", strings.Join(args, " "), err, said.Bytes())
		}
		return strings.Fields(string(out)), nil
	}
	commits, err := git("rev-list", "HEAD")
	if err != nil {
		return nil, err
	}
	paths, err := git("ls-tree", "-r", "-t", "--name-only", "HEAD")
	if err != nil {
		return nil, err
	}
	base := s.seed() + "cgit/made/"
	of := []string{s.seed() + "cgit/", base, base + "tree/", base + "log/", base + "refs/"}
	for _, c := range commits {
		of = append(of, base+"commit/?id="+c)
	}
	for _, p := range paths {
		of = append(of, base+"tree/"+p)
	}
	return of, nil
}
