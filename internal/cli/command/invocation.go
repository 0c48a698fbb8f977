package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// Exit statuses, fixed for scripts.
const (
	ExitDone    = 0
	ExitFailed  = 1
	ExitUsage   = 2
	ExitStalled = 3
	ExitUnsent  = 4
	ExitStopped = 130
)

// ExitStatus is an exit status and what it means.
type ExitStatus struct {
	Status  int
	Meaning string
}

// ExitStatuses lists all exit statuses.
func ExitStatuses() []ExitStatus {
	return []ExitStatus{
		{ExitDone, "Done: the crawl is finished, or has reached a limit."},
		{ExitFailed, "Failed. A crawl also fails if no server of a seed answered."},
		{ExitUsage, "Wrong usage: a mistake in a flag, a variable or a file of settings."},
		{ExitStalled, "Stalled: all queued URLs are of sites that fail. The same command resumes the crawl."},
		{ExitUnsent, "The crawl is done, but its archive was not sent (--upload, --on-warc-close): " +
			"'orbweaver upload DIR' sends it."},
		{ExitStopped, "Stopped by a signal or by 'orbweaver ctl stop'. The same command resumes the crawl."},
	}
}

// Invocation is what a command may use of the outside.
type Invocation struct {
	Context context.Context //nolint:containedctx // the root of the process, handed to the one command that runs
	Stdin   io.Reader
	Stdout  io.Writer
	Stderr  io.Writer
	Program string // its name; "" for orbweaver
	About   string // what it is, in a sentence
	Example string // a first command
	Version string
	Args    *kong.Context
	keys    map[string]bool // flags of all commands, as keys of files of settings: whether each may be a list
	applied bool            // the command's struct has its values
	early   Faults          // met while flags, variables and files were read
	read    *readings

	helpWord string // of --help=WORD
}

// Nested is another run within this one, which writes its results to stdout. Files of settings may have the keys of all
// commands of this one.
func (inv *Invocation) Nested(stdout io.Writer) *Invocation {
	return &Invocation{
		Context: inv.Context,
		Stdin:   inv.Stdin,
		Stdout:  stdout,
		Stderr:  inv.Stderr,
		Program: inv.Program,
		About:   inv.About,
		Example: inv.Example,
		Version: inv.Version,
		keys:    inv.keys,
	}
}

// Checker is a command that has more to look at than the values of its flags, before it runs.
type Checker interface{ Check(inv *Invocation) error }

// Misuse marks an error as a mistake in flags, variables or keys: exit status 2.
func Misuse(err error) error { return usageError{err} }

type usageError struct{ error }

// Unwrap gives the cause.
func (u usageError) Unwrap() error { return u.error }

// Told marks an error that the command has printed: only its exit status is left.
func Told(err error) error { return toldError{err} }

type toldError struct{ error }

// Unwrap gives the cause.
func (t toldError) Unwrap() error { return t.error }

// ErrStopped says that a signal or the operator ended the crawl, which can be resumed: exit status 130.
var ErrStopped = errors.New("stopped before the end; run the same command again to resume")

// ErrUnsent says that the crawl is done, and its archive was not sent: exit status 4.
var ErrUnsent = errors.New("the crawl is done; its archive was not sent")

// ErrStalled says that the crawl stopped since only failing sites have queued URLs: exit status 3.
var ErrStalled = errors.New(
	"stalled: every queued URL is of a site that fails or asks to slow down; run the same command again to resume",
)

// Check joins everything that is wrong with the command line, so that it is told at once.
func (inv *Invocation) Check(parsed error) error {
	bad := Faults{slices.Clone(inv.early.list)}
	bad.Add("", parsed)
	bad.Add("", inv.ValueFaults())
	if parsed == nil {
		if c, ok := inv.Args.Selected().Target.Addr().Interface().(Checker); ok {
			bad.Add("", c.Check(inv))
		}
	}
	return bad.Err()
}

// ReadFaults are what was wrong while flags, variables and files were read.
func (inv *Invocation) ReadFaults() error { return inv.early.Err() }

// ValueFaults are the values of flags that are out of their range, whatever gave them.
func (inv *Invocation) ValueFaults() error {
	var bad Faults
	if !inv.applied {
		return nil
	}
	for _, p := range inv.Args.Path {
		if p.Command == nil {
			continue
		}
		for _, f := range p.Command.Flags {
			bad.Add("--"+f.Name, inv.read.faultOf(f.Value))
			bad.Add("--"+f.Name, missing(f.Value))
		}
		for _, a := range p.Command.Positional {
			bad.Add(a.Name, inv.read.faultOf(a))
			bad.Add("", missing(a))
		}
	}
	return bad.Err()
}

// Exit prints an error and returns the exit status.
func (inv *Invocation) Exit(err error) int {
	var usage usageError
	var told toldError
	isTold := errors.As(err, &told)
	remedy := remedyOf(err)
	say := func(text string) {
		if !isTold {
			fmt.Fprintln(inv.Stderr, inv.program()+":", text)
		}
	}
	switch {
	case err == nil:
		return ExitDone
	case errors.Is(err, ErrStopped):
		say(MessageOf(err))
		return ExitStopped
	case errors.Is(err, ErrStalled):
		say(MessageOf(err))
		return ExitStalled
	case errors.Is(err, ErrUnsent):
		fmt.Fprintln(inv.Stderr, inv.program()+":", MessageOf(err))
		return ExitUnsent
	case errors.As(err, &usage):
		if remedy == "" {
			remedy = fmt.Sprintf("\nTry '%s %s--help'.", inv.program(), inv.commandName())
		}
		say(MessageOf(err) + remedy)
		return ExitUsage
	default:
		say(MessageOf(err) + remedy)
		return ExitFailed
	}
}

// program is the name of the program.
func (inv *Invocation) program() string { return cmp.Or(inv.Program, "orbweaver") }

func (inv *Invocation) commandName() string {
	if inv.Args == nil {
		return ""
	}
	name := ""
	for _, p := range inv.Args.Path {
		if p.Command != nil {
			name += p.Command.Name + " "
		}
	}
	return name
}

// MessageOf is the text of an error for people. The packages that errors begin with mean nothing to them. Several
// faults are lined up under the first.
func MessageOf(err error) string {
	packages := regexp.MustCompile(`(?m)(^|: )(?:(?:admission|agent|changes|checkpoint|cluster|control|engine|` +
		`derive|dnsres|evidence|explain|filter|fsck|inspect|journal|layout|leasing|leave|marks|outage|ownership|parsers|` +
		`payloads|quality|rebuild|recovery|recrawl|report|restore|settings|sieve|sites|skipped|wall|warc): )+`)
	said := packages.ReplaceAllString(err.Error(), "$1")
	return strings.ReplaceAll(plainMessage(said), "\n", "\n           ")
}
