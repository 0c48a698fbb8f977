package hook

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// Options say which programs are asked. The zero Options ask none.
type Options struct {
	Hooks    []string      `name:"hook" help:"Program to ask about each stored page, as page=CMD: it may return links and counts. CMD is split at spaces; no shell is involved. It reads frames from standard input and writes frames to standard output (docs/hooks.md)." placeholder:"KIND=CMD" sep:"none"`
	Parallel int           `name:"hook-parallel" help:"Pages that the program of --hook may have at a time." default:"16" least:"1" most:"256" placeholder:"N"`
	Full     Full          `name:"hook-full" type:"word" help:"wait or skip: what becomes of a page while the program has --hook-parallel pages. skip stores it without asking." oneof:"wait,skip" default:"wait" placeholder:"MODE"`
	Memory   int64         `name:"hook-memory" type:"size" help:"Memory that the program of --hook may write to, and each process that it starts. Linux only; 0 for no limit." default:"2GiB" least:"0" placeholder:"SIZE"`
	Timeout  time.Duration `name:"hook-timeout" help:"Time without an answer after which the program of --hook is killed and started again. The pages that it had are stored." default:"10s" least:"100ms" placeholder:"TIME"`
}

// Full says what becomes of a page for which the program has no room.
type Full uint8

// The choices, in the order of the flag's words.
const (
	Wait Full = iota
	Skip
)

// pageKind is the only kind of question.
const pageKind = "page"

// Command is the program and its arguments; nil if there is none.
func (o *Options) Command() []string {
	if len(o.Hooks) == 0 {
		return nil
	}
	_, command, _ := strings.Cut(o.Hooks[0], "=")
	return strings.Fields(command)
}

// Workers is how many more parse workers a crawl needs, since so many wait for answers.
func (o *Options) Workers() int {
	if len(o.Hooks) == 0 {
		return 0
	}
	return o.Parallel
}

// Validate reports what is wrong with the options.
func (o *Options) Validate() error {
	var faults []error
	for i, hook := range o.Hooks {
		kind, command, _ := strings.Cut(hook, "=")
		switch {
		case kind != pageKind:
			faults = append(faults, fmt.Errorf("--hook: %q does not begin with page=, the only kind", hook))
		case len(strings.Fields(command)) == 0:
			faults = append(faults, fmt.Errorf("--hook: %q names no program: give page=CMD", hook))
		case i > 0:
			faults = append(faults, errors.New("--hook: page is given twice: run both in one program"))
		}
	}
	return errors.Join(faults...)
}
