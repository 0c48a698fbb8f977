// Command orbweaver crawls a large part of the web from one machine into WARC files, politely and completely.
//
// This package binds flags, files, the environment and signals to the engine, the simulated web and the tools; what is
// worth a unit test lives there.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/alecthomas/kong"

	"orbweaver/engine/cluster/transport"
)

// Exit statuses, fixed for scripts.
const (
	exitDone    = 0
	exitFailed  = 1
	exitUsage   = 2
	exitStalled = 3
	exitStopped = 130
)

type cli struct {
	Config string `help:"TOML file whose keys are names of flags. Flags win over ORBWEAVER_ variables (ORBWEAVER_HOST_DELAY), variables over the file." placeholder:"FILE"`

	ShowVersion versionFlag `name:"version" env:"-" help:"Print the version and the commit."`

	Crawl   crawlCmd   `cmd:"" help:"Crawl into a directory, or resume the crawl that is there."`
	Demo    demoCmd    `cmd:"" help:"Serve a simulated web on loopback, crawl it with the real engine, verify the archive."`
	Sim     simCmd     `cmd:"" help:"Serve the simulated web: proxy, direct, TLS and DNS."`
	Bench   benchCmd   `cmd:"" help:"Run one benchmark of BENCHMARKS.md."`
	Fsck    fsckCmd    `cmd:"" help:"Check every invariant of a crawl directory."`
	Skipped skippedCmd `cmd:"" help:"List the URLs that a crawl has left out since they belong to a trap, and why."`
	Audit   auditCmd   `cmd:"" help:"Which agent's copy of each page counts, over the directories of all agents of a crawl."`
	Warc    warcCmd    `cmd:"" help:"List, print, verify and index WARC files, ours or not."`
	Ctl     ctlCmd     `cmd:"" help:"Talk to a running crawl."`
	URL     urlCmd     `cmd:"" name:"url" help:"Normalise URLs."`
	Robots  robotsCmd  `cmd:"" help:"Test URLs against a robots.txt."`
	Links   linksCmd   `cmd:"" help:"Print the links that the parser finds in a file."`
	Ring    ringCmd    `cmd:"" help:"Who is responsible for a host when several agents share a crawl, and how even that is."`
	CA      caCmd      `cmd:"" name:"ca" help:"Certificates for agents that share a crawl."`
	Version versionCmd `cmd:"" help:"Print the version and the commit."`
}

// world is what a command may use of the outside.
type world struct {
	ctx     context.Context //nolint:containedctx // the root of the process, handed to the one command that runs
	stdin   io.Reader
	stdout  io.Writer
	stderr  io.Writer
	args    *kong.Context
	applied bool     // the command's struct has its values
	early   mistakes // met while flags, variables and files were read
	read    *readings
}

// checker is a command that has more to look at than the values of its flags, before it runs.
type checker interface{ check(w *world) error }

// usageError is a mistake in flags, variables or keys: exit status 2.
type usageError struct{ error }

// Unwrap gives the cause.
func (u usageError) Unwrap() error { return u.error }

// errStopped says that a signal or the operator ended the crawl, which can be resumed: exit status 130.
var errStopped = errors.New("stopped before the end; run the same command again to go on")

// errStalled says that the crawl stopped since only sites in trouble have queued URLs: exit status 3.
var errStalled = errors.New("stalled: every queued URL is of a site that fails or asks to slow down; run the same command again to go on")

func main() {
	spareProcessor()
	transport.Quiet()
	os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// run is main without the process around it.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	w := &world{ctx: context.Background(), stdin: stdin, stdout: stdout, stderr: stderr}
	err := w.parse(args)
	if errors.Is(err, errHelp) {
		return exitDone
	}
	if err = w.check(err); err != nil {
		return w.exit(usageError{err})
	}
	return w.exit(w.args.Run(w))
}

// check joins everything that is wrong with the command line, so that it is told at once.
func (w *world) check(parsed error) error {
	bad := w.early
	bad.add("", parsed)
	bad.add("", w.faults())
	if parsed == nil {
		if c, ok := w.args.Selected().Target.Addr().Interface().(checker); ok {
			bad.add("", c.check(w))
		}
	}
	return bad.err()
}

// faults are the values of flags that are out of their range, whatever gave them.
func (w *world) faults() error {
	var bad mistakes
	if !w.applied {
		return nil
	}
	for _, p := range w.args.Path {
		if p.Command == nil {
			continue
		}
		for _, f := range p.Command.Flags {
			bad.add("--"+f.Name, w.read.faultOf(f.Value))
		}
		for _, a := range p.Command.Positional {
			bad.add(a.Name, w.read.faultOf(a))
		}
	}
	return bad.err()
}

func (w *world) exit(err error) int {
	var usage usageError
	switch {
	case err == nil:
		return exitDone
	case errors.Is(err, errStopped):
		fmt.Fprintln(w.stderr, "orbweaver:", err)
		return exitStopped
	case errors.Is(err, errStalled):
		fmt.Fprintln(w.stderr, "orbweaver:", err)
		return exitStalled
	case errors.As(err, &usage):
		fmt.Fprintf(w.stderr, "orbweaver: %s\nTry 'orbweaver %s--help'.\n", indent(err.Error()), w.commandName())
		return exitUsage
	default:
		fmt.Fprintln(w.stderr, "orbweaver:", indent(err.Error()))
		return exitFailed
	}
}

func (w *world) commandName() string {
	if w.args == nil {
		return ""
	}
	name := ""
	for _, p := range w.args.Path {
		if p.Command != nil {
			name += p.Command.Name + " "
		}
	}
	return name
}

// indent lines up several faults under the first.
func indent(s string) string { return strings.ReplaceAll(s, "\n", "\n           ") }
