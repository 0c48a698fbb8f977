// Command benchtable writes BENCHMARKS.md from the results in bench/results.
//
//	go run ./tools/benchtable        (from the root)
//
// bench/results/NAME.json is one row of the table: the measured figures with their goals, the command, the commit,
// the machine and the file with the raw output. NAME.md beside it is the diary of the benchmark, at most one page,
// which has each figure of the row. The tests of this package fail if BENCHMARKS.md is not current or too long, or
// if a file is missing. A row is old if a third of its code has been replaced since its commit, as git has it.
package main

import (
	"fmt"
	"io/fs"
	"os"
)

// pageName is the file that the command writes, from the root.
const pageName = "BENCHMARKS.md"

func main() {
	if err := write(os.DirFS("."), gitHistory("."), pageName); err != nil {
		fmt.Fprintln(os.Stderr, "benchtable:", err)
		os.Exit(1)
	}
}

// write replaces the page by one that is made from the results below root.
func write(root fs.FS, h history, name string) error {
	page, err := makePage(root, h)
	if err != nil {
		return err
	}
	return os.WriteFile(name, []byte(page), 0o644) //nolint:gosec // a document, for all readers
}

// makePage reads the rows below root and renders them.
func makePage(root fs.FS, h history) (string, error) {
	rows, err := readRows(root)
	if err != nil {
		return "", err
	}
	if err := markOld(rows, h); err != nil {
		return "", err
	}
	return render(rows)
}
