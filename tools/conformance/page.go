package main

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// printTable prints the scores beside what is held.
func printTable(out io.Writer, results []result, held floors) {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(table, "suite\tpassed\tof\theld\tskipped\t\n")
	for _, r := range results {
		if r.missing {
			fmt.Fprintf(table, "%s\tnot there\t\t%d\t\t\n", r.name, held[r.name].passed)
			continue
		}
		fmt.Fprintf(table, "%s\t%d\t%d\t%d\t%d\t\n", r.name, r.passed, r.total, held[r.name].passed, r.skipped)
	}
	_ = table.Flush() // the reader may have ended
}

// pageOf writes the scores for people: a table, and every failure with its reason.
func pageOf(results []result, e explained) []byte {
	var page bytes.Buffer
	page.WriteString(pageHead)
	page.WriteString("| suite | asked | upstream | passed | of |\n|---|---|---|---|---|\n")
	for _, r := range results {
		name := r.name
		if r.inform {
			name += " (for information)"
		}
		if r.missing {
			fmt.Fprintf(&page, "| %s | %s | %s | not there | |\n", name, r.asks, r.from)
			continue
		}
		fmt.Fprintf(&page, "| %s | %s | %s | %d | %d |\n", name, r.asks, r.from, r.passed, r.total)
	}
	page.WriteString("\nNot asked:\n\n")
	for _, r := range results {
		if r.skipped > 0 {
			fmt.Fprintf(&page, "- %s, %d: %s\n", r.name, r.skipped, r.leaves)
		}
	}
	page.WriteString("\n## What fails, and why\n")
	for _, r := range results {
		if len(r.failures) == 0 {
			continue
		}
		fmt.Fprintf(&page, "\n### %s\n\n", r.name)
		for i, f := range r.failures {
			fmt.Fprintf(&page, "- %s\n", code(f.name))
			fmt.Fprintf(&page, "  - got %s\n  - want %s\n  - %s\n", code(f.got), code(f.want), e.why[r.name][i])
		}
	}
	return page.Bytes()
}

// code shows a text in ASCII and on one line.
func code(text string) string {
	var b strings.Builder
	for _, r := range text {
		switch {
		case r == '`' || r < ' ' || r == 0x7f:
			fmt.Fprintf(&b, `\x%02x`, r)
		case r > 0x7f:
			fmt.Fprintf(&b, `\u{%X}`, r)
		default:
			b.WriteRune(r)
		}
	}
	return "`` " + b.String() + " ``"
}

const pageHead = `# Conformance

Scores on the test suites that others have published. Made by ` + "`make accept NAME=conformance DATA=dir`" + `. It
also fails when a score falls below that of ` + "`tools/conformance/held.go`" + `, or a failure is not explained here.
` + "`.ci/run`" + ` does the same if it finds the suites: in the directory that ORBWEAVER_CONFORMANCE names, or in one
called conformance beside the checkout. The suites are not part of the repository: ` + "`tools/conformance/doc.go`" + `
says how the directory is laid out and where upstream has each of them. The repository's own cases are in the packages'
testdata, and in tests that compare with a second, literal reading of each standard.

`
