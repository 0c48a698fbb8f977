//go:build linux

package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// options is what run.sh says.
type options struct {
	bin   string
	build string
	world string
	dir   string
	limit time.Duration
	delay time.Duration
	only  string
}

func main() {
	var o options
	flag.StringVar(&o.bin, "bin", "bin/orbweaver", "orbweaver, which serves the simulated web and takes part")
	flag.StringVar(&o.build, "build", "build/others", "what install.sh has built")
	flag.StringVar(&o.world, "world", "tools/others/world.json", "the web")
	flag.StringVar(&o.dir, "dir", "build/others/run", "where crawls and results.json go")
	flag.DurationVar(&o.limit, "limit", 2*time.Minute, "time of one crawl")
	flag.DurationVar(&o.delay, "delay", 100*time.Millisecond, "delay of the second round")
	flag.StringVar(&o.only, "only", "", "names of tools, separated by commas; all if empty")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "others:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, o options) error {
	interfaces, err := net.Interfaces()
	if err != nil {
		return err
	}
	if err = secluded(interfaces); err != nil {
		return err
	}
	if err = os.MkdirAll(o.dir, 0o755); err != nil {
		return err
	}
	var all []result
	for i, s := range []setting{
		{Name: "fast", AtOnce: 16}, {Name: "polite", Delay: o.delay, AtOnce: 100}, {Name: "odd", AtOnce: 16, Odd: true},
	} {
		for _, t := range tools(o.bin, o.build) {
			if t.once && i > 0 || o.only != "" && !slices.Contains(strings.Split(o.only, ","), t.name) {
				continue
			}
			r, err := crawl(ctx, t, s, o)
			if err != nil {
				return fmt.Errorf("%s: %w", t.name, err)
			}
			fmt.Fprintf(os.Stderr, "others: %s, %s: %d of %d pages in %.1f s %s\n", t.name, s.Name,
				r.Served.Verdict.Fetched, r.Served.Verdict.Expected, r.Wall, r.Missing)
			all = append(all, r)
		}
	}
	b, err := json.MarshalIndent(all, "", " ")
	if err = errors.Join(err, os.WriteFile(filepath.Join(o.dir, "results.json"), append(b, '\n'), 0o644)); err != nil {
		return err
	}
	return print(os.Stdout, all)
}

// secluded is an error unless there is loopback, up, and nothing else: other people's programs run here.
func secluded(interfaces []net.Interface) error {
	up := false
	for _, i := range interfaces {
		if i.Flags&net.FlagLoopback == 0 {
			return fmt.Errorf(
				"there is the network interface %s: this runs only where loopback is all there is; see run.sh", i.Name)
		}
		up = up || i.Flags&net.FlagUp != 0
	}
	if !up {
		return errors.New("loopback is not up: see run.sh")
	}
	return nil
}
