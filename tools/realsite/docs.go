package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// docsTime bounds each crawl of the documentation.
const docsTime = 15 * time.Minute

// judgeDocs crawls the documentation with the default settings and without novelty, has wget crawl it, and compares.
func (r *run) judgeDocs(ctx context.Context, of []*site) error {
	byDefault, err := r.crawl(ctx, "docs", of, "--max-time", docsTime.String())
	if err != nil {
		return err
	}
	if err := r.honest("docs", byDefault); err != nil {
		return err
	}
	if err := r.judgeReplay(ctx, "docs", of); err != nil {
		return err
	}
	off, err := r.crawl(ctx, "docs-off", of, "--max-time", docsTime.String(), "--novelty", "off")
	if err != nil {
		return err
	}
	for name, c := range map[string]*crawl{"docs": byDefault, "docs-off": off} {
		if c.Reason != "complete" {
			r.fail("crawl %q is not complete, but: %s", name, c.Reason)
		}
	}
	if err := r.wget(ctx, of); err != nil {
		return err
	}
	theirs, err := r.logs("Wget/")
	if err != nil {
		return err
	}
	for _, s := range of {
		if err := r.judgeDoc(s, byDefault, off, theirs); err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
	}
	return nil
}

// wget crawls each site with wget, two at a time.
func (r *run) wget(ctx context.Context, of []*site) error {
	work := make(chan *site)
	failed := make([]error, 2)
	began := time.Now()
	var workers sync.WaitGroup
	for i := range failed {
		workers.Go(func() {
			for s := range work {
				failed[i] = errors.Join(failed[i], r.wgetSite(ctx, s))
			}
		})
	}
	for _, s := range of {
		work <- s
	}
	close(work)
	workers.Wait()
	r.say("wget crawled %d sites in %.0f s", len(of), time.Since(began).Seconds())
	return errors.Join(failed...)
}

func (r *run) wgetSite(ctx context.Context, s *site) error {
	ctx, cancel := context.WithTimeout(ctx, r.wgetTime)
	defer cancel()
	dir := r.path("wget-" + s.name)
	if err := os.Mkdir(dir, 0o755); err != nil { //nolint:gosec // a directory like others
		return err
	}
	c := r.command(
		ctx,
		"/usr/bin/wget",
		"--no-config",
		"--no-hsts",
		"--no-verbose",
		"--output-file="+r.inside("wget-"+s.name+".log"),
		"--directory-prefix="+r.inside(
			"wget-"+s.name,
		),
		"--delete-after",
		"--tries=2",
		"--timeout=20",
		"--recursive",
		"--level=inf",
		"--page-requisites",
		s.seed(),
	)
	var left *exec.ExitError
	err := c.Run()
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		s.cut = true
		r.say("%s: wget was stopped after %v: what it found until then counts", s.name, r.wgetTime)
		return nil
	}
	if err != nil && (!errors.As(err, &left) || left.ExitCode() != 8) { // 8: some answers were errors, such as 404
		log, _ := os.ReadFile(r.path("wget-" + s.name + ".log"))
		return fmt.Errorf("wget on %s: %w: %s", s.name, err, tail(log))
	}
	return nil
}

type set map[exchange]bool

// of is what a crawl or a client got from one site, robots.txt apart.
func (s *site) of(all []exchange) set {
	found := set{}
	for _, e := range all {
		if strings.HasPrefix(e.url, s.seed()) && e.url != s.seed()+"robots.txt" {
			found[e] = true
		}
	}
	return found
}

// judgeDoc compares what three crawls found on one site, and the disk if the site lists its directories.
func (r *run) judgeDoc(s *site, byDefault, off *crawl, log []logged) error {
	archive, ours := s.of(byDefault.archive), s.of(off.archive)
	var exchanges []exchange
	for _, l := range log {
		exchanges = append(exchanges, l.exchange)
	}
	theirs := s.of(exchanges)
	d := difference{run: r, site: s, ours: ours, theirs: theirs, speculative: off.speculative, log: log}
	wrong := d.explain()
	known := set{} // pages for readers
	for _, found := range []set{ours, theirs} {
		for e := range found {
			if e.status == "200" && !wrong[e] && !s.isTrap(e.url) {
				known[e] = true
			}
		}
	}
	if s.list {
		if err := r.disk(s, known); err != nil {
			return err
		}
	}
	s.result = result{readers: len(known), state: byDefault.Reason, kinds: map[string]int{}}
	for _, e := range byDefault.archive {
		if strings.HasPrefix(e.url, s.seed()) {
			s.result.requests++
			if s.isTrap(e.url) {
				s.result.waste++
				s.result.kinds["another order of a listing"]++
			}
		}
	}
	var lost []exchange
	for e := range known {
		if archive[e] {
			s.result.stored++
		} else {
			lost = append(lost, e)
		}
	}
	for _, e := range first(lost) {
		r.fail("%s: %d pages are lost, such as %s", s.name, len(lost), e.url)
	}
	r.say("%s: %d of %d pages; wget and --novelty off both found %d URLs", s.name, s.result.stored, len(known),
		d.both())
	return nil
}

func (s *site) isTrap(u string) bool { return s.trap != nil && s.trap.MatchString(u) }

// disk adds what is below the directory of a site that lists its directories. Both servers leave out names that begin
// with a dot; Apache also those that its autoindex module ignores by default.
func (r *run) disk(s *site, known set) error {
	var add func(dir, at string, depth int) error
	add = func(dir, at string, depth int) error {
		known[exchange{"200", at}] = true
		entries, err := os.ReadDir(dir)
		if err != nil || depth > 40 {
			return errors.Join(err, errorIf(depth > 40, "directories are nested without end at %s", dir))
		}
		for _, e := range entries {
			if strings.HasPrefix(e.Name(), ".") || s.server == "apache" && ignored(e.Name()) {
				continue
			}
			path := r.resolve(filepath.Join(dir, e.Name()))
			info, err := os.Stat(path)
			switch {
			case err != nil: // a link that leads nowhere, which the servers do not list or answer with 404
			case info.IsDir():
				if err := add(path, at+s.escape(e.Name())+"/", depth+1); err != nil {
					return err
				}
			case info.Mode().IsRegular():
				known[exchange{"200", at + s.escape(e.Name())}] = true
			}
		}
		return nil
	}
	return add(filepath.Join(r.root, s.dir), s.seed(), 0)
}

func errorIf(wrong bool, format string, args ...any) error {
	if !wrong {
		return nil
	}
	return fmt.Errorf(format, args...)
}

// ignored are the names that Apache's autoindex.conf leaves out.
func ignored(name string) bool {
	for _, pattern := range []string{"*~", "*#", "RCS", "CVS", "*,v", "*,t", "HEADER*", "README*"} {
		if found, _ := filepath.Match(pattern, name); found {
			return true
		}
	}
	return false
}

// escape writes a name as the server's listings do.
func (s *site) escape(name string) string {
	const plain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~"
	allowed := plain
	if s.server == "apache" {
		allowed += "$!*'(),:@&=+"
	}
	var out strings.Builder
	for _, b := range []byte(name) {
		if strings.IndexByte(allowed, b) >= 0 {
			out.WriteByte(b)
		} else {
			fmt.Fprintf(&out, "%%%02X", b)
		}
	}
	return out.String()
}
