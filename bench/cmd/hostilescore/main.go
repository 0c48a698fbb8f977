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
		fmt.Fprintln(os.Stderr, "usage: hostilescore [PAGE]")
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	s, err := run(ctx)
	if err == nil && len(os.Args) == 2 {
		err = s.writePage(os.Args[1])
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "hostilescore:", err)
		os.Exit(1)
	}
	if !s.print(os.Stdout) {
		os.Exit(1)
	}
}

// run runs the tests and scores them.
func run(ctx context.Context) (*score, error) {
	s := newScore()
	for _, module := range []string{"..", "."} {
		if err := s.runTests(ctx, module); err != nil {
			return nil, err
		}
	}
	s.judge()
	return s, nil
}

// runTests runs the tests of a module, seen from that of the laboratory.
func (s *score) runTests(ctx context.Context, module string) error {
	before := len(s.proofs)
	test := exec.CommandContext(
		ctx, "go", "-C", module, "test", "-count=1", "-tags", "invariants scenario", "-timeout", "60m", "-json",
		"-run", "^Test(Hostile|G[0-9]{2})_|^"+storiesTest+"$/^(Hostile|G[0-9]{2})_", "./...",
	)
	test.Stderr = os.Stderr
	out, err := test.StdoutPipe()
	if err != nil {
		return err
	}
	if err = test.Start(); err != nil {
		return err
	}
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
		return fmt.Errorf("what go test says cannot be read: %w", err)
	case ended != nil && len(s.proofs) == before: // that tests failed is known from their events
		return fmt.Errorf("go test: %w", ended)
	}
	return nil
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
