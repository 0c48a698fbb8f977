package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strings"
)

func main() {
	if len(os.Args) > 2 {
		fmt.Fprintln(os.Stderr, "usage: hostile [PAGE]")
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	s, err := run(ctx)
	if err == nil && len(os.Args) == 2 {
		err = s.writePage(os.Args[1])
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "hostile:", err)
		os.Exit(1)
	}
	if !s.print(os.Stdout) {
		os.Exit(1)
	}
}

// run runs the tests and scores them.
func run(ctx context.Context) (*score, error) {
	test := exec.CommandContext(
		ctx,
		"go",
		"test",
		"-count=1",
		"-tags",
		"invariants scenario",
		"-timeout",
		"60m",
		"-json",
		"-run",
		"^Test(Hostile|G[0-9]{2})_",
		"./...",
	)
	test.Stderr = os.Stderr
	out, err := test.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err = test.Start(); err != nil {
		return nil, err
	}
	s := newScore()
	lines := json.NewDecoder(out)
	for err == nil {
		var e event
		if err = lines.Decode(&e); err == nil {
			s.take(&e)
		}
	}
	if !errors.Is(err, io.EOF) {
		_ = test.Cancel() // it may have more to say
	}
	ended := test.Wait()
	switch {
	case !errors.Is(err, io.EOF):
		return nil, fmt.Errorf("what go test says cannot be read: %w", err)
	case ended != nil && len(s.proofs) == 0: // that tests failed is known from their events
		return nil, fmt.Errorf("go test: %w", ended)
	}
	s.judge()
	return s, nil
}

// print says what was shown, and whether all is well.
func (s *score) print(out io.Writer) bool {
	for name, said := range s.output {
		if slices.ContainsFunc(s.faults, func(f string) bool { return strings.Contains(f, name) }) {
			fmt.Fprint(out, said)
		}
	}
	s.table(out)
	for _, f := range s.faults {
		fmt.Fprintln(out, "FAULT:", f)
	}
	return len(s.faults) == 0
}
