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
)

// Exit statuses, fixed for scripts.
const (
	exitDone    = 0
	exitFailed  = 1
	exitUsage   = 2
	exitStopped = 130
)

// version is set when a release is built (-ldflags -X main.version=...).
var version = "0.1.0"

type cli struct {
	Crawl   crawlCmd   `cmd:"" help:"Crawl into a directory, or resume the crawl that is there."`
	Demo    demoCmd    `cmd:"" help:"Serve a simulated web on loopback, crawl it with the real engine, verify the archive."`
	Sim     simCmd     `cmd:"" help:"Serve the simulated web: proxy, direct, TLS and DNS."`
	Bench   benchCmd   `cmd:"" help:"Run one benchmark of BENCHMARKS.md."`
	Fsck    fsckCmd    `cmd:"" help:"Check every invariant of a crawl directory."`
	Warc    warcCmd    `cmd:"" help:"List, print, verify and index WARC files, ours or not."`
	Ctl     ctlCmd     `cmd:"" help:"Talk to a running crawl."`
	URL     urlCmd     `cmd:"" name:"url" help:"Normalise URLs."`
	Robots  robotsCmd  `cmd:"" help:"Test URLs against a robots.txt."`
	Links   linksCmd   `cmd:"" help:"Print the links that the parser finds in a file."`
	Version versionCmd `cmd:"" help:"Print the version."`
}

// world is what a command may use of the outside.
type world struct {
	ctx    context.Context //nolint:containedctx // the root of the process, handed to the one command that runs
	stdin  io.Reader
	stdout io.Writer
	stderr io.Writer
	parser *kong.Kong
	args   *kong.Context
}

// usageError is a mistake in flags, variables or keys: exit status 2.
type usageError struct{ error }

// Unwrap gives the cause.
func (u usageError) Unwrap() error { return u.error }

// errStopped says that a signal ended the crawl, which can be resumed: exit status 130.
var errStopped = errors.New("stopped by a signal; run the same command again to go on")

func main() { os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }

// run is main without the process around it.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	w := &world{ctx: context.Background(), stdin: stdin, stdout: stdout, stderr: stderr}
	kctx, err := w.parse(args)
	if errors.Is(err, errHelp) {
		return exitDone
	}
	if err == nil {
		w.args = kctx
		err = kctx.Run(w)
	} else {
		err = usageError{err}
	}
	return w.exit(err)
}

func (w *world) exit(err error) int {
	var usage usageError
	switch {
	case err == nil:
		return exitDone
	case errors.Is(err, errStopped):
		fmt.Fprintln(w.stderr, "orbweaver:", err)
		return exitStopped
	case errors.As(err, &usage):
		fmt.Fprintf(w.stderr, "orbweaver: %s\nTry 'orbweaver %s--help'.\n", indent(err.Error()), w.commandName())
		return exitUsage
	default:
		fmt.Fprintln(w.stderr, "orbweaver:", indent(err.Error()))
		return exitFailed
	}
}

func (w *world) commandName() string {
	if w.args != nil && w.args.Command() != "" {
		return strings.Fields(w.args.Command())[0] + " "
	}
	return ""
}

// indent lines up several faults under the first.
func indent(s string) string { return strings.ReplaceAll(s, "\n", "\n           ") }

// errHelp says that help was printed and nothing is left to do.
var errHelp = errors.New("help")

// parse reads flags, then variables, then files, in that order of strength. A crawl directory's own crawl.toml is the
// weakest: it is what the crawl was started with.
func (w *world) parse(args []string) (kctx *kong.Context, err error) {
	defer func() {
		if r := recover(); r != nil {
			if r == errHelp { //nolint:errorlint // the value that helpDone throws
				err = errHelp
				return
			}
			panic(r)
		}
	}()
	first, _, err := w.parseWith(args, nil)
	if err != nil {
		return nil, err
	}
	file := ""
	if strings.HasPrefix(first.Command(), "crawl") {
		file = first.Model.Target.Addr().Interface().(*cli).Crawl.effectiveFile()
	}
	if file == "" {
		return first, nil
	}
	weak, err := readTOML(file)
	if errors.Is(err, os.ErrNotExist) {
		return first, nil
	}
	if err != nil {
		return nil, err
	}
	second, c, err := w.parseWith(args, weak)
	if err == nil {
		c.Crawl.resumes = true
	}
	return second, err
}

func (w *world) parseWith(args []string, weak *tomlFile) (*kong.Context, *cli, error) {
	c := new(cli)
	options := []kong.Option{
		kong.Name("orbweaver"),
		kong.Description("A web crawler engine: polite, complete, and fast. Human text goes to stderr, results to stdout.\n\n" +
			"Every flag can be given as a variable ORBWEAVER_NAME or as a key of a TOML file (--config)."),
		kong.Writers(w.stdout, w.stderr),
		kong.Exit(func(int) { panic(errHelp) }),
		kong.DefaultEnvars("ORBWEAVER"),
		kong.UsageOnError(),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, WrapUpperBound: 110}),
		kong.Configuration(loadTOML),
	}
	if weak != nil {
		options = append([]kong.Option{kong.Resolvers(weak)}, options...)
	}
	parser, err := kong.New(c, options...)
	if err != nil {
		return nil, nil, err
	}
	w.parser = parser
	kctx, err := parser.Parse(args)
	return kctx, c, err
}

type versionCmd struct{}

// Run prints the version.
func (*versionCmd) Run(w *world) error {
	fmt.Fprintln(w.stdout, "orbweaver", version)
	return nil
}
