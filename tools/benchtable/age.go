package main

import (
	"errors"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
)

// oldPart is the part of the measured code that may be replaced before a row is old.
const oldPart = 1.0 / 3

// product is the code of a row that names none.
const product = "dnsres engine internal sieve virtualize warc workbench"

// A history tells which part of the lines of some folders, from 0 to 1, has been replaced since a commit.
type history func(commit string, folders []string) (float64, error)

// gitHistory is that of the repository with the working tree dir. It compares that tree, so a change is seen before its
// commit. A file that was only moved is not replaced, if it is still in one of the folders.
func gitHistory(dir string) history {
	return func(commit string, folders []string) (float64, error) {
		var paths []string
		for _, f := range folders {
			paths = append(paths, ":(glob)"+f+"/**/*.go")
		}
		paths = append(paths, ":(exclude,glob)**/*_test.go")
		lines, err := gitSum(dir, ":", -1, append([]string{"grep", "-c", "", commit, "--"}, paths...))
		if exit := (*exec.ExitError)(nil); errors.As(err, &exit) && exit.ExitCode() == 1 {
			return 1, nil // grep found nothing: none of the code is as old as that
		}
		if err != nil {
			return 0, err
		}
		gone, err := gitSum(dir, "\t", 1, append([]string{"diff", "--numstat", "-M", commit, "--"}, paths...))
		return float64(gone) / float64(lines), err
	}
}

// gitSum runs git and adds the numbers in one column of its lines; -1 is the last column.
func gitSum(dir, separator string, column int, args []string) (sum int, err error) {
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	out, err := cmd.Output()
	if err != nil {
		return 0, fmt.Errorf("git %s: %w", strings.Join(args, " "), err)
	}
	for line := range strings.Lines(string(out)) {
		columns := strings.Split(strings.TrimSpace(line), separator)
		n, err := strconv.Atoi(columns[(column+len(columns))%len(columns)])
		if err != nil {
			return 0, fmt.Errorf("git %s: %w", strings.Join(args, " "), err)
		}
		sum += n
	}
	return sum, nil
}

// markOld notes in each row whether its code has been replaced since.
func markOld(rows []row, h history) error {
	for i := range rows {
		r := &rows[i]
		if r.Commit == presentTree {
			continue
		}
		folders := r.Code
		if len(folders) == 0 {
			folders = strings.Fields(product)
		}
		part, err := h(r.Commit, folders)
		if err != nil {
			return fmt.Errorf("%s.json: commit %s: %w", r.name, r.Commit, err)
		}
		r.old = part > oldPart
	}
	return nil
}
