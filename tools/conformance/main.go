package main

import (
	"fmt"
	"io"
	"io/fs"
	"os"
)

func main() {
	if len(os.Args) < 2 || len(os.Args) > 3 {
		fmt.Fprintln(os.Stderr, "usage: conformance DATA [PAGE]")
		os.Exit(2)
	}
	page := ""
	if len(os.Args) == 3 {
		page = os.Args[2]
	}
	faults, err := run(os.Stdout, os.DirFS(os.Args[1]), page)
	if err != nil {
		fmt.Fprintln(os.Stderr, "conformance:", err)
		os.Exit(1)
	}
	if len(faults) > 0 {
		os.Exit(1)
	}
}

// run scores every suite, prints what it found, and writes the page unless it has no name. The faults, which are
// printed too, are what must not stay: scores that have fallen and failures without an explanation.
func run(out io.Writer, data fs.FS, page string) (faults []string, err error) {
	results, err := scoreAll(data, suites())
	if err != nil {
		return nil, err
	}
	floors, err := readFloors(heldText)
	if err != nil {
		return nil, err
	}
	why := explain(results, reasons())
	printTable(out, results, floors)
	faults = append(floors.faults(results), why.faults...)
	for _, f := range faults {
		fmt.Fprintln(out, "FAULT:", f)
	}
	if page == "" {
		return faults, nil
	}
	return faults, os.WriteFile(page, pageOf(results, why), 0o644) //nolint:gosec // a page is no secret
}
