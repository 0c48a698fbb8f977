// Command orbweaver-bench measures Orbweaver: crawls of a simulated web beside a bare loop, single components, agents
// that share a crawl, and crawls beside hostile hosts. No crawl needs it.
package main

import (
	"context"
	"errors"
	"io"
	"os"

	"orbweaver/engine/peering/transport"
	"orbweaver/internal/cli/command"
	"orbweaver/internal/cli/process"
)

type cli struct {
	command.Sources

	List listCommand `cmd:"" help:"List the benchmarks."`
	Sim  simCommand  `cmd:"" help:"Serve the simulated web, with hostile hosts in it."`
	benchmarks
}

func main() {
	process.SpareProcessor()
	transport.Quiet()
	os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// run is main without the process around it.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	w := &command.Invocation{
		Context: context.Background(),
		Stdin:   stdin,
		Stdout:  stdout,
		Stderr:  stderr,
		Program: "orbweaver-bench",
		About:   "Benchmarks of Orbweaver: whole crawls, single components, agents, hostile hosts.",
		Example: "throughput",
		Version: "bench",
	}
	err := w.Parse(new(cli), args)
	if errors.Is(err, command.ErrHelp) {
		return command.ExitDone
	}
	if err = w.Check(err); err != nil {
		return w.Exit(command.Misuse(err))
	}
	return w.Exit(w.Args.Run(w))
}
