package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// run is one run of the program.
type run struct {
	*crawls
	appTime  time.Duration
	endTime  time.Duration
	wgetTime time.Duration
	floor    int // the --trap-floor of a second crawl of the applications
	sites    []*site
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	switch err := realsite(ctx, os.Args[1:]); {
	case err == nil:
	case errors.Is(err, errDiffers):
		fmt.Fprintln(os.Stderr, "realsite:", err)
		os.Exit(1)
	default:
		fmt.Fprintln(os.Stderr, "realsite:", err)
		os.Exit(2)
	}
}

// errDiffers is the error of a run that came to its end and found that something does not hold.
var errDiffers = errors.New("something does not hold")

func realsite(ctx context.Context, args []string) error {
	r := &run{crawls: &crawls{packages: new(packages), findings: &findings{started: time.Now()}}}
	flags := flag.NewFlagSet("realsite", flag.ContinueOnError)
	flags.StringVar(&r.root, "root", "", "directory with the unpacked packages")
	flags.StringVar(&r.crawler, "crawler", "bin/orbweaver", "the crawler to judge")
	flags.DurationVar(&r.appTime, "app-time", 10*time.Minute,
		"longest crawl of the applications with the default settings")
	flags.DurationVar(&r.endTime, "end-time", 30*time.Minute,
		"longest crawl of the applications with a small floor, which must come to its end")
	flags.IntVar(&r.floor, "floor", 200,
		"crawl the applications once more with this --trap-floor, to their end; 0 for not")
	flags.DurationVar(&r.wgetTime, "wget-time", 4*time.Minute, "longest run of wget on one site")
	more := flags.String("crawl", "", "more flags of each crawl, separated by spaces, such as \"--mine ancestors\"")
	only := flags.String("only", "", "names of sites, separated by commas; all if empty")
	table := flags.String("table", "", "file for the tables, in Markdown")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if err := r.choose(*only); err != nil {
		return err
	}
	crawler, err := filepath.Abs(r.crawler)
	if err != nil {
		return err
	}
	r.crawler, r.more = crawler, strings.Fields(*more)
	if r.work, err = os.MkdirTemp(filepath.Join(r.root, "tmp"), "realsite-"); err != nil {
		return err
	}
	if err := os.Chmod(r.work, 0o755); err != nil { //nolint:gosec // the servers' own users read it
		return err
	}
	if os.Getenv("KEEP") == "" {
		defer os.RemoveAll(r.work) //nolint:errcheck // a directory that is left over harms nothing
	} else {
		defer r.say("kept %s", r.work)
	}
	if err := r.judge(ctx); err != nil {
		return err
	}
	text := tables(r)
	fmt.Print(text)
	if *table != "" {
		if err := os.WriteFile(*table, []byte(text), 0o644); err != nil { //nolint:gosec // a report for all users
			return err
		}
	}
	if len(r.failures) > 0 {
		return fmt.Errorf("%w:\n  %s", errDiffers, strings.Join(r.failures, "\n  "))
	}
	r.say("all holds, after %.0f s", time.Since(r.started).Seconds())
	return nil
}

// judge starts the servers, crawls and compares.
func (r *run) judge(ctx context.Context) error {
	s, err := r.serve(ctx)
	defer s.stop()
	if err != nil {
		return err
	}
	if docs := r.of(documentation); len(docs) > 0 {
		if err := r.judgeDocs(ctx, docs); err != nil {
			return err
		}
	}
	if apps := r.of(application); len(apps) > 0 {
		return r.judgeApps(ctx, apps)
	}
	return nil
}

func (r *run) of(k kind) (of []*site) {
	for _, s := range r.sites {
		if s.kind == k {
			of = append(of, s)
		}
	}
	return of
}

// choose takes the sites with the names, all if there are none, and finds their directories and addresses.
func (r *run) choose(names string) error {
	all := sites()
	for i, s := range all {
		s.addr = fmt.Sprintf("127.0.1.%d", i+1)
		if names != "" && !slices.Contains(strings.Split(names, ","), s.name) {
			continue
		}
		found, err := filepath.Glob(filepath.Join(r.root, s.dir))
		if err != nil || len(found) == 0 {
			return fmt.Errorf("no %s in the packages", s.dir)
		}
		s.dir = strings.TrimPrefix(found[len(found)-1], strings.TrimRight(r.root, "/"))
		r.sites = append(r.sites, s)
	}
	if len(r.sites) == 0 {
		return fmt.Errorf("no site is called %s", names)
	}
	return nil
}
