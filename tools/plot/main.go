package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: plot RESULTS PICTURES")
		os.Exit(2)
	}
	if err := draw(os.DirFS(os.Args[1]), os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "plot:", err)
		os.Exit(1)
	}
}

// draw writes every plot. One whose results are not there is told and left out.
func draw(results fs.FS, out string) error {
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	for _, p := range plots() {
		chart, err := p.chart(results)
		if errors.Is(err, fs.ErrNotExist) {
			fmt.Fprintf(os.Stderr, "%s: no results: %v\n", p.name, err)
			continue
		}
		if err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
		if err := chart.save(filepath.Join(out, p.name+".svg")); err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
	}
	return nil
}
